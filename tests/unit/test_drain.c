/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drained halves: how the words of a stack become frames, and what the kernel half says about a
 * task.
 */
#include "ingest/drain.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "bpf/python.h"
#include "ingest/source.h"
#include "profile/quality.h"
#include "python/python_codes.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

enum {
	PID = 4000001,       /* no process has it: above the kernel's default limit */
	NODES = 80,          /* more than the longest stack takes */
	MAX_WORDS = 1100,    /* of a stack in these tests */
	FILE_START = 0x1000, /* mapped in PID */
	JIT_START = 0x8000,
};

#define P(signature) (WORD_PYTHON | (signature))
#define O(offset)    (WORD_OFFSET | (offset))
#define L(address)   (WORD_LOOP | (address))

static struct python_codes *codes;
static struct runtimes runtimes;
static struct drain_tables tables;
static struct drain_losses losses;
static struct stack_node nodes[NODES];
static u64 node_keys[NODES];
static struct tally_key key;
static struct tally tally = {.count = 2, .value = 20, .last_ns = 200};

/* ---- a runtime that has code objects only ---------------------------------------------------- */

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

static void set_up(void)
{
	static const struct file_key no_file;

	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	codes = python_codes_new(1 << 20);
	runtimes.at[RUNTIME_python].runtime = &python;
	runtimes.at[RUNTIME_python].own = codes;
	tables.runtimes = &runtimes;
	losses = (struct drain_losses){0};
	key = (struct tally_key){.pid = PID, .tid = PID, .thread = "thread"};
	procs_exec(tables.procs, PID, "program", 100);
	procs_mmap(tables.procs, PID, FILE_START, 0x3000, 0, &no_file, "/no/such/file");
	procs_mmap(tables.procs, PID, JIT_START, 0x9000, 0, &no_file, "");
	tell(0xaa, "main");
	tell(0xbb, "work");
}

static void tear_down(void)
{
	procs_free(tables.procs);
	store_free(tables.store);
	python_codes_free(codes);
}

/* Makes the nodes of one stack, which is divided from its root end. key.user_stack becomes the key
 * of the leaf's node. */
static size_t put_stack(const u64 *words, size_t len)
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

static struct profile *drain(size_t stack_count)
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
		.tables = &tables,
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

static struct profile *drain_words(const u64 *words, size_t len)
{
	return drain(put_stack(words, len));
}

static void print_location(const struct profile *slice, uint32_t id, char *text, size_t room)
{
	static const char *const kinds[] = {"file", "kernel", "pseudo", "loop", "interpreted"};
	const struct location *location = &slice->locations[id];
	const struct mapping *mapping = &slice->mappings[location->mapping];
	const struct line *line = &slice->lines[location->first_line];
	const struct function *function = &slice->functions[line->function];

	if (location->line_count)
		snprintf(text, room, "%s %s %s:%u from %u", profile_string(slice, mapping->path),
		         profile_string(slice, function->name),
		         profile_string(slice, function->filename), line->number,
		         function->start_line);
	else if (mapping->kind == MAPPING_PSEUDO || mapping->kind == MAPPING_INTERPRETED)
		snprintf(text, room, "%s", profile_string(slice, mapping->path));
	else
		snprintf(text, room, "%s %#llx", kinds[mapping->kind],
		         (unsigned long long)location->address);
}

/* The call path of the only sample, root first, with "; " between frames. */
static const char *path_of(const struct profile *slice)
{
	static char text[4096], rest[4096], frame[256];

	text[0] = '\0';
	for (uint32_t id = slice->samples[1].node; id; id = slice->nodes[id].parent) {
		print_location(slice, slice->nodes[id].location, frame, sizeof(frame));
		snprintf(rest, sizeof(rest), "%s", text);
		snprintf(text, sizeof(text), "%s%s%.3000s", frame, rest[0] ? "; " : "", rest);
	}
	return text;
}

#define MAIN_10    "[python 3.8] main /app/a.py:10 from 10"
#define MAIN_11    "[python 3.8] main /app/a.py:11 from 10"
#define WORK_12    "[python 3.8] work /app/a.py:12 from 10"
#define UNMAPPED   "[unknown: address outside every mapping]"
#define NO_INFO    "[unknown: no unwind information]"
#define NO_RUNNER  "[unknown: what runs these interpreted frames]"
#define NO_CODE    "[python: code not known]"
#define WORDS(...) {__VA_ARGS__}, sizeof((u64[]){__VA_ARGS__}) / sizeof(u64)

static const struct stack_case {
	u64 words[12];
	size_t len;
	const char *path;
	struct drain_losses losses;
} stack_cases[] = {
	{WORDS(0x1010, 0x1020), "file 0x20; file 0x10", {0}},
	/* Python frames are placed among the native ones. */
	{WORDS(0x1010, P(0xbb), O(8), P(0xaa), O(4), L(0x1020), 0x1030),
         "file 0x30; loop 0x20; " MAIN_11 "; " WORK_12 "; file 0x10",
         {0}},
	/* A callback makes two runs of Python frames. */
	{WORDS(P(0xbb), O(9), L(0x1020), 0x1040, P(0xaa), O(0), L(0x1021), 0x1030),
         "file 0x30; loop 0x21; " MAIN_10 "; file 0x40; loop 0x20; " WORK_12,
         {0}},
	{WORDS(L(0x8010), 0x8020), "[jit]; [jit]", {0}},
	{WORDS(P(0xcc), O(8), L(0x1020)), "loop 0x20; " NO_CODE, {.codes_unknown = 1}},
	/* A word that stands alone is no frame. */
	{WORDS(P(0xbb), 0x1010), "file 0x10", {.words_misplaced = 1}},
	{WORDS(O(4), 0x1010), "file 0x10", {.words_misplaced = 1}},
	{WORDS(O(4), P(0xaa), 0x1010), "file 0x10", {.words_misplaced = 2}},
	{WORDS(P(0xbb), P(0xaa), O(4), O(8), 0x1010),
         "file 0x10; " MAIN_11,
         {.words_misplaced = 2}},
	{WORDS(P(0xbb)), NO_RUNNER, {.words_misplaced = 1}},
	/* An address outside every mapping ends the native frames, but not the Python frames. */
	{WORDS(0x1010, 0x7000, 0x1020), UNMAPPED "; file 0x10", {.frames_unmapped = 1}},
	{WORDS(0x1010, P(0xbb), O(8), L(0x7000), 0x1030, P(0xaa), O(4)),
         UNMAPPED "; " MAIN_11 "; " WORK_12 "; file 0x10",
         {.frames_unmapped = 1}},
	{WORDS(0xffffffffff600000, 0x1010), UNMAPPED, {.frames_unmapped = 1}},
	{WORDS(WORD_LOOP + WORD_PYTHON, 0x1010), UNMAPPED, {.frames_unmapped = 1}},
	/* A truncated native stack, with the Python frames that are left. */
	{WORDS(0x1010, P(0xaa), O(4), COUNTER_cut_no_rows),
         NO_INFO "; " MAIN_11 "; file 0x10",
         {0}},
	{WORDS(COUNTER_cut_no_rows), NO_INFO, {0}},
	{WORDS(0x1010, 0x1020, P(0xaa), O(4)),
         NO_RUNNER "; " MAIN_11 "; file 0x20; file 0x10",
         {0}},
};

START_TEST(words_become_frames)
{
	const struct stack_case *stack_case = &stack_cases[_i];
	_cleanup_(profile_unrefp) struct profile *slice =
		drain_words(stack_case->words, stack_case->len);

	ck_assert_str_eq(path_of(slice), stack_case->path);
	ck_assert_mem_eq(&losses, &stack_case->losses, sizeof(losses));
}
END_TEST

/* The kernel half reports an unknown code object again when it meets it again. */
START_TEST(asks_again_for_what_is_not_known)
{
	static const u64 words[] = {P(0xcc), O(4), P(0xaa), O(4), L(0x1020)};
	static u64 told[PYTHON_SENT];
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	told[0xaa] = 0xaa;
	told[0xcc ^ 1] = 0xcc;
	told[0xcc] = 0xcc + PYTHON_SENT;
	python_codes_told_in(codes, told);
	slice = drain_words(words, 5);
	ck_assert_uint_eq(told[0xaa], 0xaa);
	ck_assert_uint_eq(told[0xcc ^ 1], 0);
	ck_assert_uint_eq(told[0xcc], 0xcc + PYTHON_SENT);
}
END_TEST

START_TEST(every_frame_of_a_deep_stack)
{
	u64 words[MAX_STACK_FRAMES + 2];
	size_t frames = 0;
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	/* The number of words is odd, so that nodes divide the two words of a frame. */
	for (size_t at = 0; at < MAX_STACK_FRAMES - 2; at += 2) {
		words[at] = P(at % 4 ? 0xaa : 0xbb);
		words[at + 1] = O(4);
	}
	words[MAX_STACK_FRAMES - 2] = L(0x1020);
	slice = drain_words(words, MAX_STACK_FRAMES - 1);
	for (uint32_t id = slice->samples[1].node; id; id = slice->nodes[id].parent)
		frames++;
	ck_assert_uint_eq(frames, (MAX_STACK_FRAMES - 2) / 2 + 1);
	ck_assert_uint_eq(slice->location_count, 1 + 3); /* main, work, the loop */
	ck_assert_uint_eq(slice->line_count, 1 + 2);
	ck_assert_uint_eq(losses.words_misplaced, 0);
}
END_TEST

START_TEST(a_lost_part)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	put_stack(words, 4);
	nodes[0].parent = 0x9999;
	slice = drain(1);
	ck_assert_str_eq(path_of(slice),
	                 "[unknown: stack lost]; loop 0x20; " MAIN_11 "; file 0x10");
	ck_assert_uint_eq(losses.frames_without_stack, 1);
}
END_TEST

START_TEST(too_many_words)
{
	static const u64 words[MAX_WORDS] = {P(0xaa), O(4)};
	_cleanup_(profile_unrefp) struct profile *slice = drain_words(words, MAX_WORDS);

	ck_assert_uint_eq(losses.frames_unmapped, 1);
	ck_assert_str_eq(path_of(slice), UNMAPPED "; " MAIN_11);
}
END_TEST

START_TEST(frames_of_an_unknown_process)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	key.pid = key.tid = PID + 1;
	slice = drain_words(words, 4);
	ck_assert_str_eq(path_of(slice), UNMAPPED "; " MAIN_11);
	ck_assert_uint_eq(losses.images_missing, tally.count);
}
END_TEST

START_TEST(without_a_runtime)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	tables.runtimes = NULL;
	slice = drain_words(words, 4);
	ck_assert_str_eq(path_of(slice), "loop 0x20; " NO_CODE "; file 0x10");
}
END_TEST

/* The loop's frame and another frame of its file: the file has two mappings. */
START_TEST(loops_are_apart)
{
	static const u64 words[] = {L(0x1010), 0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = drain_words(words, 2);
	struct quality quality;

	ck_assert_uint_eq(slice->mapping_count, 1 + 2);
	ck_assert_uint_eq(slice->mappings[1].path, slice->mappings[2].path);
	ck_assert_int_eq(quality_of(slice, &quality), 0);
	ck_assert_uint_eq(quality.complete, tally.count);
}
END_TEST

static const struct {
	u8 gil;
	const char *name;
} gils[] = {
	{GIL_UNKNOWN, ""},  {GIL_HELD, "held"},       {GIL_RELEASED, "released"},
	{GIL_NONE, "none"}, {GIL_WAITING, "waiting"}, {255, ""},
};

START_TEST(tasks_say_how_a_runtime_ran)
{
	static const u64 interpreted[] = {P(0xaa), O(4), L(0x1020)}, native[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL, *other = NULL;
	const struct task *task;

	key.gil = gils[_i].gil;
	slice = drain_words(interpreted, 3);
	task = &slice->tasks[1];
	ck_assert_str_eq(profile_string(slice, task->gil), gils[_i].name);
	ck_assert_str_eq(profile_string(slice, task->runtime), "python");
	ck_assert_str_eq(profile_string(slice, task->runtime_version), "3.8");
	ck_assert_str_eq(profile_string(slice, task->comm), "program");
	other = drain_words(native, 1);
	ck_assert_uint_eq(other->tasks[1].runtime, 0);
}
END_TEST

/* A task has the account of its user. */
START_TEST(tasks_say_whose_they_are)
{
	static const u64 words[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL, *other = NULL;

	accounts_set(text_of("1000:100000:65536\n", 18), text_of("", 0));
	slice = drain_words(words, 1);
	ck_assert_uint_eq(slice->tasks[1].account, 0);
	tally.user = 100001;
	other = drain_words(words, 1);
	tally.user = 0;
	accounts_clear();
	ck_assert_uint_eq(other->tasks[1].account, 1000);
}
END_TEST

#define WAIT(state, call) (WAIT_##state | WAIT_##call << WAIT_CALL_SHIFT)

static const struct {
	u16 kind;
	u8 detail;
	const char *count, *type, *memory, *state, *wait;
} kinds[] = {
	{KIND_cpu, 0, "samples", "cpu", "", "", ""},
	{KIND_rss, RESIDENT_FILE, "samples", "resident", "file", "", ""},
	{KIND_rss, RESIDENT_ANON, "samples", "resident", "anon", "", ""},
	{KIND_rss, RESIDENT_SHARED, "samples", "resident", "shared", "", ""},
	{KIND_rss, 255, "samples", "resident", "", "", ""},
	{KIND_mmap, 0, "samples", "mapped", "", "", ""},
	{KIND_offcpu, WAIT(SLEEP, FUTEX), "waits", "offcpu", "", "sleep", "futex"},
	{KIND_offcpu, WAIT(DISK, PAGE_FAULT), "waits", "offcpu", "", "disk", "page_fault"},
	{KIND_offcpu, WAIT(STOPPED, OTHER), "waits", "offcpu", "", "stopped", "other"},
	{KIND_offcpu, WAIT(RUNNABLE, OTHER), "waits", "offcpu", "", "runnable", ""},
	{KIND_offcpu, WAIT(SLEEP, CALL_COUNT), "waits", "offcpu", "", "sleep", ""},
	{KIND_offcpu, 255, "waits", "offcpu", "", "stopped", ""},
};

START_TEST(each_kind_has_its_slice)
{
	static const u64 words[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	key.kind = kinds[_i].kind;
	key.detail = kinds[_i].detail;
	slice = drain_words(words, 1);
	ck_assert_uint_eq(slice->type_count, 2);
	ck_assert_str_eq(profile_string(slice, slice->types[0].type), kinds[_i].count);
	ck_assert_str_eq(profile_string(slice, slice->types[1].type), kinds[_i].type);
	ck_assert_str_eq(profile_string(slice, slice->period_type.type), kinds[_i].type);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].memory), kinds[_i].memory);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].state), kinds[_i].state);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].wait), kinds[_i].wait);
	ck_assert_uint_eq(slice->ticks.total, tally.count);
	ck_assert_uint_eq(slice->ticks.idle + slice->ticks.lost, 0);
}
END_TEST

Suite *drain_suite(void)
{
	Suite *suite = suite_create("drain");
	TCase *stacks = tcase_create("stacks");

	tcase_add_checked_fixture(stacks, set_up, tear_down);
	tcase_add_loop_test(stacks, each_kind_has_its_slice, 0, sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_loop_test(stacks, words_become_frames, 0,
	                    sizeof(stack_cases) / sizeof(stack_cases[0]));
	tcase_add_test(stacks, every_frame_of_a_deep_stack);
	tcase_add_test(stacks, a_lost_part);
	tcase_add_test(stacks, too_many_words);
	tcase_add_test(stacks, frames_of_an_unknown_process);
	tcase_add_test(stacks, asks_again_for_what_is_not_known);
	tcase_add_test(stacks, without_a_runtime);
	tcase_add_test(stacks, loops_are_apart);
	tcase_add_loop_test(stacks, tasks_say_how_a_runtime_ran, 0, sizeof(gils) / sizeof(gils[0]));
	tcase_add_test(stacks, tasks_say_whose_they_are);
	suite_add_tcase(suite, stacks);
	return suite;
}
