/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fastest of several rounds counts: a round may be interrupted, but is never too fast.
 */
#include "heap/heap_pricing.h"

#include "base/clock.h"
#include "kernel/uprobes.h"

#include <errno.h>
#include <link.h>
#include <unistd.h>

enum { ROUNDS = 8, CALLS = 200 };

static const char *const own_program = "/proc/self/exe";

/* Two functions of one argument. Under a probe, the kernel emulates the first instruction of
 * heap_pricing_emulated() and single-steps that of heap_pricing_stepped(). */
void heap_pricing_emulated(uint64_t size);
void heap_pricing_stepped(uint64_t size);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl heap_pricing_emulated, heap_pricing_stepped\n"
        ".hidden heap_pricing_emulated, heap_pricing_stepped\n"
        ".type heap_pricing_emulated, @function\n"
        ".type heap_pricing_stepped, @function\n"
        ".p2align 4\n"
        "heap_pricing_emulated: push %rbp\n pop %rbp\n ret\n"
        ".p2align 4\n"
        "heap_pricing_stepped: mov %rdi, %rax\n ret\n");
#else
__asm__(".text\n"
        ".globl heap_pricing_emulated, heap_pricing_stepped\n"
        ".hidden heap_pricing_emulated, heap_pricing_stepped\n"
        ".type heap_pricing_emulated, @function\n"
        ".type heap_pricing_stepped, @function\n"
        ".p2align 4\n"
        "heap_pricing_emulated: b 1f\n 1: ret\n"
        ".p2align 4\n"
        "heap_pricing_stepped: mov x1, x0\n ret\n");
#endif

struct place {
	uint64_t address, offset;
};

static int find_offset(struct dl_phdr_info *info, size_t len, void *ctx)
{
	struct place *place = ctx;

	(void)len;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && place->address - start < segment->p_filesz) {
			place->offset = place->address - start + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static double time_calls(void (*fn)(uint64_t))
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = clock_mono_ns(), took;

		for (int i = 0; i < CALLS; i++)
			fn(1);
		took = clock_mono_ns() - begin;
		if (took < best)
			best = took;
	}
	return (double)best / CALLS;
}

/* By how many nanoseconds a call takes longer with a program attached than without. */
static int measure(int program, enum uprobe_kind kind, uint8_t flags, void (*fn)(uint64_t),
                   double *ret_ns)
{
	const union heap_site_cookie site = {
		.slot = HEAP_SLOT_PRICE,
		.does = HEAP_DOES_ALLOCATE,
		.times = HEAP_NO_ARGUMENT,
		.pointer = HEAP_NO_ARGUMENT,
		.flags = flags,
	};
	struct place place = {.address = (uint64_t)(uintptr_t)fn};
	const struct uprobe_sites sites = {
		.offsets = &place.offset,
		.cookies = &site.cookie,
		.count = 1,
	};
	_cleanup_(uprobes_detach) struct uprobes links = {0};
	double bare = time_calls(fn), probed;
	int err;

	if (!dl_iterate_phdr(find_offset, &place))
		return -ENOENT;
	err = uprobes_attach(&links, program, kind, own_program, (uint32_t)getpid(), &sites);
	if (err)
		return err;
	probed = time_calls(fn);
	*ret_ns = probed > bare ? probed - bare : 0;
	return 0;
}

int heap_pricing_measure(const struct heap_kernel *kernel, struct heap_price *ret_price,
                         bool *ret_sessions)
{
	struct heap_programs programs;
	const struct heap_target self = {
		.pid = (u32)getpid(),
		.serial = UINT32_MAX,
		.rate = heap_max_rate,
	};
	struct heap_price price = HEAP_PRICE_DEFAULT;
	double with_return;
	int err = heap_kernel_load(kernel, &programs);

	if (!err)
		err = heap_kernel_watch(kernel, HEAP_SLOT_PRICE, &self);
	if (!err)
		err = measure(programs.entry, UPROBE_ENTRY, 0, heap_pricing_emulated,
		              &price.emulated_ns);
	if (!err)
		err = measure(programs.entry, UPROBE_ENTRY, HEAP_SITE_STEPPED, heap_pricing_stepped,
		              &price.stepped_ns);
	if (!err) {
		*ret_sessions = !measure(programs.session, UPROBE_SESSION, HEAP_SITE_NESTS,
		                         heap_pricing_emulated, &with_return);
		if (*ret_sessions && with_return > price.emulated_ns)
			price.return_ns = with_return - price.emulated_ns;
	}
	heap_kernel_unwatch(kernel, HEAP_SLOT_PRICE);
	*ret_price = price;
	return err;
}
