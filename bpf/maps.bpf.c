/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one definition of every map and variable the halves share. Its object must come first when
 * the objects are linked: libbpf finds the maps of the others through it.
 */
#include "bpf/maps.bpf.h"

struct stack_map stacks_0 SEC(".maps");
struct stack_map stacks_1 SEC(".maps");
struct tally_map tallies_0 SEC(".maps");
struct tally_map tallies_1 SEC(".maps");
struct counter_map counters SEC(".maps");
struct scratch_map scratches SEC(".maps");

u64 flip;
struct cpu_busy cpus[MAX_CPUS];

char LICENSE[] SEC("license") = "Dual BSD/GPL";
