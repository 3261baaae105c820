/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of resident memory: which stacks touch memory first. The tracepoint rss_stat comes with
 * every change of a process's counters of resident pages, so huge pages and pages mapped around a
 * fault count as what they are. What is read here is the process's level; growth is what is above
 * the level of the sample before.
 */
#include "bpf/pace.bpf.h"
#include "bpf/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* Set before load. */
const volatile u32 resident_page_bytes = 4096;
const volatile u32 resident_step_pages = 64; /* between samples, on average */
/* A level lacks what other CPUs have counted and not added up yet: when a task comes to another CPU
 * and the level has fallen by less, nothing was freed. */
const volatile u32 resident_noise_pages = 64;

enum { SEEN_CPU_BITS = 10 };
_Static_assert(1 << SEEN_CPU_BITS == MAX_CPUS, "room for every CPU");

/* Of a process and a kind of memory; in pages. */
struct resident {
	s64 base; /* what is above it is in no sample yet */
	s64 seen; /* the latest level, with the CPU below it: one is nothing without the other */
	struct pace pace;
	u64 image; /* task_image(): another program may get the same mm_struct */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, u64); /* address of the mm_struct, and the kind of memory in its low bits */
	__type(value, struct resident);
	__uint(max_entries, PACED_PROCESSES);
} residents SEC(".maps");

/* Where this CPU's part of a counter is; empty where symbols are hidden, then parts are not read.
 */
extern const void __per_cpu_offset __ksym __weak;
static u64 cpu_offsets[MAX_CPUS];

static __always_inline s64 part_of_this_cpu(u64 parts)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);
	u64 symbol = (u64)&__per_cpu_offset;
	s32 part = 0;

	if (!symbol)
		return 0;
	if (!cpu_offsets[cpu])
		bpf_probe_read_kernel(&cpu_offsets[cpu], sizeof(u64),
		                      (void *)(symbol + cpu * sizeof(u64)));
	bpf_probe_read_kernel(&part, sizeof(part), (void *)(parts + cpu_offsets[cpu]));
	return part;
}

/* Counters for each CPU since 6.2, one for all before, which is copied: the verifiers of those
 * kernels do not follow a pointer into an array of atomic_long_t. An index has to be a constant to
 * be found in the running kernel's types. */
#define LEVEL(member)                                                                \
	case member:                                                                 \
		if (bpf_core_type_exists(struct mm_rss_stat))                        \
			return BPF_CORE_READ((struct mm_struct___before_6_2 *)mm,    \
			                     rss_stat.count[member].counter);        \
		return ((struct mm_struct___counters *)mm)->rss_stat[member].count + \
		       part_of_this_cpu((u64)((struct mm_struct___counters *)mm)     \
		                                ->rss_stat[member]                   \
		                                .counters)

static __always_inline s64 level_of(struct mm_struct *mm, u32 member)
{
	switch (member) {
		LEVEL(MM_FILEPAGES);
		LEVEL(MM_ANONPAGES);
		LEVEL(MM_SHMEMPAGES);
	}
	return 0;
}

/* What was there before is nobody's growth. */
static __always_inline void begin(u64 key, s64 level, s64 seen)
{
	struct resident resident = {
		.base = level,
		.seen = seen,
		.pace = pace_new(resident_step_pages),
		.image = task_image(),
	};

	bpf_map_update_elem(&residents, &key, &resident, BPF_ANY);
}

/* Keeps the level. Where memory was freed, the base falls as far: what comes back is growth, and
 * what was due stays so. */
static __always_inline void see(struct resident *resident, s64 level, s64 seen)
{
	s64 before = *(volatile s64 *)&resident->seen;
	s64 fall = (before >> SEEN_CPU_BITS) - level;
	int same_cpu = !((before ^ seen) & (MAX_CPUS - 1));

	if (fall > (same_cpu ? 0 : (s64)resident_noise_pages)) {
		if (__sync_val_compare_and_swap(&resident->seen, before, seen) == before)
			__sync_fetch_and_add(&resident->base, -fall);
	} else if (before != seen) {
		resident->seen = seen;
	}
}

static __always_inline void take_sample(struct resident *resident, s64 base, s64 level, u32 member)
{
	u64 now = bpf_ktime_get_ns();
	u32 at = lane_enter(LANE_RESIDENT, now);

	/* It stays due, and the next page takes it. */
	if (at == LANE_BUSY)
		return;
	/* Other threads grow the same process: one of them takes it. */
	if (__sync_val_compare_and_swap(&resident->base, base, level) == base) {
		pace_next(&resident->pace, now, resident_step_pages);
		tally_add(at, KIND_rss | member << KIND_DETAIL_SHIFT, STACK_NONE,
		          walk_user_of_entry(at), (u64)(level - base) * resident_page_bytes);
	}
	lane_leave(at);
}

SEC("raw_tp/rss_stat")
int resident_changed(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = task_current();
	struct mm_struct *mm = task->mm;
	u32 member = ctx->args[1];
	struct resident *resident;
	u64 key = ctx->args[0] | member;
	s64 level, seen, base;

	/* The verifier wants a key that is no pointer. */
	barrier_var(key);
	/* Others change it when they reclaim, or before it runs. */
	if (!mm || has_borrowed_memory(task) || ctx->args[0] != (u64)mm ||
	    (member != MM_FILEPAGES && member != MM_ANONPAGES && member != MM_SHMEMPAGES))
		return 0;
	level = level_of(mm, member);
	seen = level << SEEN_CPU_BITS | (bpf_get_smp_processor_id() & (MAX_CPUS - 1));
	resident = bpf_map_lookup_elem(&residents, &key);
	if (!resident || resident->image != task_image()) {
		begin(key, level, seen);
		return 0;
	}
	see(resident, level, seen);
	base = *(volatile s64 *)&resident->base;
	if (level - base >= (s64)resident->pace.due)
		take_sample(resident, base, level, member);
	return 0;
}
