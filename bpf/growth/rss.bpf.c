/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of resident memory: which stacks touch memory first. Next to nothing is done for a page.
 * The kernel counts the resident pages of each process anyway; growth is what is above the level of
 * the last sample. The level is looked at now and then. By default that is when the kernel refills
 * a CPU's list of free pages from those of all CPUs (tracepoint mm_page_alloc_zone_locked): memory
 * of the host grows through there, while a loop that frees what it has touched goes unnoticed.
 * Pages that other processes freed do not come from there either, so the timer also looks when it
 * hits a page fault. When growth is watched closely, the level is looked at when some dozen new
 * pages have been put on the kernel's lists, in batches (mm_lru_insertion), and when as many pages
 * of a file that were resident already have been mapped (mm_filemap_map_pages, or rss_stat where
 * the kernel lacks that). Sums are the kernel's own, and huge pages count with their size.
 */
#include "bpf/growth/growth.bpf.h"
#include "bpf/growth/growth_seats.bpf.h"
#include "bpf/slots.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* Set before load. */
const volatile u32 resident_page_bytes = 4096;
const volatile u32 resident_step_pages = 64; /* mean number of pages between samples */
/* A level lacks what other CPUs have counted and not added up yet: when a task comes to another CPU
 * and the level has fallen by less than this, nothing was freed. */
const volatile u32 resident_noise_pages = 64;

/* Time at which the programs were attached, CLOCK_BOOTTIME: processes that began later have grown
 * from nothing. */
u64 resident_since_ns;

enum {
	SEEN_CPU_BITS = 10,
	/* Mean number of new pages on a CPU until the level of the current process is looked at.
	 * The number is drawn anew each time, or the looks would fall into step with a program that
	 * allocates in such numbers. */
	LOOK_PAGES = 24,
	ORDER_MASK = 15,
	MAPPED_AT_ONCE = 8, /* mapping pages around a fault counts as this many new pages */
	SUSPECT_PAGES = 16, /* one of this many new pages is checked for being a large one */
	LARGE_TASKS = 64,
	RESIDENT_MEMBERS = 3,
};
_Static_assert(1 << SEEN_CPU_BITS == MAX_CPUS, "room for every CPU");

static const u64 young_ns = 2ULL * 1000 * 1000 * 1000;

/* Growth of one kind of memory of a process; in pages. */
struct growth {
	s64 base; /* pages above this level are in no sample yet */
	s64 seen; /* the latest level, with the CPU in its low bits */
	struct pace pace;
};

struct resident {
	u64 who; /* seat_begins() */
	struct growth of[RESIDENT_MEMBERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct resident);
	__uint(max_entries, GROWTH_SEATS);
} residents SEC(".maps");

/* New pages on this CPU since the last look, and the number at which the next look is due. */
struct arrivals {
	u32 pages, due;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct arrivals);
	__uint(max_entries, 1);
} resident_arrivals SEC(".maps");

/* Processes that were seen to have large pages, by the low bits of their pid: each of their new
 * pages is checked, and each large one causes a look. */
static u32 large_tasks[LARGE_TASKS];

/* pptrs[0] is the address of a map's per-CPU values. The distance from there to this CPU's value is
 * the same for all per-CPU data of the kernel. A symbol of the kernel would give that distance, but
 * many kernels hide the symbols of data. */
struct bpf_array {
	void *pptrs[0];
} __attribute__((preserve_access_index));

static u64 cpu_offsets[MAX_CPUS];

/* A pointer as a number: to the verifier, what bpf_probe_read_kernel() has read is no pointer. */
static __always_inline u64 number_of(const void *pointer)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

static __always_inline u64 offset_of_this_cpu(void)
{
	u32 zero = 0;
	u64 map = number_of(&scratches), all = 0;

	bpf_probe_read_kernel(&all, sizeof(all),
	                      (void *)(map + bpf_core_field_offset(struct bpf_array, pptrs)));
	return number_of(bpf_map_lookup_elem(&scratches, &zero)) - all;
}

static __always_inline s64 part_of_this_cpu(u64 parts)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);
	s32 part = 0;

	if (!cpu_offsets[cpu])
		cpu_offsets[cpu] = offset_of_this_cpu();
	bpf_probe_read_kernel(&part, sizeof(part), (void *)(parts + cpu_offsets[cpu]));
	return part;
}

/* Since 6.2 a level is a sum over CPUs. Before 6.2 it is one counter, which is copied: the
 * verifiers of those kernels do not follow a pointer into an array of atomic_long_t. An index must
 * be a constant for CO-RE to find it in the running kernel's types. */
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

static const u32 members[RESIDENT_MEMBERS] = {MM_ANONPAGES, MM_FILEPAGES, MM_SHMEMPAGES};

static __always_inline s64 level_now(struct mm_struct *mm, u32 member, s64 *ret_seen)
{
	s64 level = level_of(mm, member);

	*ret_seen = level << SEEN_CPU_BITS | (bpf_get_smp_processor_id() & (MAX_CPUS - 1));
	return level;
}

/* Memory that a process held before its first inspection is not counted as growth, unless the
 * process was started after profd attached and its seat was not forgotten since. A process that
 * began a moment ago was not forgotten. */
static __always_inline int is_fresh(struct task_struct *task, u64 who)
{
	u64 began = task_began();

	return !(BPF_CORE_READ(task, group_leader, flags) & PF_FORKNOEXEC) &&
	       began > resident_since_ns &&
	       (bpf_ktime_get_boot_ns() - began < young_ns || !seat_forgot_since(who, began));
}

static __always_inline void begin(struct task_struct *task, struct mm_struct *mm, u64 who,
                                  struct resident *resident)
{
	int fresh = is_fresh(task, who);

#pragma unroll
	for (u32 i = 0; i < RESIDENT_MEMBERS; i++) {
		s64 level = level_now(mm, members[i], &resident->of[i].seen);

		resident->of[i].base = fresh ? 0 : level;
		resident->of[i].pace = pace_new(resident_step_pages);
	}
}

/* Records the level. Where memory was freed, the base falls by as much: memory that comes back is
 * growth, and growth that was due stays due. */
static __always_inline void see(struct growth *growth, s64 level, s64 seen)
{
	s64 before = *(volatile s64 *)&growth->seen;
	s64 fall = (before >> SEEN_CPU_BITS) - level;
	int same_cpu = !((before ^ seen) & (MAX_CPUS - 1));

	if (fall > (same_cpu ? 0 : (s64)resident_noise_pages)) {
		if (__sync_val_compare_and_swap(&growth->seen, before, seen) == before)
			__sync_fetch_and_add(&growth->base, -fall);
	} else if (before != seen) {
		__sync_val_compare_and_swap(&growth->seen, before, seen);
	}
}

/* Pages of a kind of memory for which a sample is due; 0: none is due. */
static __always_inline s64 due_of(struct mm_struct *mm, struct growth *growth, u32 member,
                                  s64 *ret_base)
{
	s64 seen, level = level_now(mm, member, &seen);

	see(growth, level, seen);
	*ret_base = *(volatile s64 *)&growth->base;
	return level - *ret_base >= (s64)growth->pace.due ? level - *ret_base : 0;
}

/* Several threads may grow the same process: one of them takes what is due. */
static __always_inline void take(u32 at, struct growth *growth, u32 member, s64 base, s64 grown,
                                 u64 user_stack, u64 now)
{
	if (__sync_val_compare_and_swap(&growth->base, base, base + grown) != base)
		return;
	pace_next(&growth->pace, now, resident_step_pages);
	tally_add(at, KIND_rss | member << KIND_DETAIL_SHIFT, STACK_NONE, user_stack,
	          (u64)grown * resident_page_bytes);
}

/* The seat of the current process; SEAT_NONE where it has none, or cannot be walked. */
__noinline u32 resident_seat(void)
{
	struct task_struct *task = task_current();
	struct mm_struct *mm = task->mm;
	struct resident *resident;
	u64 slot, who;
	u32 seat;

	/* Other tasks change a process's memory when they reclaim it, or before the process runs.
	 * Short-lived processes that the daemon has not heard of yet come by the thousand: each
	 * costs this look-up. */
	if (!mm || task->flags & PF_KTHREAD || has_borrowed_memory(task) ||
	    !slot_of(bpf_get_current_pid_tgid() >> 32, &slot))
		return SEAT_NONE;
	who = seat_who();
	seat = seat_of(who);
	resident = bpf_map_lookup_elem(&residents, &seat);
	if (resident && seat_begins(&resident->who, who)) {
		begin(task, mm, who, resident);
		seat_has_begun(&resident->who, who);
	}
	return resident && seat_is_of(&resident->who, who) ? seat : SEAT_NONE;
}

static __always_inline struct resident *resident_get(u32 seat)
{
	return seat == SEAT_NONE ? NULL : bpf_map_lookup_elem(&residents, &seat);
}

/* Takes a sample of `grown` pages of a process's `i`-th kind of memory. */
__noinline u32 resident_sample(u32 seat, u32 i, s64 base, s64 grown)
{
	struct resident *resident = resident_get(seat);
	struct growth *growth;
	u64 now = bpf_ktime_get_ns();
	u32 at;

	if (!resident || i >= RESIDENT_MEMBERS)
		return 0;
	growth = &resident->of[i];
	at = lane_enter(LANE_RESIDENT, now);
	/* The sample stays due, and the next look takes it. */
	if (at == LANE_BUSY)
		return 0;
	if (growth_allows(GROWTH_RESIDENT, now)) {
		take(at, growth, members[i], base, grown, unwind_entry(at), now);
		growth_charge(GROWTH_RESIDENT, bpf_ktime_get_ns() - now);
	} else {
		pace_put_off(&growth->pace, grown, resident_step_pages);
		count(at, COUNTER_growth_put_off, 1);
	}
	lane_leave(at);
	return 0;
}

static __always_inline void look(void)
{
	u32 seat = resident_seat();
	struct resident *resident = resident_get(seat);
	struct mm_struct *mm = resident ? task_current()->mm : NULL;

	if (!mm)
		return;
#pragma unroll
	for (u32 i = 0; i < RESIDENT_MEMBERS; i++) {
		s64 base, grown = due_of(mm, &resident->of[i], members[i], &base);

		if (grown)
			resident_sample(seat, i, base, grown);
	}
}

__noinline u32 resident_tick(u32 at, u64 user_stack)
{
	struct resident *resident = resident_get(resident_seat());
	struct mm_struct *mm = resident ? task_current()->mm : NULL;
	u64 now = bpf_ktime_get_ns();

	if (!mm)
		return 0;
#pragma unroll
	for (u32 i = 0; i < RESIDENT_MEMBERS; i++) {
		s64 base, grown = due_of(mm, &resident->of[i], members[i], &base);

		if (grown)
			take(at, &resident->of[i], members[i], base, grown, user_stack, now);
	}
	return 0;
}

/* Pages of a large folio are not counted one by one. A folio's first word is its flags, whatever
 * the kernel calls them. */
static __always_inline int is_large(u64 folio)
{
	u64 flags = 0;

	if (!bpf_core_enum_value_exists(enum pageflags, PG_head))
		return 0;
	bpf_probe_read_kernel(&flags, sizeof(flags), (void *)folio);
	return flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1;
}

static __always_inline void look_again(struct arrivals *arrivals)
{
	arrivals->pages = 0;
	arrivals->due = bpf_get_prandom_u32() % (2 * LOOK_PAGES) + 1;
	look();
}

static __always_inline int arrive(u32 pages)
{
	u32 zero = 0;
	struct arrivals *arrivals = bpf_map_lookup_elem(&resident_arrivals, &zero);

	if (!arrivals)
		return 0;
	arrivals->pages += pages;
	if (arrivals->pages >= arrivals->due)
		look_again(arrivals);
	return 0;
}

/* The second argument is the order of the pages that were taken. */
SEC("raw_tp/mm_page_alloc_zone_locked")
int resident_taken(struct bpf_raw_tracepoint_args *ctx)
{
	return arrive(1 << (ctx->args[1] & ORDER_MASK));
}

static __always_inline int arrives_large(u64 folio, const struct arrivals *arrivals)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	volatile u32 *known = &large_tasks[pid & (LARGE_TASKS - 1)];

	if ((*known != pid && arrivals->pages % SUSPECT_PAGES) || !is_large(folio))
		return 0;
	*known = pid;
	return 1;
}

SEC("raw_tp/mm_lru_insertion")
int resident_arrives(struct bpf_raw_tracepoint_args *ctx)
{
	u32 zero = 0;
	struct arrivals *arrivals = bpf_map_lookup_elem(&resident_arrivals, &zero);

	if (!arrivals)
		return 0;
	arrivals->pages++;
	if (arrives_large(ctx->args[0], arrivals) || arrivals->pages >= arrivals->due)
		look_again(arrivals);
	return 0;
}

SEC("raw_tp/mm_filemap_map_pages")
int resident_mapped(struct bpf_raw_tracepoint_args *ctx)
{
	return arrive(MAPPED_AT_ONCE);
}

SEC("raw_tp/rss_stat")
int resident_changed(struct bpf_raw_tracepoint_args *ctx)
{
	return arrive(1);
}
