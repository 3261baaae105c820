/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel has chosen a process to kill for lack of memory, of the host or of a control group.
 * The victim still has its memory, and no longer runs code of its own.
 */
#include "bpf/oom.h"

#include "bpf/kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OOM_RING_BYTES);
} oom_victims SEC(".maps");

u64 oom_victims_lost;

struct cred___victim {
	struct {
		u32 val;
	} uid;
} __attribute__((preserve_access_index));

struct task_struct___victim {
	int pid, tgid;
	char comm[OOM_COMM_BYTES];
	struct mm_struct *mm;
	const struct cred___victim *real_cred;
} __attribute__((preserve_access_index));

/* Reads the number of pages of one kind of memory. Before 6.2 the kernel counts them elsewhere, and
 * they are not reported. The result lacks what other CPUs have counted and not added up yet, some
 * hundred KiB at most. An index must be a constant for CO-RE to find it in the running kernel's
 * types, so this is a macro and no function. */
#define READ_PAGES(into, mm, member)                                                           \
	do {                                                                                   \
		s64 pages = 0;                                                                 \
                                                                                               \
		bpf_core_read(&pages, sizeof(pages),                                           \
		              &((struct mm_struct___counters *)(mm))->rss_stat[member].count); \
		(into) = pages > 0 ? pages : 0;                                                \
	} while (0)

static __always_inline void describe(struct oom_victim *victim, struct task_struct___victim *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	victim->pid = BPF_CORE_READ(task, tgid);
	victim->tid = BPF_CORE_READ(task, pid);
	victim->user = BPF_CORE_READ(task, real_cred, uid.val);
	BPF_CORE_READ_STR_INTO(&victim->comm, task, comm);
	if (!mm || bpf_core_type_exists(struct mm_rss_stat))
		return;
	READ_PAGES(victim->anon_pages, mm, MM_ANONPAGES);
	READ_PAGES(victim->file_pages, mm, MM_FILEPAGES);
	READ_PAGES(victim->shmem_pages, mm, MM_SHMEMPAGES);
	READ_PAGES(victim->swap_pages, mm, MM_SWAPENTS);
}

/* The argument is the task since 6.9, and its thread id before; kernel addresses are negative. */
SEC("raw_tp/mark_victim")
int oom_mark_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct oom_victim *victim = bpf_ringbuf_reserve(&oom_victims, sizeof(*victim), 0);

	if (!victim) {
		__sync_fetch_and_add(&oom_victims_lost, 1);
		return 0;
	}
	__builtin_memset(victim, 0, sizeof(*victim));
	victim->user = OOM_USER_UNKNOWN;
	if ((s64)ctx->args[0] < 0)
		describe(victim, (struct task_struct___victim *)ctx->args[0]);
	else
		victim->tid = (u32)ctx->args[0];
	bpf_ringbuf_submit(victim, 0);
	return 0;
}
