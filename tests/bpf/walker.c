/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walker's own sources, and the helpers that they call, as one object for each machine. WALKER
 * and WALKER_STORE are the names of its entry points, the only symbols that stay visible in the
 * object.
 */
#include "tests/bpf/walker.h"

#include <bpf/bpf_helpers.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A program's constants are set by the loader. Here tests set them, so they must not be const. */
#define const
#include "bpf/maps.bpf.c"
#include "bpf/task.bpf.c"
#include "bpf/walk/unwind.bpf.c"
#include "bpf/walk/unwind_native.bpf.c"
#include "bpf/python/unwind_python.bpf.c"
#include "bpf/user.bpf.c"
#undef const

/* The second half, in a lane that is not the first. */
enum { AT = LANE_PROBE << LANE_SHIFT | 1 };

struct call {
	const struct walker_input *input;
	struct walker_result *result;
	struct scratch *scratch;
	struct python_walk *walk;
	struct counters counters[AT_COUNT];
	struct mm_struct mm;
	struct task_struct task, parent;
	struct uprobe_task utask;
	struct xol_area area;
	struct return_instance returns[WALKER_MAX_RETURNS];
	u32 lane, uid;
	struct walker_nodes *nodes;
};

static const struct hash_key some_key = {0x243f6a8885a308d3, 0x9e3779b97f4a7c15};

/* A helper has no argument by which it could find its call. */
static struct call *current;

static void *element(void *values, size_t size, size_t count, u32 at)
{
	return at < count ? (char *)values + at * size : NULL;
}

_Static_assert(sizeof(struct python_thread) * PYTHON_THREADS == WALKER_THREADS_WORDS * sizeof(u64),
               "room for what is remembered");
_Static_assert(sizeof(struct ring_user) * ACCOUNT_PLACES == WALKER_USERS_WORDS * sizeof(u64),
               "room for what users told");
_Static_assert((u32)SCRATCH_FRAMES == (u32)WALKER_MAX_WORDS, "room for every word");

static void *python_element(void *map, u32 at)
{
	struct walker_python *python = current->input->python;

	if (map == &python_walks)
		return at == LANE_PROBE ? current->walk : NULL;
	if (map == &python_processes)
		return python && at == current->input->pid ? &python->process : NULL;
	if (map == &python_threads)
		return element(python->threads, sizeof(struct python_thread), PYTHON_THREADS, at);
	if (map == &python_users)
		return element(python->users, sizeof(struct ring_user), ACCOUNT_PLACES, at);
	if (map == &python_sent)
		return element(python->sent, sizeof(*python->sent), PYTHON_SENT, at);
	abort();
}

static void *find_node(u64 key)
{
	for (u32 i = 0; i < current->nodes->count; i++)
		if (current->nodes->keys[i] == key)
			return &current->nodes->keys[i];
	return NULL;
}

static bool is_stacks(const void *map)
{
	return map == (current->lane == LANE_TICK ? &stacks_0 : &stacks_1);
}

static void *stored_element(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (is_stacks(map))
		return find_node(*(const u64 *)key);
	if (map == &scratches)
		return at == current->lane ? current->scratch : NULL;
	if (map == &counters)
		return element(current->counters, sizeof(*current->counters), AT_COUNT, at);
	abort();
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	const struct walker_maps *maps;
	u32 at = *(const u32 *)key;

	if (current->nodes)
		return stored_element(map, key);
	maps = current->input->maps;
	if (map == &unwind_chunks)
		return element(maps->pool, CHUNK_WORDS * sizeof(u32),
		               maps->pool_words / CHUNK_WORDS, at);
	/* The walker looks up a chunk, and then the chunk's one value. */
	if ((u32 *)map >= maps->pool && (u32 *)map < maps->pool + maps->pool_words)
		return at ? NULL : map;
	if (map == &unwind_tables)
		return element(maps->tables, sizeof(*maps->tables), maps->table_count, at);
	if (map == &unwind_mappings)
		return element(maps->mappings, sizeof(*maps->mappings), maps->mapping_count, at);
	if (map == &unwind_slots)
		return element(maps->slots, sizeof(*maps->slots), maps->slot_count, at);
	if (map == &scratches)
		return at == LANE_PROBE ? current->scratch : NULL;
	if (map == &counters)
		return element(current->counters, sizeof(*current->counters), AT_COUNT, at);
	return python_element(map, at);
}

long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	struct walker_nodes *nodes = current->nodes;

	if (!nodes || !is_stacks(map) || flags != BPF_NOEXIST)
		abort();
	if (nodes->count == nodes->room)
		return -7; /* -E2BIG */
	nodes->keys[nodes->count++] = *(const u64 *)key;
	return 0;
}

long bpf_ringbuf_output(void *map, void *bytes, u64 len, u64 flags)
{
	struct walker_python *python = current->input->python;

	if (map == &wakes)
		return 0;
	if (map != &python_codes || len > MAX_PYTHON_CODE || flags)
		abort();
	if (python->told && python->told(bytes, len, python->ctx))
		return -1;
	python->codes_told += (len + 15) & ~7ULL;
	return 0;
}

long bpf_probe_read_user(void *into, u32 len, const void *from)
{
	const struct walker_input *input = current->input;

	current->result->reads++;
	if (input->read((u64)from, into, len, input->ctx) == 0)
		return 0;
	memset(into, 0, len);
	return -14; /* -EFAULT */
}

/* The walker reads only the list of pending returns. */
long bpf_probe_read_kernel(void *into, u32 len, const void *from)
{
	uintptr_t at = (uintptr_t)from - (uintptr_t)current->returns;

	if (at >= sizeof(current->returns) || len > sizeof(current->returns) - at)
		abort();
	memcpy(into, from, len);
	return 0;
}

long bpf_loop(u32 times, void *callback, void *context, u64 flags)
{
	long (*one)(u32 index, void *context) = callback;
	u32 i = 0;

	if (flags)
		abort();
	while (i < times)
		if (one(i++, context))
			break;
	return i;
}

u64 bpf_get_current_pid_tgid(void)
{
	return (u64)current->input->pid << 32 | current->input->pid;
}

u64 bpf_get_current_uid_gid(void)
{
	return current->uid;
}

u64 bpf_ringbuf_query(void *map, u64 what)
{
	if (map != &python_codes || (what != BPF_RB_CONS_POS && what != BPF_RB_PROD_POS))
		abort();
	return what == BPF_RB_CONS_POS ? current->input->python->codes_read
	                               : current->input->python->codes_told;
}

u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

u64 bpf_ktime_get_ns(void)
{
	return 0;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	struct task_struct *task = &current->task;

	task->tgid = (int)current->input->pid;
	task->group_leader = task;
	task->mm = &current->mm;
	task->real_parent = &current->parent;
	if (current->input->python)
#if defined(__TARGET_ARCH_x86)
		task->thread.fsbase = current->input->python->thread_pointer;
#else
		task->thread.uw.tp_value = current->input->python->thread_pointer;
#endif
	task->utask = current->input->return_count ? &current->utask : NULL;
	current->parent.tgid = (int)current->input->parent_pid;
	current->parent.mm = current->input->parent_pid ? &current->mm : NULL;
	return task;
}

u64 bpf_get_current_task(void)
{
	return (u64)bpf_get_current_task_btf();
}

static const char *const names[] = {
#define COUNTER(name, help) #name,
	COUNTERS(COUNTER)
#undef COUNTER
};

static bool is_outcome(u32 counter)
{
	switch (counter) {
	case COUNTER_walk_complete:
#define CASE(name, help) case COUNTER_##name:
		WALK_CUTS(CASE)
#undef CASE
		return true;
	}
	return false;
}

/* The outcome that was counted; exactly one must be. */
static u32 find_outcome(const u64 *values)
{
	u32 outcome = COUNTER_COUNT;

	for (u32 i = 0; i < COUNTER_COUNT; i++) {
		if (!is_outcome(i) || values[i] == 0)
			continue;
		if (values[i] > 1 || outcome != COUNTER_COUNT)
			abort();
		outcome = i;
	}
	if (outcome == COUNTER_COUNT)
		abort();
	return outcome;
}

static u32 count_native(const u64 *words, u32 len)
{
	u32 native = 0;

	for (u32 i = 0; i < len; i++)
		native += (words[i] & WORD_KIND) == 0 || (words[i] & WORD_KIND) == WORD_LOOP ||
		          (words[i] & WORD_KIND) == WORD_KIND; /* [vsyscall] */
	return native;
}

static void take_result(u32 len, struct walker_result *result)
{
	const u64 *values = current->counters[AT].values;

	result->outcome = find_outcome(values);
	result->ended = names[result->outcome];
	result->by_pointer = (u32)values[COUNTER_frames_by_pointer];
	if (result->outcome != COUNTER_walk_complete &&
	    (len == 0 || current->scratch->frames[--len] != result->outcome))
		abort();
	if (len >= WALKER_MAX_WORDS || values[COUNTER_frames] > MAX_USER_FRAMES ||
	    (!current->input->python && len != values[COUNTER_frames]))
		abort();
	/* Every native frame is there, unless Python frames left no room for it. */
	if (result->outcome != COUNTER_cut_truncated &&
	    count_native(current->scratch->frames, len) + values[COUNTER_python_natives_left_out] !=
	            values[COUNTER_frames])
		abort();
	result->gil = (u32)current->scratch->gil;
	memcpy(result->counters, values, sizeof(result->counters));
	result->len = len;
	memcpy(result->frames, current->scratch->frames, len * sizeof(u64));
}

static void list_returns(struct call *call, const struct walker_input *input)
{
	struct return_instance **link = &call->utask.return_instances;

	for (size_t i = 0; i < input->return_count && i < WALKER_MAX_RETURNS; i++) {
		call->returns[i].stack = input->returns[i].stack;
		call->returns[i].orig_ret_vaddr = input->returns[i].address;
		*link = &call->returns[i];
		link = &call->returns[i].next;
	}
	call->area.vaddr = input->trampoline;
	call->mm.uprobes_state.xol_area = &call->area;
}

void WALKER(const struct walker_input *input, struct walker_result *ret_result)
{
	struct call call = {.input = input, .result = ret_result, .lane = LANE_PROBE};

	call.scratch = malloc(sizeof(*call.scratch));
	call.walk = malloc(sizeof(*call.walk));
	if (!call.scratch || !call.walk)
		abort();
	/* In the kernel, scratch memory holds what the previous walk left there. */
	memset(call.scratch, 0xa5, sizeof(*call.scratch));
	memset(call.walk, 0xa5, sizeof(*call.walk));
	memcpy(call.scratch->regs, input->registers, sizeof(call.scratch->regs));
	memset(ret_result, 0, sizeof(*ret_result));
	hash_key = some_key;
	slot_count = (u32)input->maps->slot_count;
	unwind_epoch = 1;
	list_returns(&call, input);
	call.uid = input->python ? input->python->uid : 0;
	current = &call;
	take_result(unwind_stack(AT, input->pc), ret_result);
	current = NULL;
	free(call.scratch);
	free(call.walk);
}

u64 WALKER_STORE(struct walker_nodes *nodes, u32 uid, bool is_tick, const u64 *frames, u32 len)
{
	struct call call = {.nodes = nodes, .uid = uid};
	u32 at = is_tick ? LANE_TICK << LANE_SHIFT : AT;
	u64 id;

	call.lane = at >> LANE_SHIFT;
	call.scratch = calloc(1, sizeof(*call.scratch));
	if (!call.scratch || nodes->room > WALKER_MAX_NODES || len > SCRATCH_FRAMES)
		abort();
	memcpy(call.scratch->frames, frames, len * sizeof(*frames));
	hash_key = some_key;
	node_room = nodes->room;
	others_room.stacks = nodes->others_room;
	others_nodes[at & 1] = nodes->others_taken;
	nodes_taken[at & 1] = nodes->taken;
	current = &call;
	id = stack_store(at, len);
	current = NULL;
	nodes->others_taken = others_nodes[at & 1];
	nodes->taken = nodes_taken[at & 1];
	nodes->over_share += call.counters[at].values[COUNTER_stacks_over_share];
	free(call.scratch);
	return id;
}
