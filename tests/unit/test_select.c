/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Merging slices, and selecting samples.
 */
#include "tests/unit/suites.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/select.h"

#include <errno.h>
#include <string.h>

static void add(struct builder *builder, struct task task, uint32_t node)
{
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){1, 100});
}

/*
 * Paths: main > leaf > [kernel] for pid 1, main for pid 2, [kernel] alone for pid 0. The second
 * slice has its tables in another order, so that no ids agree by chance.
 */
static struct profile *slice(uint64_t start, bool reversed, const char *type)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping file = {.path = builder_text(builder, reversed ? "x" : "/bin/a")};
	struct mapping kernel = {.path = builder_text(builder, "[kernel.kallsyms]"),
	                         .kind = MAPPING_KERNEL};
	uint32_t kernel_id = reversed ? builder_mapping(builder, &kernel) : 0, file_id, node, leaf;
	struct profile *profile = NULL;
	struct function function = {.name = builder_text(builder, "main")};
	uint32_t state = builder_text(builder, strcmp(type, "waits") ? "" : "sleep");

	file.path = builder_text(builder, "/bin/a");
	file_id = builder_mapping(builder, &file);
	kernel_id = builder_mapping(builder, &kernel);
	if (reversed)
		builder_location(builder, kernel_id, 0xf00);
	node = builder_node(builder, 0, builder_location(builder, file_id, 0x10));
	leaf = builder_node(builder, node, builder_location(builder, file_id, 0x20));
	leaf = builder_node(builder, leaf, builder_location(builder, kernel_id, 0xf00));
	builder_line(builder, builder_location(builder, file_id, 0x10),
	             builder_function(builder, &function), 5);
	add(builder,
	    (struct task){.pid = 1,
	                  .tid = 11,
	                  .comm = builder_text(builder, "one"),
	                  .thread = builder_text(builder, "t"),
	                  .unit = builder_text(builder, "a.service"),
	                  .container = builder_text(builder, "0123456789ab"),
	                  .pod = builder_text(builder, "uid-1"),
	                  .runtime_version = builder_text(builder, "3.12"),
	                  .gil = builder_text(builder, "held"),
	                  .state = state,
	                  .parent = 5},
	    leaf);
	add(builder,
	    (struct task){.pid = 2,
	                  .tid = 22,
	                  .comm = builder_text(builder, "two"),
	                  .unit = builder_text(builder, "b.service"),
	                  .container = builder_text(builder, "cafe-box"),
	                  .state = state,
	                  .parent = 1},
	    node);
	add(builder, (struct task){.comm = builder_text(builder, "kworker"), .state = state},
	    builder_node(builder, 0, builder_location(builder, kernel_id, 0xf00)));
	builder_value_type(builder, type, "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_period(builder, strcmp(type, "waits") ? "cpu" : "offcpu", "nanoseconds", 100);
	builder_time(builder, start, start + 5, 10);
	builder_ticks(builder, &(struct ticks){10, 7, 0, 0});
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

static struct profile *merged(const struct selection *selection)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *slices[] = {slice(100, false, "samples"), slice(110, true, "samples")};
	struct profile *profile = NULL;

	ck_assert_int_eq(select_merge(builder, slices, 2, selection), 0);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	profile_unref(slices[0]);
	profile_unref(slices[1]);
	return profile;
}

static uint64_t count(const struct profile *profile)
{
	uint64_t total = 0;

	for (uint32_t i = 1; i < profile->sample_count; i++)
		total += profile->samples[i].values[0];
	return total;
}

START_TEST(merges_all)
{
	_cleanup_(profile_unrefp) struct profile *profile = merged(&(struct selection){0});
	const struct location *named = NULL;

	ck_assert_uint_eq(profile->sample_count, 4);
	ck_assert_uint_eq(count(profile), 6);
	ck_assert_uint_eq(profile->mapping_count, 3);
	ck_assert_uint_eq(profile->location_count, 4);
	ck_assert_uint_eq(profile->node_count, 5);
	ck_assert_uint_eq(profile->line_count, 2);
	ck_assert_uint_eq(profile->ticks.total, 20);
	ck_assert_uint_eq(profile->start_mono_ns, 100);
	ck_assert_uint_eq(profile->start_wall_ns, 105);
	ck_assert_uint_eq(profile->duration_ns, 20);
	ck_assert_uint_eq(profile->type_count, 2);
	ck_assert_uint_eq(profile->period, 100);
	for (uint32_t i = 1; i < profile->location_count; i++)
		if (profile->locations[i].address == 0x10)
			named = &profile->locations[i];
	ck_assert_ptr_nonnull(named);
	ck_assert_uint_eq(named->line_count, 1);
	ck_assert_uint_eq(profile->lines[named->first_line].number, 5);
}
END_TEST

static const struct kinship known[] = {{4, 3}, {3, 5}};

static const struct {
	struct selection selection;
	uint64_t count;
	uint32_t nodes; /* entry 0 included */
} filters[] = {
	{{.pids = {1}, .pid_count = 1}, 2, 4},
	{{.pids = {1, 2}, .pid_count = 2}, 4, 4},
	{{.pids = {2}, .pid_count = 1}, 2, 2},
	{{.pids = {0}, .pid_count = 1}, 2, 2},
	{{.pids = {9}, .pid_count = 1}, 0, 1},
	{{.pids = {5}, .pid_count = 1, .children = true}, 4, 4},
	{{.pids = {1}, .pid_count = 1, .children = true}, 4, 4},
	{{.pids = {2}, .pid_count = 1, .children = true}, 2, 2},
	{{.pids = {4}, .pid_count = 1, .children = true}, 0, 1},
	{{.pids = {4}, .pid_count = 1, .children = true, .known = known, .known_count = 2}, 4, 4},
	{{.pids = {1}, .pid_count = 1, .children = true, .tids = {22}, .tid_count = 1}, 2, 2},
	{{.tids = {22}, .tid_count = 1}, 2, 2},
	{{.pids = {1}, .pid_count = 1, .tids = {22}, .tid_count = 1}, 0, 1},
	{{.comms = {"two"}, .comm_count = 1}, 2, 2},
	{{.comms = {"t"}, .comm_count = 1}, 2, 4},
	{{.comms = {"tw"}, .comm_count = 1}, 0, 1},
	{{.units = {"a.service"}, .unit_count = 1}, 2, 4},
	{{.units = {"b.service", "a.service"}, .unit_count = 2}, 4, 4},
	{{.units = {"a"}, .unit_count = 1}, 0, 1},
	{{.units = {"a.service"}, .unit_count = 1, .comms = {"two"}, .comm_count = 1}, 0, 1},
	{{.pods = {"uid-1"}, .pod_count = 1}, 2, 4},
	{{.pods = {"uid"}, .pod_count = 1}, 0, 1},
	{{.containers = {"0123456789ab"}, .container_count = 1}, 2, 4},
	{{.containers = {"0123"}, .container_count = 1}, 2, 4},
	{{.containers = {"0123456789abcdef"}, .container_count = 1}, 2, 4},
	{{.containers = {"012"}, .container_count = 1}, 0, 1},
	{{.containers = {"0124"}, .container_count = 1}, 0, 1},
	{{.containers = {"0123456789ab-x"}, .container_count = 1}, 0, 1},
	{{.containers = {"cafe"}, .container_count = 1}, 0, 1},
	{{.containers = {"cafe-box"}, .container_count = 1}, 2, 2},
	{{.containers = {"cafe-box", "0123"}, .container_count = 2}, 4, 4},
	{{.no_kernel = true}, 4, 3},
	{{.pids = {0}, .pid_count = 1, .no_kernel = true}, 0, 1},
	{{.idle = true}, 6 + 14, 6},
	{{.idle = true, .pids = {1}, .pid_count = 1}, 2, 4},
	{{.idle = true, .pids = {0}, .pid_count = 1}, 2 + 14, 3},
	{{.idle = true, .units = {"a.service"}, .unit_count = 1}, 2, 4},
	{{.idle = true, .comms = {"[idle]"}, .comm_count = 1}, 14, 2},
};

START_TEST(filters_samples)
{
	_cleanup_(profile_unrefp) struct profile *profile = merged(&filters[_i].selection);

	ck_assert_uint_eq(count(profile), filters[_i].count);
	ck_assert_uint_eq(profile->node_count, filters[_i].nodes);
	ck_assert_uint_eq(profile->ticks.idle, 14);
}
END_TEST

START_TEST(idle_has_time)
{
	struct selection selection = {.idle = true, .comms = {"[idle]"}, .comm_count = 1};
	_cleanup_(profile_unrefp) struct profile *profile = merged(&selection);
	const struct sample *sample = &profile->samples[1];
	const struct location *location =
		&profile->locations[profile->nodes[sample->node].location];

	ck_assert_uint_eq(profile->sample_count, 2);
	ck_assert_uint_eq(sample->values[1], 1400);
	ck_assert_int_eq(profile->mappings[location->mapping].kind, MAPPING_PSEUDO);
	ck_assert_str_eq(profile_string(profile, profile->mappings[location->mapping].path),
	                 "[idle]");
}
END_TEST

START_TEST(task_comes_along)
{
	struct selection selection = {.pids = {1}, .pid_count = 1};
	_cleanup_(profile_unrefp) struct profile *profile = merged(&selection);
	const struct task *task = &profile->tasks[1];

	ck_assert_uint_eq(profile->task_count, 2);
	ck_assert_str_eq(profile_string(profile, task->runtime_version), "3.12");
	ck_assert_str_eq(profile_string(profile, task->gil), "held");
	ck_assert_uint_eq(task->parent, 5);
}
END_TEST

/* main > loop > function, and a loop without callees. */
static struct profile *slice_with_loops(void)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping file = {.path = builder_text(builder, "/usr/bin/python3")};
	struct mapping loop = {.path = file.path, .kind = MAPPING_LOOP};
	uint32_t file_id = builder_mapping(builder, &file),
		 loop_id = builder_mapping(builder, &loop);
	uint32_t node = builder_node(builder, 0, builder_location(builder, file_id, 0x10));
	struct profile *profile = NULL;

	node = builder_node(builder, node, builder_location(builder, loop_id, 0x20));
	node = builder_node(builder, node, builder_location(builder, 0, 1));
	add(builder, (struct task){.pid = 1}, node);
	add(builder, (struct task){.pid = 1},
	    builder_node(builder, 0, builder_location(builder, loop_id, 0x20)));
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

static const struct {
	enum loop_view loops;
	uint32_t nodes, mappings; /* entry 0 included */
	enum mapping_kind kind;   /* of the loop's mapping */
} loop_views[] = {
	{LOOPS_HIDDEN, 4, 2, MAPPING_FILE},
	{LOOPS_SHOWN, 5, 2, MAPPING_FILE},
	{LOOPS_KEPT, 5, 3, MAPPING_LOOP},
};

START_TEST(shows_loops_or_not)
{
	struct selection selection = {.loops = loop_views[_i].loops};
	_cleanup_(profile_unrefp) struct profile *from = slice_with_loops();
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct profile *profile;

	ck_assert_int_eq(select_merge(builder, &from, 1, &selection), 0);
	profile = builder_view(builder);
	ck_assert_uint_eq(profile->node_count, loop_views[_i].nodes);
	ck_assert_uint_eq(profile->mapping_count, loop_views[_i].mappings);
	ck_assert_uint_eq(count(profile), 2);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		ck_assert_uint_ne(profile->samples[i].node, 0);
	for (uint32_t i = 1; i < profile->location_count; i++)
		if (profile->locations[i].address == 0x20)
			ck_assert_int_eq(profile->mappings[profile->locations[i].mapping].kind,
			                 loop_views[_i].kind);
}
END_TEST

static uint32_t node_of(struct builder *builder, uint32_t caller, const char *name,
                        enum mapping_kind kind)
{
	const struct mapping mapping = {.path = builder_text(builder, name), .kind = kind};
	uint32_t location = builder_location(builder, builder_mapping(builder, &mapping), 0);

	return builder_node(builder, caller, location);
}

/* From the root to the leaf; the callers of a stack are in the lines before it. */
static const struct {
	uint32_t caller;
	const char *name;
	enum mapping_kind kind;
	const char *alone,
		*alone_without_kernel; /* stacks of interpreted code alone; NULL: dropped */
} mixed[] = {
	{0, "main", MAPPING_FILE, "[native code]", "[native code]"},
	{1, "loop", MAPPING_LOOP, "[native code]", "[native code]"},
	{2, "outer", MAPPING_INTERPRETED, "outer", "outer"},
	{3, "memcpy", MAPPING_FILE, "outer", "outer"},
	{4, "fault", MAPPING_KERNEL, "outer", "outer"},
	{4, "inner", MAPPING_INTERPRETED, "outer;inner", "outer;inner"},
	{1, "read", MAPPING_KERNEL, "[native code]", "[native code]"},
	{0, "kworker", MAPPING_KERNEL, "[native code]", NULL},
	{8, "more", MAPPING_KERNEL, "[native code]", NULL},
	{0, "[unknown: why]", MAPPING_PSEUDO, "[unknown: why]", "[unknown: why]"},
	{10, "more", MAPPING_FILE, "[unknown: why]", "[unknown: why]"},
	{0, "coroutine", MAPPING_INTERPRETED, "coroutine", "coroutine"},
	{12, "[unknown: why]", MAPPING_PSEUDO, "coroutine", "coroutine"},
	{0, "[woken by x]", MAPPING_PSEUDO, "[woken by x]", "[woken by x]"},
	{14, "main", MAPPING_FILE, "[woken by x]", "[woken by x]"},
	{15, "outer", MAPPING_INTERPRETED, "[woken by x];outer", "[woken by x];outer"},
	{16, WAKES_FRAME, MAPPING_PSEUDO, "[woken by x];outer;[wakes]",
         "[woken by x];outer;[wakes]"},
	{17, "read", MAPPING_FILE, "[woken by x];outer;[wakes]", "[woken by x];outer;[wakes]"},
	{17, "inner", MAPPING_INTERPRETED, "[woken by x];outer;[wakes];inner",
         "[woken by x];outer;[wakes];inner"},
	{1, "generated", MAPPING_JIT, "generated", "generated"},
	{20, "memcpy", MAPPING_FILE, "generated", "generated"},
	{21, "called", MAPPING_JIT, "generated;called", "generated;called"},
	{4, "compiled", MAPPING_JIT, "outer", "outer"},
	{23, "back", MAPPING_INTERPRETED, "outer;back", "outer;back"},
};

static void print_stack(const struct profile *profile, uint32_t node, struct buf *text)
{
	const struct location *location = &profile->locations[profile->nodes[node].location];

	if (profile->nodes[node].parent) {
		print_stack(profile, profile->nodes[node].parent, text);
		buf_add_text(text, ";");
	}
	buf_add_text(text, profile_string(profile, profile->mappings[location->mapping].path));
}

/* Each stack is the sample of a process of its own. */
static struct profile *slice_of_mixed(void)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t nodes[sizeof(mixed) / sizeof(mixed[0]) + 1] = {0};
	struct profile *profile = NULL;

	for (uint32_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++) {
		nodes[i + 1] =
			node_of(builder, nodes[mixed[i].caller], mixed[i].name, mixed[i].kind);
		add(builder, (struct task){.pid = i + 1}, nodes[i + 1]);
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

START_TEST(interpreted_code_alone)
{
	const struct selection selection = {.no_native = true, .no_kernel = _i};
	_cleanup_(profile_unrefp) struct profile *from = slice_of_mixed();
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const char *found[sizeof(mixed) / sizeof(mixed[0])] = {NULL};
	struct buf texts[sizeof(mixed) / sizeof(mixed[0])] = {0};
	const struct profile *profile;

	ck_assert_int_eq(select_merge(builder, &from, 1, &selection), 0);
	profile = builder_view(builder);
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		uint32_t at = profile->tasks[profile->samples[i].task].pid - 1;

		print_stack(profile, profile->samples[i].node, &texts[at]);
		found[at] = buf_text(&texts[at]);
	}
	for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++) {
		ck_assert_pstr_eq(found[i], _i ? mixed[i].alone_without_kernel : mixed[i].alone);
		buf_release(&texts[i]);
	}
}
END_TEST

/* The accounts of tasks are kept only where loops are kept. */
START_TEST(accounts_are_kept_with_loops)
{
	_cleanup_(builder_freep) struct builder *from = builder_new(), *into = builder_new();
	const struct selection selection = {.loops = _i};
	struct profile *profile = NULL;

	add(from, (struct task){.pid = 1, .account = 9}, 0);
	add(from, (struct task){.pid = 1}, 0);
	ck_assert_int_eq(builder_seal(from, &profile), 0);
	ck_assert_int_eq(select_merge(into, &profile, 1, &selection), 0);
	profile_unref(profile);
	ck_assert_uint_eq(builder_view(into)->task_count, _i == LOOPS_KEPT ? 3 : 2);
	ck_assert_uint_eq(builder_view(into)->tasks[1].account, _i == LOOPS_KEPT ? 9 : 0);
	ck_assert_uint_eq(count(builder_view(into)), 2);
}
END_TEST

START_TEST(accounts_are_kept_where_asked_for)
{
	_cleanup_(builder_freep) struct builder *from = builder_new(), *into = builder_new();
	const struct selection selection = {.accounts = true};
	struct profile *profile = NULL;

	add(from, (struct task){.pid = 1, .account = 9}, 0);
	add(from, (struct task){.pid = 1}, 0);
	ck_assert_int_eq(builder_seal(from, &profile), 0);
	ck_assert_int_eq(select_merge(into, &profile, 1, &selection), 0);
	profile_unref(profile);
	ck_assert_uint_eq(builder_view(into)->task_count, 3);
	ck_assert_uint_eq(builder_view(into)->tasks[1].account, 9);
}
END_TEST

START_TEST(tells_slices_apart)
{
	_cleanup_(builder_freep) struct builder *together = builder_new(), *apart = builder_new();
	struct selection selection = {0};
	struct profile *slices[] = {slice(100, false, "samples"),
	                            slice(100 + 5 * NSEC_PER_MSEC, true, "samples")};
	uint32_t late = 0;

	ck_assert_int_eq(select_merge(together, slices, 2, &selection), 0);
	selection.timed = true;
	ck_assert_int_eq(select_merge(apart, slices, 2, &selection), 0);
	ck_assert_uint_eq(builder_view(apart)->task_count - 1,
	                  2 * (builder_view(together)->task_count - 1));
	ck_assert_uint_eq(count(builder_view(apart)), count(builder_view(together)));
	for (uint32_t i = 1; i < builder_view(apart)->task_count; i++) {
		uint32_t at_ms = builder_view(apart)->tasks[i].at_ms;

		ck_assert(at_ms == 0 || at_ms == 5);
		late += at_ms == 5;
	}
	ck_assert_uint_eq(late, builder_view(together)->task_count - 1);
	profile_unref(slices[0]);
	profile_unref(slices[1]);
}
END_TEST

START_TEST(refuses_other_types)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct selection everything = {0};
	struct profile *slices[] = {slice(100, false, "samples"), slice(110, false, "objects")};

	ck_assert_int_eq(select_merge(builder, slices, 0, &everything), 0);
	ck_assert_int_eq(select_merge(builder, slices, 2, &everything), -EINVAL);
	ck_assert_uint_eq(builder_view(builder)->sample_count, 1);
	ck_assert_int_eq(select_merge(builder, slices, 1, &everything), 0);
	ck_assert_int_eq(select_merge(builder, slices + 1, 1, &everything), -EINVAL);
	profile_unref(slices[0]);
	profile_unref(slices[1]);
}
END_TEST

/* Waits and CPU time become one profile, in which the latter has a state as well. */
START_TEST(wall_has_both)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct selection wall = {.view = VIEW_wall};
	struct profile *slices[] = {slice(100, false, "waits"), slice(100, true, "samples")};
	struct profile *profile = NULL;
	uint64_t time = 0, running = 0;

	ck_assert_int_eq(select_merge(builder, slices, 2, &wall), 0);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_uint_eq(profile->sample_count - 1, 2 * (slices[0]->sample_count - 1));
	ck_assert_str_eq(profile_string(profile, profile->types[0].type), "events");
	ck_assert_str_eq(profile_string(profile, profile->types[1].type), "wall");
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		const char *state = profile_string(profile, profile->tasks[sample->task].state);

		if (strcmp(state, RUNNING_STATE) == 0)
			running += sample->values[1];
		else
			ck_assert_str_eq(state, "sleep");
		time += sample->values[1];
	}
	ck_assert_uint_eq(running, 300);
	ck_assert_uint_eq(time, 600);
	profile_unref(slices[0]);
	profile_unref(slices[1]);
	profile_unref(profile);
}
END_TEST

Suite *select_suite(void)
{
	Suite *suite = suite_create("select");
	TCase *tests = tcase_create("select");

	tcase_add_test(tests, merges_all);
	tcase_add_test(tests, accounts_are_kept_where_asked_for);
	tcase_add_loop_test(tests, accounts_are_kept_with_loops, LOOPS_HIDDEN, LOOPS_KEPT + 1);
	tcase_add_loop_test(tests, filters_samples, 0, sizeof(filters) / sizeof(*filters));
	tcase_add_test(tests, idle_has_time);
	tcase_add_test(tests, task_comes_along);
	tcase_add_loop_test(tests, shows_loops_or_not, 0, sizeof(loop_views) / sizeof(*loop_views));
	tcase_add_loop_test(tests, interpreted_code_alone, 0, 2);
	tcase_add_test(tests, tells_slices_apart);
	tcase_add_test(tests, refuses_other_types);
	tcase_add_test(tests, wall_has_both);
	suite_add_tcase(suite, tests);
	return suite;
}
