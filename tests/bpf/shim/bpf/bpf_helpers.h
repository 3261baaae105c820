/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name where the walker is compiled as plain C. It has
 * the same macros, which mean nothing to the linker, and declares the helpers as ordinary functions
 * (defined in tests/bpf/walker.c).
 */
#pragma once

#include "bpf/kernel.bpf.h"

#undef __always_inline
#undef __noinline
#define __always_inline inline __attribute__((always_inline))
#define __noinline      __attribute__((noinline))
#define __weak          __attribute__((weak))
#define __hidden
#define SEC(name)
#define __uint(name, value)  int(*name)[value]
#define __type(name, value)  __typeof__(value) *name
#define __array(name, value) __typeof__(value) *(name)[]

#define barrier()        __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

#ifndef NULL
#define NULL ((void *)0)
#endif

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
long bpf_ringbuf_output(void *map, void *bytes, u64 len, u64 flags);
long bpf_probe_read_user(void *into, u32 len, const void *from);
long bpf_probe_read_kernel(void *into, u32 len, const void *from);
long bpf_loop(u32 times, void *step, void *context, u64 flags);
u64 bpf_get_current_pid_tgid(void);
u64 bpf_get_current_uid_gid(void);
u64 bpf_ringbuf_query(void *map, u64 what);
u32 bpf_get_smp_processor_id(void);
u64 bpf_ktime_get_ns(void);
u64 bpf_ktime_get_boot_ns(void);
u32 bpf_get_prandom_u32(void);
struct task_struct *bpf_get_current_task_btf(void);
u64 bpf_get_current_task(void);
