/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the output of a program that runs on a kernel iterator.
 */
#include "kernel/threads_ran.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_ROOM = 1024 };

/* Asking the kernel may take one part in this many of a CPU's time. */
enum { SHARE = 10000, WANTED_SHARE = 100 };

static bool attach(struct threads_ran *threads, const struct bpf *bpf)
{
	const struct profd_bpf *part = bpf_part(bpf, BPF_PART_RUN_TIMES);

	if (!threads->link && part)
		threads->link = bpf_program__attach_iter(part->progs.threads_ran, NULL);
	return threads->link;
}

static bool make_room(struct threads_ran *threads)
{
	size_t room = threads->room ? 2 * threads->room : FIRST_ROOM;
	struct thread_ran *all;

	if (threads->count < threads->room)
		return true;
	all = realloc(threads->all, room * sizeof(*all));
	if (!all)
		return false;
	threads->all = all;
	threads->room = room;
	return true;
}

static void ask(struct threads_ran *threads)
{
	_cleanup_close_ int fd = -1;
	ssize_t got = 1;

	fd = bpf_iter_create(bpf_link__fd(threads->link));
	/* The kernel returns whole records, as many as fit. */
	while (fd >= 0 && got > 0 && make_room(threads)) {
		struct thread_ran *next = &threads->all[threads->count];

		got = read(fd, next, (threads->room - threads->count) * sizeof(*next));
		threads->count += got > 0 ? (size_t)got / sizeof(*next) : 0;
	}
}

void threads_ran_read(struct threads_ran *threads, const struct bpf *bpf, bool wanted)
{
	uint64_t now = clock_mono_ns();

	threads->count = 0;
	if (now < threads->asked_ns + threads->took_ns * (wanted ? WANTED_SHARE : SHARE) ||
	    !attach(threads, bpf))
		return;
	ask(threads);
	threads->asked_ns = now;
	threads->took_ns = clock_mono_ns() - now;
}

void threads_ran_release(struct threads_ran *threads)
{
	bpf_link__destroy(threads->link);
	free(threads->all);
	*threads = (struct threads_ran){0};
}
