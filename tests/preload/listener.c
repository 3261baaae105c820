/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/preload/listener.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

/* Provider in the tests' copy of the library, to which no profiler on this host listens. */
#define PROVIDER    "test_memory"
#define PROBES      2
#define MAX_LIVE    (1 << 20) /* a power of two, well above what any test holds at once */
#define TOMBSTONE   1
#define ARGUMENTS   3
#define ARGUMENT_OF "8@" /* eight unsigned bytes in a register */

struct heard heard;
uint64_t heard_weights[HEARD_SIZES];

static struct probe {
	const char *name;
	int arguments;
	char registers[ARGUMENTS][8];
	unsigned char *nop;
	volatile unsigned short *semaphore;
} probes[PROBES] = {{.name = "alloc", .arguments = 3}, {.name = "free", .arguments = 1}};

static __attribute__((noreturn)) void fail(const char *why)
{
	fprintf(stderr, "listener: %s\n", why);
	abort();
}

/* ---- finding the probes -------------------------------------------------------------------- */

struct library {
	const char *path;
	uintptr_t bias;
};

static struct library find_library(void)
{
	const void *counters = dlsym(RTLD_DEFAULT, "profd_heap_counters");
	struct link_map *map;
	Dl_info info;

	if (!counters || !dladdr1(counters, &info, (void **)&map, RTLD_DL_LINKMAP))
		fail("libprofd-heap.so is not preloaded");
	return (struct library){.path = map->l_name, .bias = map->l_addr};
}

/* Reads the names of the registers from "8@%rdi 8@%rsi". */
static void read_arguments(struct probe *probe, const char *text)
{
	for (int i = 0; i < probe->arguments;
	     i++, text += strcspn(text, " "), text += *text == ' ') {
		size_t length = strcspn(text, " ") - strlen(ARGUMENT_OF);

		if (strncmp(text, ARGUMENT_OF, strlen(ARGUMENT_OF)) != 0 ||
		    length >= sizeof(probe->registers[i]))
			fail("an argument is not in a register");
		memcpy(probe->registers[i], text + strlen(ARGUMENT_OF), length);
	}
	if (*text)
		fail("a probe has more arguments than it should");
}

static void read_note(const unsigned char *description, uintptr_t bias)
{
	const char *provider = (const char *)description + 3 * sizeof(uint64_t);
	const char *name = provider + strlen(provider) + 1;
	uint64_t addresses[3]; /* nop, base, semaphore */

	memcpy(addresses, description, sizeof(addresses));
	for (size_t i = 0; i < PROBES; i++) {
		if (strcmp(provider, PROVIDER) != 0 || strcmp(name, probes[i].name) != 0)
			continue;
		if (probes[i].nop)
			fail("a probe has two places");
		probes[i].nop = (unsigned char *)(bias + addresses[0]);
		probes[i].semaphore = (volatile unsigned short *)(bias + addresses[2]);
		read_arguments(&probes[i], name + strlen(name) + 1);
	}
}

/* The library belongs to profd, so its file is trusted. */
static void find_probes(void)
{
	struct library library = find_library();
	int fd = open(library.path, O_RDONLY | O_CLOEXEC);
	struct stat file;
	const unsigned char *bytes;

	if (fd < 0 || fstat(fd, &file) < 0)
		fail("cannot open the library");
	bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		fail("cannot map the library");

	const ElfW(Ehdr) *header = (const void *)bytes;
	const ElfW(Shdr) *sections = (const void *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++) {
		const unsigned char *at = bytes + sections[i].sh_offset,
				    *end = at + sections[i].sh_size;

		if (strcmp(names + sections[i].sh_name, ".note.stapsdt") != 0)
			continue;
		while (at < end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const unsigned char *description =
				at + sizeof(*note) + (note->n_namesz + 3) / 4 * 4;

			read_note(description, library.bias);
			at = description + (note->n_descsz + 3) / 4 * 4;
		}
	}
	munmap((void *)(uintptr_t)bytes, (size_t)file.st_size);
	for (size_t i = 0; i < PROBES; i++)
		if (!probes[i].nop)
			fail("the library lacks a probe");
}

/* ---- live blocks --------------------------------------------------------------------------- */

static uintptr_t live[MAX_LIVE];

/* The slot of the block or, if it has none, the slot where it would go. */
static uintptr_t *live_slot(uintptr_t block)
{
	size_t at = (block >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
	uintptr_t *grave = NULL;

	for (;; at++) {
		uintptr_t *slot = &live[at % MAX_LIVE];

		if (*slot == block)
			return slot;
		if (*slot == TOMBSTONE && !grave)
			grave = slot;
		if (*slot == 0)
			return grave ? grave : slot;
	}
}

static void hear_alloc(uintptr_t block, uint64_t size, uint64_t weight)
{
	uintptr_t *slot = live_slot(block);

	heard.twice += *slot == block;
	heard.live += *slot != block;
	*slot = block;
	heard.allocs++;
	heard.bytes += size;
	heard.weight += weight;
	if (size < HEARD_SIZES)
		heard_weights[size] += weight;
}

static void hear_free(uintptr_t block)
{
	uintptr_t *slot = live_slot(block);

	heard.frees++;
	if (*slot != block) {
		heard.unpaired++;
		return;
	}
	heard.live--;
	/* Tombstones fill the table over time, so a run of slots does not end in one. */
	*slot = live[(size_t)(slot - live + 1) % MAX_LIVE] ? TOMBSTONE : 0;
}

bool heard_live(const void *block)
{
	return *live_slot((uintptr_t)block) == (uintptr_t)block;
}

/* ---- the breakpoints ----------------------------------------------------------------------- */

#if defined(__x86_64__)
#define BREAKPOINT 0xcc
static const char *const register_names[] = {"%r8",  "%r9",  "%r10", "%r11", "%r12", "%r13",
                                             "%r14", "%r15", "%rdi", "%rsi", "%rbp", "%rbx",
                                             "%rdx", "%rax", "%rcx", "%rsp"};
static uint64_t register_value(const ucontext_t *context, const char *name)
{
	for (int i = 0; i < 16; i++) /* in the order of REG_R8 to REG_RSP */
		if (strcmp(name, register_names[i]) == 0)
			return (uint64_t)context->uc_mcontext.gregs[REG_R8 + i];
	fail("an argument is in no register that we know");
}

static const unsigned char *stopped_at(const ucontext_t *context)
{
	return (const unsigned char *)context->uc_mcontext.gregs[REG_RIP] - 1;
}

static void go_on(ucontext_t *context, const struct probe *probe)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(probe->nop + 1);
}

static void write_breakpoint(unsigned char *nop)
{
	*nop = BREAKPOINT;
}
#else
#define BREAKPOINT 0xd4200000u /* brk #0 */
static uint64_t register_value(const ucontext_t *context, const char *name)
{
	return context->uc_mcontext.regs[atoi(name + 1)];
}

static const unsigned char *stopped_at(const ucontext_t *context)
{
	return (const unsigned char *)context->uc_mcontext.pc;
}

static void go_on(ucontext_t *context, const struct probe *probe)
{
	context->uc_mcontext.pc = (uintptr_t)(probe->nop + 4);
}

static void write_breakpoint(unsigned char *nop)
{
	*(uint32_t *)nop = BREAKPOINT;
	__builtin___clear_cache((char *)nop, (char *)nop + 4);
}
#endif

static pthread_spinlock_t lock;

static void on_trap(int signal, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	uint64_t values[ARGUMENTS];

	(void)signal;
	(void)info;
	for (size_t i = 0; i < PROBES; i++) {
		if (stopped_at(context) != probes[i].nop)
			continue;
		for (int n = 0; n < probes[i].arguments; n++)
			values[n] = register_value(context, probes[i].registers[n]);
		pthread_spin_lock(&lock);
		if (i == 0)
			hear_alloc(values[0], values[1], values[2]);
		else
			hear_free(values[0]);
		pthread_spin_unlock(&lock);
		go_on(context, &probes[i]);
		return;
	}
	fail("a trap that is no probe's");
}

static void unlock_in_child(void)
{
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
}

void listen_from_now(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (!probes[0].nop) {
		find_probes();
		pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
		pthread_atfork(NULL, NULL, unlock_in_child);
		sigaction(SIGTRAP, &action, NULL);
		for (size_t i = 0; i < PROBES; i++) {
			unsigned char *start =
				(unsigned char *)((uintptr_t)probes[i].nop / page * page);

			if (mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
				fail("cannot write a breakpoint");
			write_breakpoint(probes[i].nop);
			mprotect(start, page, PROT_READ | PROT_EXEC);
		}
	}
	memset(&heard, 0, sizeof(heard));
	memset(heard_weights, 0, sizeof(heard_weights));
	memset(live, 0, sizeof(live));
	for (size_t i = 0; i < PROBES; i++)
		++*probes[i].semaphore;
}

void listen_no_more(void)
{
	for (size_t i = 0; i < PROBES; i++)
		--*probes[i].semaphore;
}
