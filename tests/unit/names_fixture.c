/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Code and descriptors that the tests of names inspect.
 */
#include "tests/unit/names_fixture.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static char *copy_of(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	ck_assert(!text || copy);
	return copy;
}

int tell_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	struct told_frames *told = ctx;

	/* The capacity doubles at each power of two. */
	if (!(told->count & (told->count - 1))) {
		size_t capacity = told->count ? 2 * told->count : 1;
		told->items = realloc(told->items, capacity * sizeof(*told->items));
		ck_assert_ptr_nonnull(told->items);
	}
	told->items[told->count++] = (struct told_frame){
		.index = index,
		.function = copy_of(frame->function),
		.readable = copy_of(frame->readable),
		.file = copy_of(frame->file),
		.line = frame->line,
		.start_line = frame->start_line,
		.function_address = frame->function_address,
	};
	return 0;
}

void told_frames_release(struct told_frames *told)
{
	for (size_t i = 0; i < told->count; i++) {
		free(told->items[i].function);
		free(told->items[i].readable);
		free(told->items[i].file);
	}
	free(told->items);
	*told = (struct told_frames){0};
}

/* The first object is the program itself. */
static int take_bias(struct dl_phdr_info *info, size_t len, void *ctx)
{
	(void)len;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

__attribute__((noinline)) uint64_t own_address(uint64_t in_memory)
{
	uint64_t bias = 0;

	dl_iterate_phdr(take_bias, &bias);
	return in_memory - bias;
}

static inline __attribute__((always_inline)) uint64_t known_inlined(void)
{
	uint64_t here;

#if defined(__x86_64__)
	__asm__ volatile("lea 0(%%rip), %0; nop" : "=r"(here));
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, ." : "=r"(here));
#endif
	return here;
}

__attribute__((noinline)) uint64_t known_outer(void)
{
	return own_address(known_inlined());
}

int count_fds(pid_t pid)
{
	char path[64];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *folder = opendir(path);
	ck_assert_ptr_nonnull(folder);
	for (const struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

int open_own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}
