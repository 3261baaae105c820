/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Preloaded into profd; fails one call, as faults.h describes. The environment variable FAULTS
 * names the file. The stack of the call that fails is written to standard error, between lines that
 * begin with "fault: ". Processes that the daemon starts are not affected.
 */
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OWN_FRAMES = 3 }; /* is_place(), fails(), and the function that replaces libc's */

static struct faults *faults;
static __thread bool busy; /* calls made now come from this library */
static char lock;

#define REAL(name)                                                        \
	static __typeof__(name) *real_##name;                             \
	do {                                                              \
		if (!real_##name) {                                       \
			bool before = busy;                               \
                                                                          \
			busy = true;                                      \
			*(void **)&real_##name = dlsym(RTLD_NEXT, #name); \
			busy = before;                                    \
		}                                                         \
	} while (0)

static uint64_t hash_place(void *frames[], int count)
{
	uint64_t hash = 14695981039346656037ULL;

	for (int at = OWN_FRAMES; at < count; at++)
		hash = (hash ^ (uintptr_t)frames[at]) * 1099511628211ULL;
	return hash;
}

static void note_place(int kind, uint64_t hash, void *frames[], int count)
{
	uint64_t i;

	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		;
	for (i = 0; i < faults->place_counts[kind]; i++)
		if (faults->places[kind][i].hash == hash)
			break;
	if (i == faults->place_counts[kind] && i < MAX_PLACES) {
		faults->places[kind][i].hash = hash;
		for (int at = OWN_FRAMES; at < count; at++)
			faults->places[kind][i].frames[at - OWN_FRAMES] = (uintptr_t)frames[at];
		faults->place_counts[kind]++;
	}
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

/* Whether the call comes from the place; notes all places if that is wanted. */
static __attribute__((noinline)) bool is_place(int kind)
{
	void *frames[OWN_FRAMES + PLACE_FRAMES];
	int count = backtrace(frames, OWN_FRAMES + PLACE_FRAMES);
	uint64_t hash = hash_place(frames, count);

	if (faults->notes_places)
		note_place(kind, hash, frames, count);
	return faults->place == hash && !__atomic_exchange_n(&faults->failed, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void tell_stack(void)
{
	static const char begin[] = "fault: begin\n", end[] = "fault: end\n";
	void *frames[64];
	int count = backtrace(frames, 64);

	if (write(STDERR_FILENO, begin, sizeof(begin) - 1) < 0)
		return;
	backtrace_symbols_fd(frames + OWN_FRAMES, count - OWN_FRAMES, STDERR_FILENO);
	if (write(STDERR_FILENO, end, sizeof(end) - 1) < 0)
		return;
}

/* Counts a call, and returns whether it must fail. */
static __attribute__((noinline)) bool fails(int kind)
{
	bool failing;
	int saved = errno;

	if (!faults || busy)
		return false;
	uint64_t n = __atomic_add_fetch(&faults->counts[kind], 1, __ATOMIC_RELAXED);

	failing = faults->kind == (uint64_t)kind && faults->nth == n;
	busy = true;
	if (faults->notes_places || (faults->place && faults->kind == (uint64_t)kind))
		failing |= is_place(kind);
	if (failing) {
		faults->failed = 1;
		tell_stack();
	}
	busy = false;
	errno = saved;
	return failing;
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
	const char *path = getenv("FAULTS");
	void *frames[1];

	if (!path || argc < 2 || strcmp(argv[1], "serve") != 0)
		return;
	busy = true;
	backtrace(frames, 1); /* loads the library that it needs */
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	void *memory = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	busy = false;
	if (memory != MAP_FAILED)
		faults = memory;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

/* dlsym() may allocate, and copes without memory. */
#define ALLOCATOR(name, parameters, ...)                 \
	void *name parameters                            \
	{                                                \
		REAL(name);                              \
		if (!real_##name || fails(FAULT_MALLOC)) \
			return no_memory();              \
		return real_##name(__VA_ARGS__);         \
	}

ALLOCATOR(malloc, (size_t size), size)
ALLOCATOR(calloc, (size_t count, size_t size), count, size)
ALLOCATOR(realloc, (void *old, size_t size), old, size)
ALLOCATOR(reallocarray, (void *old, size_t count, size_t size), old, count, size)

/* The mode is only passed when a file may be created. */
#define MODE(flags, mode)                        \
	mode_t mode = 0;                         \
	if ((flags) & (O_CREAT | __O_TMPFILE)) { \
		va_list rest;                    \
                                                 \
		va_start(rest, flags);           \
		mode = va_arg(rest, mode_t);     \
		va_end(rest);                    \
	}

#define OPENER(name)                                   \
	int name(const char *path, int flags, ...)     \
	{                                              \
		MODE(flags, mode)                      \
		REAL(name);                            \
		if (fails(FAULT_OPEN)) {               \
			errno = EMFILE;                \
			return -1;                     \
		}                                      \
		return real_##name(path, flags, mode); \
	}

#define OPENER_AT(name)                                        \
	int name(int folder, const char *path, int flags, ...) \
	{                                                      \
		MODE(flags, mode)                              \
		REAL(name);                                    \
		if (fails(FAULT_OPEN)) {                       \
			errno = EMFILE;                        \
			return -1;                             \
		}                                              \
		return real_##name(folder, path, flags, mode); \
	}

#define FILE_OPENER(name)                              \
	FILE *name(const char *path, const char *mode) \
	{                                              \
		REAL(name);                            \
		if (fails(FAULT_OPEN)) {               \
			errno = EMFILE;                \
			return NULL;                   \
		}                                      \
		return real_##name(path, mode);        \
	}

OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)
FILE_OPENER(fopen)
FILE_OPENER(fopen64)

static bool read_fails(int fd)
{
	struct stat st;

	return faults && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && fails(FAULT_READ);
}

#define READER(name, parameters, ...)            \
	ssize_t name parameters                  \
	{                                        \
		REAL(name);                      \
		if (read_fails(fd)) {            \
			errno = EIO;             \
			return -1;               \
		}                                \
		return real_##name(__VA_ARGS__); \
	}

READER(read, (int fd, void *into, size_t len), fd, into, len)
READER(pread, (int fd, void *into, size_t len, off_t offset), fd, into, len, offset)
READER(pread64, (int fd, void *into, size_t len, off64_t offset), fd, into, len, offset)

#define MAPPER(name, offset_type)                                                         \
	void *name(void *at, size_t len, int prot, int flags, int fd, offset_type offset) \
	{                                                                                 \
		REAL(name);                                                               \
		if (fails(FAULT_MMAP)) {                                                  \
			errno = ENOMEM;                                                   \
			return MAP_FAILED;                                                \
		}                                                                         \
		return real_##name(at, len, prot, flags, fd, offset);                     \
	}

MAPPER(mmap, off_t)
MAPPER(mmap64, off64_t)

/* bpf() and perf_event_open() have no function of their own. */
long syscall(long call, ...)
{
	long words[6];
	va_list rest;
	REAL(syscall);

	va_start(rest, call);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(rest, long);
	va_end(rest);
	if (call == SYS_bpf && fails(FAULT_BPF)) {
		errno = ENOMEM;
		return -1;
	}
	if (call == SYS_perf_event_open && fails(FAULT_PERF)) {
		errno = EMFILE;
		return -1;
	}
	return real_syscall(call, words[0], words[1], words[2], words[3], words[4], words[5]);
}
