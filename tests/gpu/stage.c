/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parts of the daemon that stage.h needs, without the rest of it.
 */
#include "tests/gpu/stage.h"

#include "base/clock.h"
#include "bpf/profd.skel.h"
#include "collect/load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 64, THUNK_OFFSET = 10 };

struct place {
	uintptr_t address;
	uint64_t offset; /* in the file; 0: not found */
	char path[256];
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || place->address < start ||
		    place->address >= start + header->p_filesz)
			continue;
		place->offset = place->address - start + header->p_offset;
		snprintf(place->path, sizeof(place->path), "%s",
		         info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

static uint32_t thunk_offset(const struct stage_site *site)
{
#if defined(__x86_64__)
	return site->is_thunk ? THUNK_OFFSET : 0;
#else
	(void)site;
	return 0;
#endif
}

/* Attaches the sites with a return probe, those without, or all (-1). */
static int attach_some(struct stage *stage, int program, enum uprobe_kind kind,
                       const struct stage_site *sites, size_t count, int returns)
{
	uint64_t offsets[SITES], cookies[SITES];
	struct uprobe_sites chosen = {.offsets = offsets, .cookies = cookies};
	struct place place;
	int err;

	for (size_t i = 0; i < count && chosen.count < SITES; i++) {
		if (returns >= 0 && returns != !!(sites[i].site.flags & GPU_SITE_RETURNS))
			continue;
		place = (struct place){.address = (uintptr_t)sites[i].function};
		if (!dl_iterate_phdr(find_place, &place))
			return -ENOENT;
		offsets[chosen.count] = place.offset + thunk_offset(&sites[i]);
		cookies[chosen.count++] = sites[i].site.cookie;
	}
	if (!chosen.count)
		return 0;
	err = uprobes_attach(&stage->uprobes, program, kind, place.path, (uint32_t)getpid(),
	                     &chosen);
	if (err)
		fprintf(stderr, "cannot attach to %s: %s\n", place.path, strerror(-err));
	return err;
}

int stage_attach_program(struct stage *stage, int program, const struct stage_site *sites,
                         size_t count)
{
	stage_detach(stage);
	return attach_some(stage, program, UPROBE_ENTRY, sites, count, -1);
}

int stage_attach(struct stage *stage, const struct stage_site *sites, size_t count, int sessions)
{
	const struct gpu_programs *programs = &stage->programs;
	int err;

	stage_detach(stage);
	if (sessions) {
		err = attach_some(stage, programs->entry, UPROBE_ENTRY, sites, count, 0);
		return err ? err
		           : attach_some(stage, programs->session, UPROBE_SESSION, sites, count, 1);
	}
	err = attach_some(stage, programs->entry, UPROBE_ENTRY, sites, count, -1);
	return err ? err : attach_some(stage, programs->leave, UPROBE_RETURN, sites, count, 1);
}

void stage_detach(struct stage *stage)
{
	uprobes_detach(&stage->uprobes);
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct stage *stage = ctx;

	if (size >= sizeof(struct gpu_event))
		stage->told(data, stage->ctx);
	return 0;
}

int stage_open(struct stage *stage, void (*told)(const struct gpu_event *event, void *ctx),
               void *ctx)
{
	_cleanup_free_ struct source_state *states = calloc(KIND_COUNT, sizeof(*states));
	const struct source_config config = {.sample_hz = 99};
	char why[256] = "out of memory";
	int err = states ? load_kernel_half(&stage->bpf, states, &config, 2 << 20, why) : -ENOMEM;

	if (err) {
		fprintf(stderr, "%s\n", why);
		return err;
	}
	stage->kernel.bpf = &stage->bpf;
	err = gpu_kernel_load(&stage->kernel, &stage->programs);
	if (err) {
		fprintf(stderr, "%s\n", gpu_kernel_why(&stage->kernel));
		return err;
	}
	stage->told = told;
	stage->ctx = ctx;
	stage->ring = ring_buffer__new(gpu_kernel_events(&stage->kernel), on_event, stage, NULL);
	return stage->ring ? 0 : -errno;
}

void stage_drain(struct stage *stage, struct drained *ret_drained)
{
	const struct timespec while_it_settles = {.tv_nsec = 200000};
	u32 half = bpf_flip(&stage->bpf, clock_mono_ns());

	while (!bpf_settled(&stage->bpf, half))
		nanosleep(&while_it_settles, NULL);
	bpf_drain(&stage->bpf, half, ret_drained);
}

void stage_read(struct stage *stage)
{
	ring_buffer__consume(stage->ring);
}

void stage_close(struct stage *stage)
{
	stage_detach(stage);
	ring_buffer__free(stage->ring);
	bpf_release(&stage->bpf);
}
