/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/unit/drain_fixture.h"

#include "base/bounds.h"
#include "ingest/source.h"

#include <string.h>

enum {
	NODES = 80,          /* more than the longest stack takes */
	FILE_START = 0x1000, /* mapped in PID */
	JIT_START = 0x8000,
};

struct python_codes *codes;
struct drain_tables drain_tables;
struct drain_losses losses;
struct tally_key key;
struct tally tally = {.count = 2, .value = 20, .last_ns = 200};
struct stack_node nodes[NODES];

static struct runtimes runtimes;
static u64 node_keys[NODES];

static bool find(void *own, uint64_t name, uint32_t offset, struct runtime_frame *ret_frame)
{
	return python_codes_find(own, name, offset, ret_frame);
}

static uint32_t no_version(const void *own, uint32_t pid)
{
	(void)own;
	(void)pid;
	return 0;
}

static uint64_t no_time(const void *own, uint32_t pid, uint64_t image_mono_ns)
{
	(void)own;
	(void)pid;
	(void)image_mono_ns;
	return 0;
}

static const char *no_name(void *own, const struct runtime_thread *thread)
{
	(void)own;
	(void)thread;
	return NULL;
}

/* A runtime that has code objects only. */
static const struct runtime python = {
	.name = "python",
	.find = find,
	.version = no_version,
	.began = no_time,
	.thread_name = no_name,
};

/* Adds a code object of 3.8, work or main. From byte 4 of its code on it is one line further down,
 * and from byte 8 on two lines. */
static void tell(u64 signature, const char *name)
{
	static const u8 lines[] = {4, 1, 4, 1};
	static const char file[] = "/app/a.py";
	u8 bytes[256];
	struct python_code code = {
		.signature = signature,
		.pid = PID,
		.version = 0x0308,
		.first_line = 10,
		.lines_bytes = sizeof(lines),
		.name_bytes = (u16)strlen(name),
		.file_bytes = sizeof(file) - 1,
		.name_kind = 1,
		.file_kind = 1,
	};
	size_t len = 0;

	memcpy(bytes, &code, sizeof(code));
	len += sizeof(code);
	memcpy(bytes + len, name, code.name_bytes);
	len += code.name_bytes;
	memcpy(bytes + len, file, code.file_bytes);
	len += code.file_bytes;
	memcpy(bytes + len, lines, sizeof(lines));
	ck_assert_int_eq(python_codes_add(codes, 0, bytes, len + sizeof(lines)), 0);
}

void drain_set_up(void)
{
	static const struct file_key no_file;

	drain_tables.store = store_new(16);
	drain_tables.procs = procs_new(drain_tables.store);
	codes = python_codes_new(1 << 20);
	runtimes.at[RUNTIME_python].runtime = &python;
	runtimes.at[RUNTIME_python].own = codes;
	drain_tables.runtimes = &runtimes;
	losses = (struct drain_losses){0};
	key = (struct tally_key){.pid = PID, .tid = PID, .thread = "thread"};
	procs_exec(drain_tables.procs, PID, "program", 100);
	procs_mmap(drain_tables.procs, PID, FILE_START, 0x3000, 0, &no_file, "/no/such/file");
	procs_mmap(drain_tables.procs, PID, JIT_START, 0x9000, 0, &no_file, "");
	tell(0xaa, "main");
	tell(0xbb, "work");
}

void drain_tear_down(void)
{
	procs_free(drain_tables.procs);
	store_free(drain_tables.store);
	python_codes_free(codes);
}

size_t put_stack(const u64 *words, size_t len)
{
	size_t count = 0;
	u64 parent = STACK_NONE;

	while (len) {
		size_t here = len < NODE_FRAMES ? len : NODE_FRAMES;
		struct stack_node *node = &nodes[count];

		*node = (struct stack_node){.parent = parent, .len = here};
		memcpy(node->frames, words + len - here, here * sizeof(u64));
		node_keys[count] = parent = STACK_FIRST + 0x1000 + count;
		len -= here;
		count++;
		ck_assert_uint_lt(count, NODES);
	}
	key.user_stack = parent;
	return count;
}

static const enum counter kind_samples[] = {
	[KIND_cpu] = COUNTER_samples,
	[KIND_rss] = COUNTER_rss_samples,
	[KIND_mmap] = COUNTER_mmap_samples,
	[KIND_offcpu] = COUNTER_waits,
};

struct profile *drain(size_t stack_count)
{
	struct drained drained = {
		.tally_keys = &key,
		.tallies = &tally,
		.tally_count = 1,
		.stack_keys = node_keys,
		.stacks = nodes,
		.stack_count = stack_count,
	};
	struct half half = {
		.drained = &drained,
		.span = {.end_mono_ns = 300},
		.tables = &drain_tables,
		.losses = &losses,
	};
	struct profile *slices[KIND_COUNT] = {0};

	drained.counters.values[kind_samples[key.kind]] = tally.count;
	ck_assert_int_eq(stack_index_build(&half.index, &drained), 0);
	for (size_t kind = 0; kind < sizeof(kind_samples) / sizeof(kind_samples[0]); kind++) {
		struct source_state state = {.kind = (enum profile_kind)kind, .period = 10};

		ck_assert_int_eq(drain_slice(&half, &state, &slices[kind]), 0);
		ck_assert_uint_eq(slices[kind]->sample_count, kind == key.kind ? 2 : 1);
		if (kind != key.kind)
			profile_unref(slices[kind]);
	}
	stack_index_release(&half.index);
	return slices[key.kind];
}

struct profile *drain_words(const u64 *words, size_t len)
{
	return drain(put_stack(words, len));
}
