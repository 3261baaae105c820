/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct uprobes - BPF programs attached to places in a file, as descriptors. Closing them detaches
 * the programs; the kernel does that too when profd dies, in whatever way. Any thread, one at a
 * time. Attaching and detaching may take long, so not on the loop thread.
 *
 * There are three ways, the best first:
 *
 *   multi-uprobe session  Linux 6.13: one program for entry and return, and the entry says whether
 *                         the return is wanted. 7 ms to attach 150 places, 36 ms to detach.
 *   multi-uprobe          Linux 6.6, and used from 6.10 on: before "bpf: Fix multi-uprobe PID
 *                         filtering logic" only hits of a process's first thread were seen.
 *   perf uprobe event     one per place: 16 ms to attach 150 of them, and 17 s to detach.
 *
 * libbpf supports the first two from 1.3 on. Here they are requested from the kernel directly.
 * Format: include/uapi/linux/bpf.h, BPF_LINK_CREATE, uprobe_multi.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program;

enum uprobe_kind {
	UPROBE_ENTRY, /* an instruction is about to run, anywhere in a function */
	/* The function that begins here has returned. Never on a function that a C++ exception may
	 * unwind through: the exception would not get past it. */
	UPROBE_RETURN,
	UPROBE_SESSION, /* both */
};

/* Whether multi-uprobes are used, which take many places at once. */
bool uprobes_are_multi(void);
/* Declares programs for that before they are loaded; a kernel without multi-uprobes would refuse to
 * load such programs, so there it does nothing. Returns whether it declared them. */
bool uprobes_declare(struct bpf_program *const *multi, size_t count, struct bpf_program *session);

/* Parallel arrays, as the kernel takes them. */
struct uprobe_sites {
	const uint64_t *offsets;    /* in the file */
	const uint64_t *cookies;    /* what bpf_get_attach_cookie() returns there */
	const uint64_t *semaphores; /* offsets of USDT semaphores, 0 for none; NULL: none at all */
	size_t count;
};

struct uprobes {
	int *fds;
	size_t count;
};

/* Adds to what is attached. `path` must lead to the very file that processes map; pid 0: in all
 * processes. -EOPNOTSUPP: this kernel has no such kind. On failure, earlier attachments stay. */
int uprobes_attach(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind, const char *path,
                   uint32_t pid, const struct uprobe_sites *sites);
void uprobes_detach(struct uprobes *uprobes);
/* Why probes could not be attached, for people. */
const char *uprobes_error(int err);
