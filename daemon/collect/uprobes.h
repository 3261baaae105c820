/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct uprobes - BPF programs attached to places in a file, as descriptors: closing them
 * detaches, and so does the kernel when we die, however we die. Any thread, one at a time;
 * attaching and detaching may take long, so not on the loop thread.
 *
 * There are three ways, the best first:
 *
 *   multi-uprobe session  Linux 6.13: one program for entry and return, and the entry says whether
 *                         the return is wanted. 7 ms to attach 150 places, 36 ms to detach.
 *   multi-uprobe          Linux 6.6, and used from 6.10 on: before "bpf: Fix multi-uprobe PID
 *                         filtering logic" only hits of a process's first thread were seen.
 *   perf uprobe event     one a place: 16 ms to attach 150 of them, and 17 s to detach.
 *
 * libbpf knows the first two from 1.3 on; they are asked of the kernel directly. Format:
 * include/uapi/linux/bpf.h, BPF_LINK_CREATE, uprobe_multi.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program;

enum uprobe_kind {
	UPROBE_ENTRY,   /* an instruction is about to run, anywhere in a function */
	UPROBE_RETURN,  /* the function that begins here has returned. Never on one that a C++
	                   exception may unwind through: it would not get past */
	UPROBE_SESSION, /* both */
};

/* Whether the kernel takes many places at once, and entry and return in one. */
bool uprobes_are_multi(void);
/* Says so of programs before they are loaded, which would be refused where it does not; whether it
 * does. */
bool uprobes_declare(struct bpf_program *const *multi, size_t count, struct bpf_program *session);

/* Parallel arrays, as the kernel takes them. */
struct uprobe_sites {
	const uint64_t *offsets;    /* in the file */
	const uint64_t *cookies;    /* what bpf_get_attach_cookie() says there */
	const uint64_t *semaphores; /* offsets of USDT semaphores, 0 for none; NULL: none at all */
	size_t count;
};

struct uprobes {
	int *fds;
	size_t count;
};

/* Adds to what is attached. `path` must lead to the very file that is mapped; pid 0: in all
 * processes. -EOPNOTSUPP: this kernel has no such kind. On failure what was there before stays. */
int uprobes_attach(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind, const char *path,
                   uint32_t pid, const struct uprobe_sites *sites);
void uprobes_detach(struct uprobes *uprobes);
/* Why they could not be attached, for people. */
const char *uprobes_error(int err);
