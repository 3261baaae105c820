/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits of threads, by the tracepoint sched_switch.
 */
#include "ingest/source.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/profd.skel.h"
#include "bpf/wait.h"
#include "ingest/drain.h"
#include "ingest/tallies.h"
#include "wait/wait_times.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls in which threads wait. Some architectures lack the older ones. */
static const struct {
	unsigned int number;
	enum wait_call call;
} calls[] = {
	{SYS_futex, WAIT_FUTEX},
	{SYS_epoll_pwait, WAIT_POLL},
	{SYS_pselect6, WAIT_POLL},
	{SYS_ppoll, WAIT_POLL},
	{SYS_read, WAIT_READ},
	{SYS_readv, WAIT_READ},
	{SYS_pread64, WAIT_READ},
	{SYS_preadv, WAIT_READ},
	{SYS_write, WAIT_WRITE},
	{SYS_writev, WAIT_WRITE},
	{SYS_pwrite64, WAIT_WRITE},
	{SYS_pwritev, WAIT_WRITE},
	{SYS_fsync, WAIT_WRITE},
	{SYS_fdatasync, WAIT_WRITE},
	{SYS_sendfile, WAIT_WRITE},
	{SYS_splice, WAIT_WRITE},
	{SYS_accept, WAIT_SOCKET},
	{SYS_accept4, WAIT_SOCKET},
	{SYS_connect, WAIT_SOCKET},
	{SYS_sendto, WAIT_SOCKET},
	{SYS_sendmsg, WAIT_SOCKET},
	{SYS_sendmmsg, WAIT_SOCKET},
	{SYS_recvfrom, WAIT_SOCKET},
	{SYS_recvmsg, WAIT_SOCKET},
	{SYS_recvmmsg, WAIT_SOCKET},
	{SYS_nanosleep, WAIT_NANOSLEEP},
	{SYS_clock_nanosleep, WAIT_NANOSLEEP},
	{SYS_wait4, WAIT_WAIT4},
	{SYS_waitid, WAIT_WAIT4},
	{SYS_io_uring_enter, WAIT_IO_URING},
#ifdef SYS_poll
	{SYS_poll, WAIT_POLL},
	{SYS_select, WAIT_POLL},
	{SYS_epoll_wait, WAIT_POLL},
#endif
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, WAIT_POLL},
#endif
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, WAIT_FUTEX},
#endif
};

/* Going through all threads of the host may take one part in this many of a CPU's time, but takes
 * place at least so often. */
enum { SHARE = 500, WANTED_SHARE = 20 };
static const uint64_t longest_ns = 4 * NSEC_PER_SEC;

struct offcpu {
	uint64_t latest_mono_ns, took_ns; /* of going through threads */
	struct wait_times *times;
};

static struct offcpu *offcpu_new(void)
{
	struct offcpu *own = calloc(1, sizeof(*own));

	if (own)
		own->times = wait_times_new();
	if (own && own->times)
		return own;
	free(own);
	return NULL;
}

static void offcpu_configure(struct bpf *bpf, const struct source_config *config,
                             struct source_state *state)
{
	u32 nodes = bpf->online_cpus * WAIT_KEPT_NODES_PER_CPU;
	struct profd_bpf *skeleton = bpf->skeleton;

	if (nodes < WAIT_KEPT_NODES)
		nodes = WAIT_KEPT_NODES;
	if (nodes > WAIT_KEPT_NODES_MOST)
		nodes = WAIT_KEPT_NODES_MOST;
	state->config = *config;
	state->period = 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number < WAIT_SYSCALLS)
			skeleton->rodata->wait_calls[calls[i].number] = calls[i].call;
	if (config->waits)
		bpf_map__set_max_entries(skeleton->maps.kept_stacks, nodes);
}

static const char *offcpu_load(struct bpf *bpf, const struct source_state *state)
{
	return source_load_part(bpf, BPF_PART_WAITS, state->config.waits);
}

static int offcpu_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	const struct profd_bpf *part = source_waits_part(bpf, state);
	int err;

	(void)online;
	if (state->config.waits && !state->own)
		state->own = offcpu_new();
	if (state->config.waits && !state->own)
		return -ENOMEM;
	if (!part)
		return 0;
	if (!state->second)
		state->second = bpf_program__attach_iter(part->progs.wait_under_way, NULL);
	if (!state->second) {
		snprintf(state->why, sizeof(state->why), "cannot iterate over threads: %s",
		         strerror(errno));
		return -errno;
	}
	bpf->waits_are_ready = true;
	err = bpf_watch_switches(bpf);
	state->on = !err;
	state->attached = !err;
	if (err)
		snprintf(state->why, sizeof(state->why), "cannot attach to sched_switch: %s",
		         strerror(-err));
	return err;
}

static void offcpu_detach(struct source_state *state)
{
	bpf_link__destroy(state->second);
	state->second = NULL;
	state->on = false;
	state->attached = 0;
	if (state->own)
		wait_times_free(((struct offcpu *)state->own)->times);
	free(state->own);
	state->own = NULL;
}

/* The program that runs for each thread prints nothing, so the first read is the last. */
static void go_through_threads(const struct bpf_link *link)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(link));
	char nothing[8];

	while (fd >= 0 && read(fd, nothing, sizeof(nothing)) > 0)
		;
}

/* Waits that are left out are accounted for the next time. */
static void offcpu_continue(struct bpf *bpf, struct source_state *state, bool is_cut)
{
	struct offcpu *own = state->own;
	uint64_t now = clock_mono_ns(), rest_ns;

	if (!state->on)
		return;
	rest_ns = own->took_ns * (is_cut ? WANTED_SHARE : SHARE);
	if (now < own->latest_mono_ns + (rest_ns < longest_ns ? rest_ns : longest_ns))
		return;
	bpf->skeleton->bss->wait_round++;
	bpf->skeleton->bss->wait_is_exact = is_cut;
	bpf->skeleton->bss->wait_round_before_ns = own->latest_mono_ns ?: now;
	go_through_threads(state->second);
	own->latest_mono_ns = now;
	own->took_ns = clock_mono_ns() - now;
}

static uint64_t waits_in(const struct drained *drained)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == KIND_offcpu)
			sum += drained->tallies[i].count;
	return sum;
}

/* The kernel half counts the waits for which samples stood before they were weighed. */
static int offcpu_fill(struct half *half, struct source_state *state, struct builder *into,
                       uint64_t *ret_samples)
{
	struct offcpu *own = state->own;
	uint64_t sampled = waits_in(half->drained);
	struct wait_left left;
	size_t at = 0;
	int err;

	if (own)
		wait_times_weigh(own->times, half->drained,
		                 half->span.end_mono_ns - half->span.start_mono_ns);
	err = tallies_fill(half, state, into, ret_samples);
	*ret_samples = sampled;
	while (own && wait_times_left(own->times, &at, &left))
		tallies_add_unseen(half, into, left.tally, left.ns);
	return err;
}

const struct source source_offcpu = {
	.name = "offcpu",
	.title = "Waiting",
	.summary = "time that threads wait",
	.values = {{"waits", "count"}, {"offcpu", "nanoseconds"}},
	.history_weight = 1,
	.fix = "Run a kernel that has this tracepoint",
	.configure = offcpu_configure,
	.load = offcpu_load,
	.attach = offcpu_attach,
	.detach = offcpu_detach,
	.eve_of_flip = offcpu_continue,
	.fill = offcpu_fill,
};
