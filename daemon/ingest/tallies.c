/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns tallies and chains of stack nodes into samples and call paths.
 */
#include "ingest/tallies.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "bpf/block.h"
#include "bpf/python.h"
#include "bpf/wait.h"
#include "ingest/disks.h"
#include "ingest/drain.h"
#include "ingest/frames.h"
#include "ingest/source.h"
#include "ingest/tasks.h"
#include "profile/select.h"

#include <stdio.h>
#include <string.h>

#define NOT_SEEN "[unknown: not sampled]"

/* The tallies of one kind while they are turned into samples. */
struct tallying {
	struct half *half;
	struct frames frames;
	uint64_t words[MAX_STACK_FRAMES];
	uint64_t device; /* the latest, with its name */
	char disk[DISK_NAME_BYTES];
};

/* A kernel caller's pc is its return address, which may be the next function's first byte. */
static uint64_t kernel_pc(const struct tallying *on, size_t at)
{
	return at ? on->words[at] - 1 : on->words[at];
}

/* Adds a user stack of the process to the path `root`. */
static uint32_t add_user(struct tallying *on, uint32_t root, uint64_t key, uint32_t pid,
                         const struct image *image)
{
	struct stack_words stack = {.words = on->words};

	stack.len = stack_index_words(&on->half->index, key, on->words, &stack.whole);
	/* The record of a mapping was lost. */
	if (image && !frames_are_mapped(image, &stack))
		procs_look_again(on->half->tables->procs, pid);
	on->frames.places.met_closed = false;
	on->frames.root = root;
	uint32_t path = frames_add(&on->frames, image, &stack);
	if (on->frames.places.met_closed)
		procs_open_again(on->half->tables->procs, pid);
	return path;
}

static uint32_t add_kernel(struct tallying *on, uint64_t key, uint32_t path)
{
	bool whole;
	size_t len = stack_index_words(&on->half->index, key, on->words, &whole);

	while (len-- > 0)
		path = builder_node(on->frames.builder, path,
		                    places_kernel(&on->frames.places, kernel_pc(on, len)));
	return path;
}

/* Adds what a thread waits for to its user stack. */
static uint32_t add_lock(struct tallying *on, uint32_t path, const struct tally_key *key,
                         const struct image *image)
{
	struct places *places = &on->frames.places;

	return builder_node(on->frames.builder, path,
	                    key->gil == GIL_WAITING ? places_gil(places)
	                                            : places_lock(places, image, key->futex));
}

static uint32_t add_pseudo(struct tallying *on, uint32_t path, const char *name)
{
	return builder_node(on->frames.builder, path, places_pseudo(&on->frames.places, name));
}

static const char *gil_name(uint8_t gil)
{
	static const char *const names[] = {
		[GIL_UNKNOWN] = "",        [GIL_HELD] = "held", [GIL_RELEASED] = "released",
		[GIL_WAITING] = "waiting", [GIL_NONE] = "none",
	};

	return gil < sizeof(names) / sizeof(names[0]) ? names[gil] : "";
}

/* The kind of memory that grew; "" for samples of other kinds. */
static const char *memory_name(const struct tally_key *key)
{
	static const char *const names[] = {
		[RESIDENT_FILE] = "file",
		[RESIDENT_ANON] = "anon",
		[RESIDENT_SHARED] = "shared",
	};

	if (key->kind != KIND_rss || key->detail >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[key->detail] ?: "";
}

/* Whether a disk was read for the page; "" for samples of other kinds. */
static const char *fault_name(const struct tally_key *key)
{
	if (key->kind != KIND_fault)
		return "";
	return key->detail ? "major" : "minor";
}

#define WAIT(id, name, about) [WAIT_##id] = (name),
/* Why a thread waits; "" for samples of other kinds. */
static const char *state_name(const struct tally_key *key)
{
	static const char *const names[] = {WAIT_STATES(WAIT)};

	return key->kind == KIND_offcpu ? names[WAIT_STATE_OF(key->detail)] : "";
}

/* What it waits in; "" for samples of other kinds, and of threads that only want a CPU. */
static const char *wait_name(const struct tally_key *key)
{
	static const char *const names[] = {WAIT_CALLS(WAIT)};
	uint8_t call = key->detail >> WAIT_CALL_SHIFT;

	if (key->kind != KIND_offcpu || WAIT_STATE_OF(key->detail) == WAIT_RUNNABLE)
		return "";
	return call < WAIT_CALL_COUNT ? names[call] : "";
}
#undef WAIT

/* What a disk was asked for; "" for samples of other kinds. */
static const char *operation_name(const struct tally_key *key)
{
#define OPERATION(id, name) [BLOCK_##id] = (name),
	static const char *const names[] = {BLOCK_OPERATIONS(OPERATION)};
#undef OPERATION

	return key->kind == KIND_block && key->detail < BLOCK_OPERATION_COUNT ? names[key->detail]
	                                                                      : "";
}

static void set_disk(struct tallying *on, struct task *task, const struct tally_key *key)
{
	if (key->kind != KIND_block)
		return;
	if (!on->disk[0] || on->device != key->device)
		disk_name(on->device = key->device, on->disk);
	task->direction = builder_text(on->frames.builder, operation_name(key));
	task->device = builder_text(on->frames.builder, on->disk);
}

static uint32_t add_task(struct tallying *on, const struct tally_key *key, const char *state,
                         const struct tally *tally, const struct image *image)
{
	struct builder *builder = on->frames.builder;
	struct task task = {
		.pid = key->pid,
		.tid = key->tid,
		.gil = builder_text(builder, gil_name(key->gil)),
		.memory = builder_text(builder, memory_name(key)),
		.fault = builder_text(builder, fault_name(key)),
		.state = builder_text(builder, state),
		.wait = builder_text(builder, wait_name(key)),
		.account = account_of(tally->user),
	};

	set_disk(on, &task, key);
	task_identify(&task, builder, on->half->tables, image, on->frames.ran, tally->last_ns);
	task_name_thread(&task, builder, on->half->tables,
	                 &(struct seen_task){key->image, tally->last_ns, key->thread});
	if (!image)
		task.comm =
			builder_string(builder, key->thread, strnlen(key->thread, TASK_COMM_BYTES));
	return builder_task(builder, &task);
}

static void add_tally(struct tallying *on, const struct tally_key *key, const struct tally *tally)
{
	const struct image *image = procs_image(on->half->tables->procs, key->pid, tally->last_ns);
	uint64_t values[PROFILE_VALUES] = {tally->count, tally->value};
	uint32_t path;

	if (!image)
		on->half->losses->images_missing += tally->count;
	if (key->kind == KIND_block)
		values[2] = tally->took_ns;
	path = add_user(on, 0, key->user_stack, key->pid, image);
	if (key->kind == KIND_offcpu && key->futex)
		path = add_lock(on, path, key, image);
	path = add_kernel(on, key->kernel_stack, path);
	if (!path)
		path = add_pseudo(on, 0, "[no stack]");
	builder_sample(on->frames.builder, path, add_task(on, key, state_name(key), tally, image),
	               values);
}

/* Requests to disks that no process has submitted: the kernel half has put a name in brackets in
 * the place of the thread's. */
static void add_nobodys(struct tallying *on, const struct tally_key *key, const struct tally *tally)
{
	struct builder *builder = on->frames.builder;
	uint64_t values[PROFILE_VALUES] = {tally->count, tally->value, tally->took_ns};
	char name[TASK_COMM_BYTES + 1];
	struct task task = {0};

	snprintf(name, sizeof(name), "%.*s", TASK_COMM_BYTES, key->thread);
	task.comm = builder_text(builder, name);
	set_disk(on, &task, key);
	builder_sample(builder, add_kernel(on, key->kernel_stack, add_pseudo(on, 0, name)),
	               builder_task(builder, &task), values);
}

/* The frame at the root of a stack that ended waits names its process: "[woken by NAME]". */
static uint32_t add_waker_name(struct tallying *on, const struct tally_key *key,
                               const struct image *image)
{
	char name[sizeof("[woken by ]") + TASK_COMM_BYTES];

	if (!key->pid)
		return add_pseudo(on, 0, "[woken in an interrupt]");
	if (!image)
		return add_pseudo(on, 0, "[woken by a process not known]");
	snprintf(name, sizeof(name), "[woken by %.*s]", TASK_COMM_BYTES, image->comm);
	return add_pseudo(on, 0, name);
}

/* The stack that ended the waits, and above it the user stack that waited. */
static void add_waker(struct tallying *on, const struct tally_key *key, const struct tally *tally)
{
	struct procs *procs = on->half->tables->procs;
	const struct image *waker = procs_image(procs, key->pid, tally->last_ns), *image;
	uint64_t values[PROFILE_VALUES] = {tally->count, tally->value};
	struct tally_key waits = {.kind = KIND_waker};
	struct woken woken;
	uint32_t path;

	memcpy(&woken, key->thread, sizeof(woken));
	waits.pid = woken.pid;
	waits.tid = woken.tid;
	path = add_waker_name(on, key, waker);
	if (key->kernel_stack == STACK_NONE && key->user_stack == STACK_NONE)
		path = add_pseudo(on, path, NOT_SEEN);
	path = add_user(on, path, key->user_stack, key->pid, waker);
	path = add_kernel(on, key->kernel_stack, path);
	path = add_pseudo(on, path, WAKES_FRAME);
	image = procs_image(procs, woken.pid, tally->last_ns);
	if (!image || (key->pid && !waker))
		on->half->losses->images_missing += tally->count;
	path = add_user(on, path, woken.user_stack, woken.pid, image);
	if (image)
		snprintf(waits.thread, sizeof(waits.thread), "%s", image->comm);
	builder_sample(on->frames.builder, path, add_task(on, &waits, "", tally, image), values);
}

static struct tallying begin(struct half *half, struct builder *into)
{
	return (struct tallying){
		.half = half,
		.frames = frames_of(half->tables, into, half->losses),
	};
}

int tallies_fill(struct half *half, struct source_state *state, struct builder *into,
                 uint64_t *ret_samples)
{
	const struct drained *drained = half->drained;
	struct tallying on = begin(half, into);

	*ret_samples = 0;
	for (size_t i = 0; i < drained->tally_count; i++) {
		if (drained->tally_keys[i].kind != state->kind)
			continue;
		*ret_samples += drained->tallies[i].count;
		if (state->kind == KIND_waker)
			add_waker(&on, &drained->tally_keys[i], &drained->tallies[i]);
		else if (state->kind == KIND_block && !drained->tally_keys[i].pid)
			add_nobodys(&on, &drained->tally_keys[i], &drained->tallies[i]);
		else
			add_tally(&on, &drained->tally_keys[i], &drained->tallies[i]);
	}
	places_release(&on.frames.places);
	return 0;
}

void tallies_add_unseen(struct half *half, struct builder *into, size_t at, uint64_t value)
{
	const struct tally *tally = &half->drained->tallies[at];
	struct tally_key key = half->drained->tally_keys[at];
	uint64_t values[PROFILE_VALUES] = {0, value};
	struct tallying on = begin(half, into);
	const struct image *image = procs_image(half->tables->procs, key.pid, tally->last_ns);

	key.gil = GIL_UNKNOWN;
	key.detail = WAIT_RUNNABLE; /* it names no call */
	builder_sample(into, add_pseudo(&on, 0, NOT_SEEN),
	               add_task(&on, &key, "unknown", tally, image), values);
	places_release(&on.frames.places);
}
