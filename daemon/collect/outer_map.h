/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A BPF array of maps, changed without waiting for the kernel. A call that changes one comes back
 * when all programs that ran have ended (synchronize_rcu() in kernel/bpf/syscall.c, for user space
 * to know that none still has the old map): 5 to 20 ms on a host with nothing to do, and a second
 * on one whose CPUs are busy. Here a thread waits for that, and what comes back is true of programs
 * that begin from now on. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"

/* `array`: its descriptor. Puts so many maps from the place `first` on, none of which is taken; how
 * many that were, the first ones, with less than all when *ret_err says why. */
u32 outer_map_put(int array, u32 first, const u32 *fds, u32 count, int *ret_err);
/* Empties a place, which may be taken again. 0 or a negative errno. */
int outer_map_remove(int array, u32 place);
