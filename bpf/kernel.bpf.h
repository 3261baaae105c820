/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The few kernel types that the programs use, instead of a vmlinux.h of three megabytes: what profd
 * relies on can be read here. Fields of task_struct are relocated (CO-RE) to the running kernel's
 * layout.
 */
#pragma once

/* Makes bpf_tracing.h use the kernel's register names. */
#define __VMLINUX_H__

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef s32 __s32;
typedef u64 __u64;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

/* include/uapi/linux/bpf.h, the values used here */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 << 0, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_CONS_POS = 2, BPF_RB_PROD_POS = 3 };

/* include/uapi/asm-generic/errno-base.h */
enum { EEXIST = 17, ENOSPC = 28 };

/* include/linux/sched.h */
enum {
	TASK_INTERRUPTIBLE = 0x1,
	TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
	TASK_WAKING = 0x200,
};
enum {
	PF_EXITING = 0x00000004,
	PF_WQ_WORKER = 0x00000020,
	PF_FORKNOEXEC = 0x00000040,
	PF_KTHREAD = 0x00200000,
};

/* Both layouts are ABI (the saved registers of signal frames and ptrace), so no relocation. No
 * macro has an argument `regs`, which is a member of arm64's. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	u64 orig_ax, ip, cs, flags, sp, ss;
};
#define REGS_PC(from)     ((from)->ip)
#define REGS_SP(from)     ((from)->sp)
#define REGS_MODE(from)   ((from)->cs)
#define REGS_USER(from)   (((from)->cs & 3) == 3)
#define REGS_COMPAT(from) (((from)->cs & 0xffff) == 0x23)
/* The kernel was entered by a system call, so pc is behind the instruction. */
#define REGS_SYSCALL(from) ((s64)(from)->orig_ax != -1)
/* arch/x86/entry/syscalls/syscall_64.tbl */
#define REGS_SYSCALL_NUMBER(from) ((from)->orig_ax)
#define REGS_ARGUMENT_1(from)     ((from)->di)
#define REGS_ARGUMENT_2(from)     ((from)->si)
#define REGS_ARGUMENT_3(from)     ((from)->dx)
enum { SYSCALL_MMAP = 9, SYSCALL_MREMAP = 25, SYSCALL_FUTEX = 202 };

#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 regs[31], sp, pc, pstate;
};
#define REGS_PC(from)             ((from)->pc)
#define REGS_SP(from)             ((from)->sp)
#define REGS_MODE(from)           ((from)->pstate)
#define REGS_USER(from)           (((from)->pstate & 0xf) == 0)
#define REGS_COMPAT(from)         (((from)->pstate & 0x10) != 0)
#define REGS_SYSCALL(from)        0 /* unknown; the row is the same on both sides of an svc */
/* include/uapi/asm-generic/unistd.h */
#define REGS_SYSCALL_NUMBER(from) ((from)->regs[8])
#define REGS_ARGUMENT_1(from)     ((from)->regs[0])
#define REGS_ARGUMENT_2(from)     ((from)->regs[1])
#define REGS_ARGUMENT_3(from)     ((from)->regs[2])
enum { SYSCALL_MMAP = 222, SYSCALL_MREMAP = 216, SYSCALL_FUTEX = 98 };
#else
#error "profd walks stacks on x86-64 and arm64"
#endif

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	struct pt_regs regs;
	u64 sample_period;
	u64 addr;
};

struct bpf_raw_tracepoint_args {
	u64 args[12];
};

/* kernel/events/uprobes.c: the area that holds the trampoline of return probes. */
struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct uprobes_state {
	struct xol_area *xol_area;
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long start_stack;
	struct uprobes_state uprobes_state;
} __attribute__((preserve_access_index));

/* include/linux/mm_types_task.h: indices of the page counts in an mm_struct. */
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

/* A CPU's part is added to `count` only when it is large. */
struct percpu_counter {
	s64 count;
	s32 *counters;
} __attribute__((preserve_access_index));

struct mm_struct___counters {
	struct percpu_counter rss_stat[NR_MM_COUNTERS];
} __attribute__((preserve_access_index));

/* Removed in 6.2. */
struct mm_rss_stat {
	struct {
		s64 counter;
	} count[NR_MM_COUNTERS];
} __attribute__((preserve_access_index));

struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

/* include/linux/page-flags.h: marks the first page of a compound page. */
enum pageflags { PG_head };

struct vm_unmapped_area_info {
	unsigned long length;
} __attribute__((preserve_access_index));

/* As of the last switch to the task. A thread pointer does not change after that. */
struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
} __attribute__((preserve_access_index));

/* include/linux/uprobes.h: a pending return that a return probe waits for. */
struct return_instance {
	unsigned long stack; /* the stack pointer where the function began */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));

struct uprobe_task {
	struct return_instance *return_instances;
	struct uprobe *active_uprobe; /* the probe whose instruction is being single-stepped, */
	unsigned long vaddr;          /* the address of that instruction, */
	unsigned long xol_vaddr;      /* and the address of the copy that is stepped */
} __attribute__((preserve_access_index));

/* kernel/sched/sched.h: one for each CPU. */
struct rq {
	unsigned int nr_running; /* includes tasks that wait to run; never the idle task */
	u64 clock, clock_task;   /* updated together; clock_task stands still in interrupts */
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq; /* only with group scheduling (CONFIG_FAIR_GROUP_SCHED) */
} __attribute__((preserve_access_index));

/* include/linux/sched.h: CPU time up to the scheduler's latest update, at least at each switch and
 * each tick of the kernel. */
struct sched_entity {
	u64 exec_start, sum_exec_runtime; /* by rq.clock_task */
	u64 prev_sum_exec_runtime;        /* value at the last switch to the task */
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

/* Times by rq.clock. Not in every kernel configuration. */
struct sched_info {
	u64 run_delay;    /* time spent runnable and not running */
	u64 last_arrival; /* when the task was switched to */
	u64 last_queued;  /* since when it is runnable and not running; 0: it is not */
} __attribute__((preserve_access_index));

struct signal_struct {
	struct {
		int counter;
	} live; /* threads that have not exited */
} __attribute__((preserve_access_index));

struct cred {
	struct {
		unsigned int val;
	} uid; /* in the initial user namespace */
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags, __state;
	void *stack;
	int pid, tgid, on_cpu;
	char comm[16];
	const struct cred *cred;
	struct sched_info sched_info;
	struct sched_entity se;
	unsigned long nvcsw, nivcsw; /* switches away from it: as it waited, as it was preempted */
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct task_struct *real_parent, *group_leader;
	u64 start_boottime;
	u64 self_exec_id;
	struct completion *vfork_done;
	struct uprobe_task *utask; /* not in every kernel configuration */
	struct thread_struct thread;
} __attribute__((preserve_access_index));

/* include/linux/blk_types.h */
enum { REQ_OP_MASK = 0xff };

struct block_device {
	u32 bd_dev;
} __attribute__((preserve_access_index));

struct bvec_iter {
	u32 bi_size; /* bytes left to do */
} __attribute__((preserve_access_index));

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	u32 bi_opf;
	u8 bi_status; /* 0: no error so far */
	struct bvec_iter bi_iter;
} __attribute__((preserve_access_index));

/* include/linux/blk-mq.h */
struct request {
	struct bio *bio; /* those that are not complete yet */
} __attribute__((preserve_access_index));

/* include/linux/bpf.h and kernel/bpf/task_iter.c: the context of an iterator program. */
struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL after the last task */
} __attribute__((preserve_access_index));
