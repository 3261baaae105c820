/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Source files of interpreted code: which are remembered, with which process, and for how long.
 */
#include "tests/unit/suites.h"

#include "object/reach.h"
#include "profile/builder.h"
#include "profile/select.h"
#include "symbolize/told_files.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The mapping of interpreted code. */
static uint32_t interpreted(struct builder *builder)
{
	const struct mapping mapping = {.path = builder_text(builder, "[python]"),
	                                .kind = MAPPING_INTERPRETED};

	return builder_mapping(builder, &mapping);
}

static uint32_t frame(struct builder *builder, uint32_t parent, uint64_t address, const char *file)
{
	uint32_t location = builder_location(builder, interpreted(builder), address);
	struct function function = {.name = builder_text(builder, "f"),
	                            .filename = builder_text(builder, file)};

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, builder_function(builder, &function), 1);
	return builder_node(builder, parent, location);
}

enum { UNKNOWN = 99 };     /* its start time is not known */
enum { NOBODY = 4000000 }; /* no process has a pid from here on */

static void sample_in(struct builder *builder, uint32_t node, uint32_t pid, const char *container)
{
	struct task task = {
		.pid = NOBODY + pid,
		.began_boot_ns = pid == UNKNOWN ? 0 : 1000 + pid,
		.container = builder_text(builder, container),
	};

	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
}

static void sample(struct builder *builder, uint32_t node, uint32_t pid)
{
	sample_in(builder, node, pid, "");
}

/* The process with which a file is remembered; 0: none. `container` NULL: any. */
static void check_pid_in(const struct told_files *files, const char *path, const char *container,
                         uint32_t pid)
{
	struct source_root root = {0};

	/* No process has these pids, so none sees the host's files. */
	ck_assert(!told_files_find(files, path, container, true, &root));
	ck_assert_int_eq(told_files_find(files, path, container, false, &root), pid != 0);
	ck_assert_uint_eq(root.pid, pid ? NOBODY + pid : 0);
}

static void check_pid(const struct told_files *files, const char *path, uint32_t pid)
{
	check_pid_in(files, path, NULL, pid);
}

START_TEST(remembers_files)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = frame(builder, 0, 1, "/srv/main.py");

	sample(builder, frame(builder, node, 2, "/srv/one.py"), 7);
	sample(builder, frame(builder, node, 3, "/srv/two.py"), 8);
	sample(builder, frame(builder, node, 4, "relative.py"), 8);
	sample(builder, frame(builder, node, 5, ""), 8);
	frame(builder, 0, 6, "/srv/unused.py");
	sample(builder,
	       builder_node(builder, node, builder_location(builder, interpreted(builder), 9)), 9);
	sample(builder, 0, 9);
	ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
	check_pid(&files, "/srv/main.py", 7);
	check_pid(&files, "/srv/one.py", 7);
	check_pid(&files, "/srv/two.py", 8);
	check_pid(&files, "relative.py", 0);
	check_pid(&files, "", 0);
	check_pid(&files, "/srv/unused.py", 0);
	check_pid(&files, "/srv/main.p", 0);
}
END_TEST

/* The frames of a thread that has woken the sample's are of another process, and name files of
 * their own choice. */
START_TEST(wakers_tell_no_files_of_the_woken)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct mapping wakes = {.path = builder_text(builder, WAKES_FRAME),
	                              .kind = MAPPING_PSEUDO};
	uint32_t node = frame(builder, 0, 1, "/etc/hers.py");

	node = builder_node(builder, node,
	                    builder_location(builder, builder_mapping(builder, &wakes), 0));
	sample(builder, frame(builder, node, 2, "/srv/his.py"), 7);
	ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
	check_pid(&files, "/etc/hers.py", 0);
	check_pid(&files, "/srv/his.py", 7);
}
END_TEST

START_TEST(the_latest_profile_counts)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};

	for (uint32_t pid = 1; pid <= 3; pid++) {
		_cleanup_(builder_freep) struct builder *builder = builder_new();

		sample(builder, frame(builder, 0, 1, "/a.py"), pid);
		ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
		check_pid(&files, "/a.py", pid);
	}
	ck_assert_uint_gt(files.bytes, 0);
}
END_TEST

START_TEST(who_is_known_is_kept)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};
	static const uint32_t pids[] = {UNKNOWN, 7, UNKNOWN, 8}, kept[] = {UNKNOWN, 7, 7, 8};

	for (int i = 0; i < 4; i++) {
		_cleanup_(builder_freep) struct builder *builder = builder_new();

		sample(builder, frame(builder, 0, 1, "/a.py"), pids[i]);
		ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
		check_pid(&files, "/a.py", kept[i]);
	}
}
END_TEST

START_TEST(each_container_has_its_own)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = frame(builder, frame(builder, 0, 1, "/app/main.py"), 2, "/app/work.py");

	sample_in(builder, node, 7, "cafe");
	sample(builder, node, 8);
	sample_in(builder, node, 9, "beef");
	ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
	check_pid_in(&files, "/app/main.py", "cafe", 7);
	check_pid_in(&files, "/app/work.py", "cafe", 7);
	check_pid_in(&files, "/app/main.py", "", 8);
	check_pid_in(&files, "/app/main.py", "beef", 9);
	check_pid_in(&files, "/app/main.py", "caf", 0);
	check_pid_in(&files, "/app/none.py", "cafe", 0);
	check_pid(&files, "/app/main.py", 9);
}
END_TEST

static void note(struct told_files *files, pid_t pid)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	sample(builder, frame(builder, 0, 1, "/a.py"), (uint32_t)pid - NOBODY);
	ck_assert_int_eq(told_files_note(files, builder_view(builder)), 0);
}

/* A process in its own mount namespace does not replace one that sees the host's files, in whatever
 * order they are noted. */
/* It was named by an earlier daemon. */
START_TEST(native_code_tells_no_files)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct told_files files = {.max_bytes = 1 << 20};
	const struct mapping mapping = {.path = builder_text(builder, "/bin/a")};
	const struct function function = {.filename = builder_text(builder, "/a.c")};
	uint32_t location = builder_location(builder, builder_mapping(builder, &mapping), 1);
	struct source_root root;

	builder_line(builder, location, builder_function(builder, &function), 1);
	sample(builder, builder_node(builder, 0, location), 9);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(told_files_note(&files, profile), 0);
	for (int is_hosts = 0; is_hosts < 2; is_hosts++)
		ck_assert(!told_files_find(&files, "/a.c", NULL, is_hosts, &root));
	told_files_release(&files);
}
END_TEST

START_TEST(hosts_are_apart)
{
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = 1 << 20};
	struct source_root root;
	char ready = 0;
	int told[2];
	pid_t child;

	ck_assert_int_eq(pipe(told), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ready = unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0;
		if (write(told[1], &ready, 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(told[0], &ready, 1), 1);
	ck_assert(!reach_sees_hosts(NOBODY));
	/* Not known without permission to look at process 1. */
	if (ready && reach_sees_hosts((uint32_t)getpid())) {
		ck_assert(!reach_sees_hosts((uint32_t)child));
		note(&files, child);
		note(&files, getpid());
		note(&files, child);
		ck_assert(told_files_find(&files, "/a.py", NULL, true, &root));
		ck_assert_int_eq((pid_t)root.pid, getpid());
		ck_assert(told_files_find(&files, "/a.py", "", false, &root));
		ck_assert_int_eq((pid_t)root.pid, child);
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(is_bounded)
{
	enum { COUNT = 1000, MAX_BYTES = 8192 };
	_cleanup_(told_files_release) struct told_files files = {.max_bytes = MAX_BYTES};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	char path[32];

	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "/%u.py", i);
		sample(builder, frame(builder, 0, i + 1, path), 5);
	}
	ck_assert_int_eq(told_files_note(&files, builder_view(builder)), 0);
	ck_assert_uint_le(files.bytes, MAX_BYTES);
	check_pid(&files, "/999.py", 5);
	check_pid(&files, "/0.py", 0);
}
END_TEST

Suite *told_files_suite(void)
{
	Suite *suite = suite_create("told_files");
	TCase *tests = tcase_create("told_files");

	tcase_add_test(tests, remembers_files);
	tcase_add_test(tests, wakers_tell_no_files_of_the_woken);
	tcase_add_test(tests, the_latest_profile_counts);
	tcase_add_test(tests, who_is_known_is_kept);
	tcase_add_test(tests, each_container_has_its_own);
	tcase_add_test(tests, hosts_are_apart);
	tcase_add_test(tests, native_code_tells_no_files);
	tcase_add_test(tests, is_bounded);
	suite_add_tcase(suite, tests);
	return suite;
}
