/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The few kernel types the programs use, instead of a vmlinux.h of three megabytes: what we rely on
 * can be read here. Fields of task_struct are relocated (CO-RE) to the running kernel's layout.
 */
#pragma once

/* bpf_tracing.h then uses the kernel's register names. */
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
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_MMAPABLE = 1 << 10 };

/* include/uapi/asm-generic/errno-base.h */
enum { EEXIST = 17 };

/* include/linux/sched.h */
enum { PF_KTHREAD = 0x00200000 };

/* Both layouts are ABI (the saved registers of signal frames and ptrace), so no relocation. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	u64 orig_ax, ip, cs, flags, sp, ss;
};
#define REGS_PC(regs)     ((regs)->ip)
#define REGS_MODE(regs)   ((regs)->cs)
#define REGS_USER(regs)   (((regs)->cs & 3) == 3)
#define REGS_COMPAT(regs) (((regs)->cs & 0xffff) == 0x23)
/* Entered by a system call, so that pc is behind the instruction. */
#define REGS_SYSCALL(regs) ((s64)(regs)->orig_ax != -1)

#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 regs[31], sp, pc, pstate;
};
#define REGS_PC(regs)      ((regs)->pc)
#define REGS_MODE(regs)    ((regs)->pstate)
#define REGS_USER(regs)    (((regs)->pstate & 0xf) == 0)
#define REGS_COMPAT(regs)  (((regs)->pstate & 0x10) != 0)
#define REGS_SYSCALL(regs) 0 /* not told by these; the row is the same on both sides of an svc */
#else
#error "profd walks stacks on x86-64 and arm64"
#endif

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	struct pt_regs regs;
	u64 sample_period;
	u64 addr;
};

struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

/* Only what has changed since it was last switched to is elsewhere: nothing, for a thread pointer.
 */
struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	int tgid;
	struct mm_struct *mm;
	struct task_struct *real_parent, *group_leader;
	u64 start_boottime;
	u64 self_exec_id;
	struct thread_struct thread;
} __attribute__((preserve_access_index));
