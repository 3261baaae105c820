/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Flips the buffer halves, and determines when no program works in the old half any more. Each CPU
 * shows in shared memory what it is doing (lane_enter() in bpf/maps.bpf.h).
 */
#include "kernel/bpf.h"

#include "base/clock.h"
#include "bpf/profd.skel.h"

#include <string.h>

u32 bpf_flip(struct bpf *bpf, u64 at_mono_ns)
{
	u32 old = bpf->skeleton->bss->flip & 1;

	memset(bpf->quiet, 0, bpf->cpu_limit * sizeof(*bpf->quiet));
	bpf->flip_mono_ns = at_mono_ns;
	__atomic_store_n(&bpf->skeleton->bss->flip, at_mono_ns << 1 | !old, __ATOMIC_SEQ_CST);
	return old;
}

void bpf_flip_earlier(struct bpf *bpf, u64 at_mono_ns)
{
	u64 half = bpf->skeleton->bss->flip & 1;

	bpf->flip_mono_ns = at_mono_ns;
	__atomic_store_n(&bpf->skeleton->bss->flip, at_mono_ns << 1 | half, __ATOMIC_SEQ_CST);
}

u64 bpf_busy(const struct bpf *bpf, u32 cpu, u32 lane)
{
	return __atomic_load_n(&bpf->skeleton->bss->cpus[cpu].busy[lane], __ATOMIC_SEQ_CST);
}

/* How long bpf_settled() waits: patience_ns for programs that work without a lane; lane_patience_ns
 * for lanes, as long as a virtual CPU may be held up. After a lane has exceeded that, waits for the
 * same half take only stuck_patience_ns, until no lane is found in the half. */
static const u64 patience_ns = 500 * NSEC_PER_MSEC, lane_patience_ns = 2 * NSEC_PER_SEC,
		 stuck_patience_ns = 20 * NSEC_PER_MSEC;

/* Programs that work without a lane do not show in which half they work. But a program that
 * begins after the flip works in the new half. So it is enough to see each CPU once without such
 * programs. */
static bool is_quiet(struct bpf *bpf)
{
	bool all = true;

	for (u32 cpu = 0; cpu < bpf->cpu_limit; cpu++) {
		if (!bpf->quiet[cpu])
			bpf->quiet[cpu] = bpf_busy(bpf, cpu, BUSY_SHARED) == 0;
		all = all && bpf->quiet[cpu];
	}
	return all;
}

/* Whether a lane is in the middle of taking a sample into this half. */
static bool is_sampled(const struct bpf *bpf, u32 half)
{
	for (u32 at = 0; at < bpf->cpu_limit * LANES; at++) {
		u64 busy = bpf_busy(bpf, at / LANES, at % LANES);

		if (busy == BUSY_STARTING || busy == BUSY_HALF + half)
			return true;
	}
	return false;
}

bool bpf_settled(struct bpf *bpf, u32 half)
{
	u64 waited_ns = clock_mono_ns() - bpf->flip_mono_ns;

	if (is_sampled(bpf, half)) {
		if (waited_ns < (bpf->stuck[half] ? stuck_patience_ns : lane_patience_ns))
			return false;
		bpf->stuck[half] = true;
		bpf->overdue++;
		return true;
	}
	bpf->stuck[half] = false;
	if (is_quiet(bpf))
		return true;
	/* Programs may be preempted. A CPU on which many threads use BUSY_SHARED may never be seen
	 * quiet. */
	if (waited_ns < patience_ns)
		return false;
	bpf->unsettled++;
	return true;
}
