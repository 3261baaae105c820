/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixtures for tests of names: a list of received frames, and code of this program whose names are
 * known.
 */
#pragma once

#include "base/cleanup.h"
#include "names/source_frame.h"

#include <sys/types.h>

struct told_frame {
	size_t index;
	char *function, *readable, *file; /* NULL: none */
	uint32_t line, start_line;
	uint64_t function_address;
};

struct told_frames {
	struct told_frame *items;
	size_t count;
};

/* A source_frame_fn; ctx is a struct told_frames. */
int tell_frame(size_t index, const struct source_frame *frame, void *ctx);
void told_frames_release(struct told_frames *told);

/* The program's own address of something in its memory. */
uint64_t own_address(uint64_t in_memory);
/* An address in known_inlined(), which is inlined into known_outer(). Both are in
 * names_fixture.c. */
uint64_t known_outer(void);
/* The number of a process's open descriptors. */
int count_fds(pid_t pid);
/* Opens this program's file. */
int open_own_file(void);
