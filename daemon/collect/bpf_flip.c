/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changing halves, and when nobody works in the old one any more: a CPU says in shared memory what
 * it is doing (lane_enter() in bpf/maps.bpf.h).
 */
#include "collect/bpf.h"

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

/* For those that work without a lane. The others are waited for as long as a virtual CPU may be
 * held up; one that does not come back has none wait for it so long again. */
static const u64 patience_ns = 500 * NSEC_PER_MSEC, lane_patience_ns = 2 * NSEC_PER_SEC,
		 stuck_patience_ns = 20 * NSEC_PER_MSEC;

/* Of those that work without a lane it is not said in which half; but who begins after the moment
 * works in the other one. So each CPU has to be seen without them once. */
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

/* Some lane is in the middle of a sample of that half. */
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
	/* Where programs are preempted, a CPU that many threads count on may never be seen so. */
	if (waited_ns < patience_ns)
		return false;
	bpf->unsettled++;
	return true;
}
