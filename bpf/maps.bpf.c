/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one definition of every shared map and variable. This object must come first when the objects
 * are linked: libbpf finds the maps of the others through it.
 */
#include "bpf/maps.bpf.h"

#include "bpf/growth/growth.bpf.h"
#include "bpf/hash.bpf.h"
#include "bpf/python/python_maps.bpf.h"
#include "bpf/static_probe.bpf.h"
#include "bpf/wake.bpf.h"

struct stack_map stacks_0 SEC(".maps");
struct stack_map stacks_1 SEC(".maps");
struct kept_stack_map kept_stacks SEC(".maps");
struct tally_map tallies_0 SEC(".maps");
struct tally_map tallies_1 SEC(".maps");
struct counter_map counters SEC(".maps");
struct scratch_map scratches SEC(".maps");
struct unwind_chunk_map unwind_chunks SEC(".maps");
struct unwind_table_map unwind_tables SEC(".maps");
struct unwind_mapping_map unwind_mappings SEC(".maps");
struct unwind_slot_map unwind_slots SEC(".maps");
struct unwind_slot_map unwind_execs SEC(".maps");
struct python_process_map python_processes SEC(".maps");
struct python_thread_map python_threads SEC(".maps");
struct python_sent_map python_sent SEC(".maps");
struct python_code_map python_codes SEC(".maps");
struct python_walk_map python_walks SEC(".maps");
struct ring_user_map python_users SEC(".maps");
struct static_site_map static_sites SEC(".maps");
struct wake_map wakes SEC(".maps");
struct growth_pace_map growth_paces SEC(".maps");

const volatile struct hash_key hash_key = {0, 1};
const volatile u32 slot_count = SLOTS_PER_BUCKET;

const volatile u64 growth_ns = 1;
const volatile u32 growth_burst = 1;
const volatile struct others_room others_room = {1, 1};
const volatile u32 node_room = 1;

struct taken others_tallies[HALVES];
struct taken nodes_taken[HALVES], others_nodes[HALVES];
u64 flip, lane_busy, wake_armed;
u32 resident_is_watched;
u32 unwind_epoch;
struct cpu_busy cpus[MAX_CPUS];

char LICENSE[] SEC("license") = "Dual BSD/GPL";
