/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel has chosen a process to kill for lack of memory, of the host or of a control group.
 * The victim still has its memory, and no longer runs code of its own.
 */
#include "bpf/oom.h"

#include "bpf/user.bpf.h"

#include <bpf/bpf_core_read.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OOM_RING_BYTES);
} oom_victims SEC(".maps");

/* Whoever may limit the memory of a control group can have its processes killed in any number. */
struct ring_user_map oom_users SEC(".maps");

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
	BPF_CORE_READ_STR_INTO(&victim->comm, task, comm);
	if (!mm || bpf_core_type_exists(struct mm_rss_stat))
		return;
	READ_PAGES(victim->anon_pages, mm, MM_ANONPAGES);
	READ_PAGES(victim->file_pages, mm, MM_FILEPAGES);
	READ_PAGES(victim->shmem_pages, mm, MM_SHMEMPAGES);
	READ_PAGES(victim->swap_pages, mm, MM_SWAPENTS);
}

/* NULL where the ring has no room. `task` is NULL where only the thread's id is known. */
static __always_inline struct oom_victim *victim_new(struct task_struct___victim *task, u32 tid,
                                                     u32 user)
{
	struct oom_victim *victim = bpf_ringbuf_reserve(&oom_victims, sizeof(*victim), 0);

	if (!victim)
		return NULL;
	__builtin_memset(victim, 0, sizeof(*victim));
	victim->user = user;
	if (task)
		describe(victim, task);
	else
		victim->tid = tid;
	return victim;
}

/* The argument is the task since 6.9, and its thread id before; kernel addresses are negative. A
 * victim whose user is not known counts for the user of the current task, which needs the
 * memory. */
SEC("raw_tp/mark_victim")
int oom_mark_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct___victim *task = NULL;
	u32 user = OOM_USER_UNKNOWN, place = user_place();
	struct oom_victim *victim = NULL;
	struct ring_user *owner;

	if ((s64)ctx->args[0] < 0) {
		task = (struct task_struct___victim *)ctx->args[0];
		user = BPF_CORE_READ(task, real_cred, uid.val);
		place = account_place(&hash_key, user_account(user));
	}
	owner = ring_user_at(&oom_victims, &oom_users, OOM_RING_BYTES, place);
	if (owner)
		victim = victim_new(task, (u32)ctx->args[0], user);
	if (!victim) {
		__sync_fetch_and_add(&oom_victims_lost, 1);
		return 0;
	}
	bpf_ringbuf_submit(victim, 0);
	ring_user_charge(&oom_victims, owner, sizeof(*victim));
	return 0;
}
