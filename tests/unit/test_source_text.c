/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Source files: which may be read, by any path, and what their lines are.
 */
#include "tests/unit/descriptors.h"
#include "tests/unit/hanging.h"
#include "tests/unit/lacks.h"
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "object/mounts.h"
#include "object/reach.h"
#include "object/path.h"
#include "symbolize/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct aside *aside;
static char root[64];
static int folder;

static void put(const char *path, const char *bytes, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = openat(folder, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	ck_assert_int_eq(fchmod(fd, mode), 0);
}

static int read_of(const struct source_root *of, const char *path, struct source_text **ret_text)
{
	return source_text_read(aside, of, path, ret_text);
}

static void make_folder(const char *path, mode_t mode)
{
	ck_assert_int_eq(mkdirat(folder, path, 0700), 0);
	ck_assert_int_eq(fchmodat(folder, path, mode, 0), 0);
}

static const struct {
	const char *path, *target;
} links[] = {
	{"abs", "/src/a.c"},
	{"src/rel", "a.c"},
	{"up", "../../../src/a.c"},
	{"shadow", "/private/a.c"},
	{"loop", "loop"},
	{"one", "two"},
	{"two", "one"},
	{"dir", "src/"},
	{"src/back", ".."},
	{"dangling", "nowhere"},
};

static void set_up(void)
{
	char loop[5000];

	aside = aside_new();
	snprintf(root, sizeof(root), "/tmp/profd-source-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chmod(root, 0755), 0);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	make_folder("src", 0755);
	make_folder("private", 0700);
	make_folder("group", 0750);
	make_folder("group/open", 0755);
	put("src/a.c", "yes\n", 4, 0644);
	put("src/secret.c", "no\n", 3, 0600);
	put("src/group.c", "no\n", 3, 0640);
	put("src/others.c", "no\n", 3, 0604);
	put("private/a.c", "no\n", 3, 0644);
	put("group/open/a.c", "no\n", 3, 0644);
	ck_assert_int_eq(mkfifoat(folder, "src/fifo", 0666), 0);
	ck_assert_int_eq(fchmodat(folder, "src/fifo", 0666, 0), 0);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		ck_assert_int_eq(symlinkat(links[i].target, folder, links[i].path), 0);
	memset(loop, '/', sizeof(loop));
	loop[4000] = '\0';
	ck_assert_int_eq(symlinkat(loop, folder, "long"), 0);
}

static void tear_down(void)
{
	char command[128];

	aside_free(aside);
	close(folder);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

static const struct {
	const char *path;
	int err;
} paths[] = {
	{"/src/a.c", 0},
	{"//src///./a.c", 0},
	{"/abs", 0},
	{"/src/rel", 0},
	{"/up", 0},
	{"/dir/a.c", 0},
	{"/dir/back/dir/back/src/a.c", 0},
	{"/../../../../src/a.c", 0},
	{"/src/../src/../src/a.c", 0},
	{"/src/secret.c", -EACCES},
	{"/src/group.c", -EACCES},
	{"/src/others.c", -EACCES},
	{"/private/a.c", -EACCES},
	{"/private/../src/a.c", -EACCES},
	{"/shadow", -EACCES},
	{"/group/open/a.c", -EACCES},
	{"/src/fifo", -EINVAL},
	{"/src", -EINVAL},
	{"/src/", -EINVAL},
	{"/", -EINVAL},
	{"/dir", -EINVAL},
	{"/..", -EINVAL},
	{"/src/a.c/", -ENOTDIR},
	{"/src/a.c/..", -ENOTDIR},
	{"/src/a.c/x", -ENOTDIR},
	{"/loop", -ELOOP},
	{"/one", -ELOOP},
	{"/dangling", -ENOENT},
	{"/nothing", -ENOENT},
	{"/src/nothing/../a.c", -ENOENT},
	{"", -ENOENT},
	{"src/a.c", -ENOENT},
	{"/etc/passwd", -ENOENT},
};

static int open_in(const char *path, const char *file, int *ret_fd)
{
	const struct path_root folder_of_ours = {path, 0, UINT64_MAX, false, false};

	return path_open(&folder_of_ours, file, ret_fd);
}

START_TEST(opens_what_is_everybodys)
{
	_cleanup_close_ int fd = -1;
	char text[8] = "";
	int err = open_in(root, paths[_i].path, &fd);

	ck_assert_msg(err == paths[_i].err, "%s: %d", paths[_i].path, err);
	if (err)
		return;
	ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "yes\n");
}
END_TEST

START_TEST(long_paths_end)
{
	static char path[8192];
	int fd = -1;

	ck_assert_int_eq(open_in(root, "/long", &fd), -EINVAL);
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	ck_assert_int_eq(open_in(root, path, &fd), -ENAMETOOLONG);
	path[300] = '\0';
	ck_assert_int_eq(open_in(root, path, &fd), -ENAMETOOLONG);
	strcpy(path, "/long");
	memset(path + 5, '/', 200);
	ck_assert_int_eq(open_in(root, path, &fd), -ENAMETOOLONG);
	/* More folders than the walk keeps open. */
	path[0] = '\0';
	for (int i = 0; i < 150; i++) {
		strcat(path, "/d");
		ck_assert_int_eq(mkdirat(folder, path + 1, 0755), 0);
	}
	ck_assert_int_eq(open_in(root, path, &fd), -ENAMETOOLONG);
	ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(nothing_that_the_kernel_makes_up)
{
	int fd = -1;

	ck_assert_int_eq(open_in("/", "/proc/kallsyms", &fd), -EINVAL);
	ck_assert_int_eq(open_in("/", "/proc/self/maps", &fd), -EINVAL);
	ck_assert_int_eq(open_in("/", "/proc/self/../version", &fd), -EINVAL);
	ck_assert_int_eq(open_in("/", "/sys/kernel/notes", &fd), -EINVAL);
	ck_assert_int_eq(open_in("/", "/dev/zero", &fd), -EINVAL);
	ck_assert_int_ne(open_in("/", "/proc/self/root/etc/shadow", &fd), 0);
	ck_assert_int_eq(open_in("/nowhere", "/x", &fd), -ENOENT);
	ck_assert_int_eq(fd, -1);
}
END_TEST

/* Debug files are looked for in this way. Root may keep such files to itself. */
START_TEST(the_daemon_may_read_what_others_may_not)
{
	const struct path_root ours = {root, 0, UINT64_MAX, true, false};
	static const char *const files[] = {"/src/a.c", "/src/secret.c", "/private/a.c"};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		_cleanup_close_ int fd = -1;

		ck_assert_int_eq(path_open(&ours, files[i], &fd), 0);
		ck_assert_int_ge(fd, 0);
	}
	_cleanup_close_ int fd = -1;
	ck_assert_int_eq(path_open(&ours, "/etc/passwd", &fd), -ENOENT);
}
END_TEST

/* The walk along a path and the reading of a file both end at their deadline. */
START_TEST(ends_in_time)
{
	const struct source_root ours = {0};
	struct source_budget budget = {.bytes = 100, .memory = 100};
	struct source_text *text = NULL;
	char path[128];
	int fd = -1;

	ck_assert_int_eq(path_open(&(struct path_root){root, 0, 0, false, false}, "/src/a.c", &fd),
	                 -ETIMEDOUT);
	ck_assert_int_eq(path_open(&(struct path_root){root, 0, clock_mono_ns(), false, false},
	                           "/src/a.c", &fd),
	                 -ETIMEDOUT);
	ck_assert_int_eq(fd, -1);
	snprintf(path, sizeof(path), "%s/src/a.c", root);
	ck_assert_int_eq(source_text_read_within(aside, &ours, path, &budget, &text), -ETIMEDOUT);
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(budget.bytes, 100);
}
END_TEST

/* A file that hangs is left behind, and further ones are read. */
START_TEST(does_not_hang)
{
	const struct source_root ours = {.pid = (uint32_t)getpid()}, hosts = {0};
	struct source_text *text = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/src/a.c", root);
	_cleanup_close_ int listener = hang_opens_of(path);
	if (host_lacks(listener >= 0, "root and fanotify, by which files hang"))
		return;
	uint64_t begun_ns = clock_mono_ns();
	ck_assert_int_eq(read_of(&ours, path, &text), -ETIMEDOUT);
	ck_assert_int_eq(read_of(&ours, path, &text), -ETIMEDOUT);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(read_of(&hosts, "/etc/passwd", &text), 0);
	ck_assert_uint_lt(clock_mono_ns() - begun_ns, 15 * NSEC_PER_SEC);
	source_text_free(text);
}
END_TEST

START_TEST(takes_no_more_than_that)
{
	const struct source_root ours = {0};
	struct source_budget budget = {.ns = 60 * NSEC_PER_SEC, .bytes = 7, .memory = 8};
	struct source_text *text = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/src/a.c", root);
	ck_assert_int_eq(source_text_read_within(aside, &ours, path, &budget, &text), 0);
	ck_assert_uint_eq(source_text_memory(text), 8);
	source_text_free(text);
	text = NULL;
	ck_assert_uint_eq(budget.bytes, 3);
	ck_assert_uint_gt(budget.ns, 0);
	ck_assert_uint_lt(budget.ns, 60 * NSEC_PER_SEC);
	ck_assert_int_eq(source_text_read_within(aside, &ours, path, &budget, &text), 0);
	ck_assert_str_eq(source_text_line(text, 1), "yes");
	source_text_free(text);
	text = NULL;
	ck_assert_uint_eq(budget.bytes, 0);
	/* The bytes read count, even when they exceed the limit. */
	budget.bytes = 10;
	budget.memory = 7;
	ck_assert_int_eq(source_text_read_within(aside, &ours, path, &budget, &text), -EFBIG);
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(budget.bytes, 6);
}
END_TEST

/* Starts a process that has mounted an overlay on a folder, in its own namespaces. Returns 0 when
 * it may not. */
static pid_t mount_overlay(const char *below, const char *at, int namespaces)
{
	char options[256], empty[80], ready = 0;
	int told[2];
	pid_t child;

	snprintf(empty, sizeof(empty), "%s/empty", root);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", empty, below);
	ck_assert_int_eq(pipe(told), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ready = unshare(namespaces) == 0 &&
		        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		        mount("overlay", at, "overlay", MS_RDONLY, options) == 0;
		if (write(told[1], &ready, 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(told[0], &ready, 1), 1);
	close(told[0]);
	close(told[1]);
	if (ready)
		return child;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

static const struct {
	int namespaces, err;
} mounters[] = {
	{CLONE_NEWNS, 0},
	/* The overlay may lie above a file system that the user serves. */
	{CLONE_NEWNS | CLONE_NEWUSER, -EOPNOTSUPP},
};

START_TEST(nothing_that_a_user_mounted)
{
	char below[80], at[80], path[160], link[160], of[32];
	struct path_root theirs = {of, 0, UINT64_MAX, false, false};
	_cleanup_close_ int fd = -1, mounted = -1;
	struct source_text *text = NULL;
	pid_t child;

	make_folder("empty", 0755);
	make_folder("merged", 0755);
	snprintf(below, sizeof(below), "%s/src", root);
	snprintf(at, sizeof(at), "%s/merged", root);
	child = mount_overlay(below, at, mounters[_i].namespaces);
	if (host_lacks(child, "overlays"))
		return;
	theirs.pid = (uint32_t)child;
	snprintf(of, sizeof(of), "/proc/%d/root", child);
	snprintf(path, sizeof(path), "%s/a.c", at);
	ck_assert_int_eq(path_open(&theirs, path, &fd), mounters[_i].err);
	ck_assert_int_eq(read_of(&(struct source_root){.pid = theirs.pid}, path, &text),
	                 mounters[_i].err);
	source_text_free(text);
	/* The file system is not asked for a missing file either. */
	snprintf(path, sizeof(path), "%s/nothing", at);
	ck_assert_int_eq(path_open(&theirs, path, &fd),
	                 mounters[_i].err ? mounters[_i].err : -ENOENT);
	/* The same holds for a path through a link. */
	snprintf(link, sizeof(link), "%s/away", root);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(path_open(&theirs, link, &fd),
	                 mounters[_i].err ? mounters[_i].err : -ENOENT);
	snprintf(path, sizeof(path), "%s%s", of, at);
	mounted = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(mounted, 0);
	ck_assert_int_eq(mounts_check_ask(mounted, theirs.pid), mounters[_i].err);
	for (unsigned int left = 0; left < 3; left++) {
		leave_descriptors(left);
		ck_assert_int_eq(mounts_check_ask(mounted, theirs.pid), -EMFILE);
		leave_descriptors(UINT_MAX);
	}
	/* The mount is not visible here. */
	ck_assert_int_eq(mounts_check_ask(mounted, 0), -EOPNOTSUPP);
	ck_assert_int_eq(mounts_check_ask(mounted, 4000001), -EOPNOTSUPP);
	/* Files beside the mount are not affected. */
	snprintf(path, sizeof(path), "%s/src/a.c", root);
	close(fd);
	ck_assert_int_eq(path_open(&theirs, path, &fd), 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

static struct source_text *lines_of(const char *bytes, size_t len)
{
	struct source_text *text = NULL;
	char path[128];

	put("lines", bytes, len, 0644);
	snprintf(path, sizeof(path), "%s/lines", root);
	/* As for another process: this process's root, through /proc. */
	ck_assert_int_eq(read_of(&(struct source_root){.pid = (uint32_t)getpid()}, path, &text), 0);
	ck_assert_int_eq(unlinkat(folder, "lines", 0), 0);
	return text;
}

static const struct {
	const char *bytes;
	size_t len;
	const char *lines[4];
} texts[] = {
	{"", 0, {NULL}},
	{"\n", 1, {""}},
	{"one", 3, {"one"}},
	{"one\n", 4, {"one"}},
	{"one\n\ntwo", 8, {"one", "", "two"}},
	{"dos\r\n\r\n\r", 8, {"dos", "", ""}},
	{"a\0b\n\0", 5, {"a?b", "?"}},
	{"\xff\xfe\n", 3, {"\xff\xfe"}},
};

START_TEST(splits_lines)
{
	_cleanup_(source_text_freep) struct source_text *text =
		lines_of(texts[_i].bytes, texts[_i].len);
	uint32_t count = 0;

	for (; count < 4 && texts[_i].lines[count]; count++)
		ck_assert_str_eq(source_text_line(text, count + 1), texts[_i].lines[count]);
	ck_assert_uint_eq(source_text_count(text), count);
	ck_assert_ptr_null(source_text_line(text, count + 1));
	ck_assert_ptr_null(source_text_line(text, 0));
	ck_assert_ptr_null(source_text_line(text, UINT32_MAX));
}
END_TEST

START_TEST(reads_no_more_than_that)
{
	_cleanup_free_ char *bytes = malloc(MAX_SOURCE_BYTES + 4096);
	struct source_text *text;

	memset(bytes, 'x', MAX_SOURCE_BYTES + 4096);
	bytes[MAX_SOURCE_LINE_BYTES + 10] = '\n';
	memset(bytes + MAX_SOURCE_BYTES - 10, '\n', 4106);
	text = lines_of(bytes, MAX_SOURCE_BYTES + 4096);
	ck_assert_uint_eq(source_text_count(text), 11);
	ck_assert_uint_eq(strlen(source_text_line(text, 1)), MAX_SOURCE_LINE_BYTES);
	ck_assert_uint_eq(strlen(source_text_line(text, 2)), MAX_SOURCE_LINE_BYTES);
	source_text_free(text);
	memset(bytes, '\n', MAX_SOURCE_BYTES + 4096);
	text = lines_of(bytes, MAX_SOURCE_BYTES + 4096);
	ck_assert_uint_eq(source_text_count(text), MAX_SOURCE_BYTES);
	source_text_free(text);
}
END_TEST

/* A pid identifies a process only together with its start time. */
START_TEST(of_the_very_process)
{
	const uint32_t pid = (uint32_t)getpid();
	const uint64_t began = reach_began_boot_ns(pid), tick = 10 * 1000 * 1000;
	const struct {
		struct source_root root;
		int err;
	} cases[] = {
		{{.pid = pid, .is_told = true, .began_boot_ns = began}, 0},
		{{.pid = pid, .is_told = true, .began_boot_ns = began + 5 * tick}, 0},
		{{.pid = pid, .is_told = true, .began_boot_ns = began - tick}, -ESRCH},
		{{.pid = pid, .is_told = true}, -ESRCH},
		{{.pid = 4000001, .is_told = true, .began_boot_ns = began}, -ESRCH},
		{{.pid = 4000001}, -ENOENT},
	};
	char path[128];

	ck_assert_uint_lt(clock_boot_ns() - began, 3600 * NSEC_PER_SEC);
	snprintf(path, sizeof(path), "%s/src/a.c", root);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source_text *text = NULL;

		ck_assert_int_eq(read_of(&cases[i].root, path, &text), cases[i].err);
		source_text_free(text);
	}
	/* A missing file is not reported missing for another process with the pid. */
	ck_assert_int_eq(read_of(&cases[2].root, "/nowhere", &(struct source_text *){0}), -ESRCH);
}
END_TEST

Suite *source_text_suite(void)
{
	Suite *suite = suite_create("source_text");
	TCase *tests = tcase_create("source_text");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 30);
	tcase_add_loop_test(tests, opens_what_is_everybodys, 0, sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(tests, long_paths_end);
	tcase_add_test(tests, nothing_that_the_kernel_makes_up);
	tcase_add_test(tests, the_daemon_may_read_what_others_may_not);
	tcase_add_test(tests, ends_in_time);
	tcase_add_test(tests, does_not_hang);
	tcase_add_test(tests, takes_no_more_than_that);
	tcase_add_loop_test(tests, nothing_that_a_user_mounted, 0,
	                    sizeof(mounters) / sizeof(mounters[0]));
	tcase_add_loop_test(tests, splits_lines, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tests, reads_no_more_than_that);
	tcase_add_test(tests, of_the_very_process);
	suite_add_tcase(suite, tests);
	return suite;
}
