/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of address space: which stacks map memory. The tracepoint vm_unmapped_area fires whenever
 * the kernel looks for free addresses, as it does for mmap without a fixed address, for an mremap
 * that moves, and for shmat; a heap that grows by brk does not fire it. Most mappings only take
 * their bytes off a countdown of their CPU. The mapping that ends the countdown is charged with all
 * of these bytes, which is right on average, and exact for large mappings.
 */
#include "bpf/growth/growth.bpf.h"
#include "bpf/growth/growth_seats.bpf.h"
#include "bpf/slots.bpf.h"
#include "bpf/sum.h"
#include "bpf/walk/unwind_entry.bpf.h"

/* Mean number of bytes between samples. Set before load. */
const volatile u32 mapped_step = 256 << 10;

/* Bytes mapped on this CPU that no process has been charged with, and the number at which the next
 * mapping is charged. */
struct mapped_here {
	u64 bytes, due;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct mapped_here);
	__uint(max_entries, 1);
} mapped_here SEC(".maps");

struct mapped {
	u64 who;   /* seat_begins() */
	u64 bytes; /* bytes that are in no sample yet */
	struct pace pace;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct mapped);
	__uint(max_entries, GROWTH_SEATS);
} mappeds SEC(".maps");

enum { MMAP_PAGE = 4096 };

/* The size that was asked for: the kernel looks for more where it needs alignment. */
static __always_inline u64 bytes_asked(struct task_struct *task, u64 looked_for)
{
	const struct pt_regs *entry = (void *)bpf_task_pt_regs(task);
	u64 asked = looked_for;

	if (!REGS_USER(entry) || REGS_COMPAT(entry))
		return looked_for;
	if (REGS_SYSCALL_NUMBER(entry) == SYSCALL_MMAP)
		asked = (REGS_ARGUMENT_2(entry) + MMAP_PAGE - 1) & ~(u64)(MMAP_PAGE - 1);
	else if (REGS_SYSCALL_NUMBER(entry) == SYSCALL_MREMAP)
		asked = REGS_ARGUMENT_3(entry) - REGS_ARGUMENT_2(entry);
	return asked < looked_for ? asked : looked_for;
}

/* NULL where there is no seat, or another thread of the process is just beginning with it. */
static __always_inline struct mapped *mapped_of_current(void)
{
	u64 who = seat_who();
	u32 seat = seat_of(who);
	struct mapped *mapped = bpf_map_lookup_elem(&mappeds, &seat);

	if (mapped && seat_begins(&mapped->who, who)) {
		mapped->bytes = 0;
		mapped->pace = pace_new(mapped_step);
		seat_has_begun(&mapped->who, who);
	}
	return mapped && seat_is_of(&mapped->who, who) ? mapped : NULL;
}

static __always_inline void take_sample(struct mapped *mapped)
{
	u64 now = bpf_ktime_get_ns();
	u32 at = lane_enter(LANE_PROBE, now);
	u64 bytes;

	/* The sample stays due, and the next mapping takes it. */
	if (at == LANE_BUSY)
		return;
	if (!growth_allows(GROWTH_MAPPED, now)) {
		pace_put_off(&mapped->pace, mapped->bytes, mapped_step);
		count(at, COUNTER_growth_put_off, 1);
		lane_leave(at);
		return;
	}
	bytes = __sync_lock_test_and_set(&mapped->bytes, 0);
	if (bytes) {
		pace_next(&mapped->pace, now, mapped_step);
		tally_add(at, KIND_mmap, STACK_NONE, unwind_entry(at), bytes);
		growth_charge(GROWTH_MAPPED, bpf_ktime_get_ns() - now);
	}
	lane_leave(at);
}

/* The bytes that a mapping is charged with: mostly 0. */
static __always_inline u64 count_down(u64 bytes)
{
	u32 zero = 0;
	struct mapped_here *here = bpf_map_lookup_elem(&mapped_here, &zero);

	if (!here)
		return 0;
	bytes = here->bytes += bytes;
	if (bytes < here->due)
		return 0;
	here->bytes = 0;
	here->due = bpf_get_prandom_u32() % (mapped_step | 1);
	return bytes;
}

/* A sum that grows no further is due, too: it would not reach a later number. */
static __always_inline int is_due(const struct mapped *mapped, u64 bytes)
{
	return bytes >= mapped->pace.due || bytes >= sum_most;
}

SEC("raw_tp/vm_unmapped_area")
int address_space_grows(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = task_current();
	struct vm_unmapped_area_info *info = (void *)ctx->args[1];
	struct mapped *mapped;
	u64 bytes = 0, slot;

	/* args[0] is an address, or an errno if it lies in the last page. */
	if (ctx->args[0] >= (u64)-4095 || !task->mm || has_borrowed_memory(task))
		return 0;
	bpf_probe_read_kernel(&bytes, sizeof(bytes), &info->length);
	bytes = count_down(bytes_asked(task, bytes));
	/* Short-lived processes that the daemon has not heard of yet come by the thousand. */
	if (!bytes || !slot_of(bpf_get_current_pid_tgid() >> 32, &slot))
		return 0;
	mapped = mapped_of_current();
	if (mapped && is_due(mapped, sum_add(&mapped->bytes, bytes)))
		take_sample(mapped);
	return 0;
}
