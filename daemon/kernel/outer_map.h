/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A BPF array of maps, changed without waiting for the kernel. A call that changes one returns only
 * when all programs that were running have ended (synchronize_rcu() in kernel/bpf/syscall.c, so
 * that user space knows that none still uses the old map). That takes 5 to 20 ms on an idle host,
 * and a second on a host whose CPUs are busy. Here a thread waits for that. What the functions
 * below return holds for programs that begin from now on. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"

/* Puts `count` maps into the array with descriptor `array`, from the place `first` on; none of
 * these places may be taken. Returns how many were put, the first ones. If these are not all,
 * *ret_err says why. */
u32 outer_map_put(int array, u32 first, const u32 *fds, u32 count, int *ret_err);
/* Empties a place, which may then be used again. 0 or a negative errno. */
int outer_map_remove(int array, u32 place);
