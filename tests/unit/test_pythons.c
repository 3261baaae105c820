/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which processes are reported to the kernel half, as processes start, fork, exec and end.
 */
#include "python/pythons.h"
#include "proc/owner.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/open_mapped.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	PID = 4100000, /* no process has this pid or the following ones */
	PIDS = 64,
	LIBRARY_BYTES = 0x2000,
	FIRST = 0x7f0000000000,
	SECOND = 0x7f1000000000,
	PLAIN = 0x7f2000000000,
};

static const struct file_key no_file;

static struct {
	uv_loop_t loop;
	struct store *store;
	struct procs *procs;
	struct pythons *pythons;
	struct python_process told[PIDS]; /* version 0: not reported */
	int sets, unsets, room;
	bool anybody; /* any process may be reported, and none is recorded */
	int fds[3];
	char paths[3][64]; /* 3.13, 3.14, and a file without Python */
} all;

static int set(uint32_t pid, const struct python_process *process, void *ctx)
{
	ck_assert_ptr_eq(ctx, &all);
	if (all.anybody)
		return 0;
	ck_assert_uint_lt(pid - PID, PIDS);
	if (!all.told[pid - PID].version && !all.room)
		return -E2BIG;
	all.room -= !all.told[pid - PID].version;
	all.told[pid - PID] = *process;
	all.sets++;
	return 0;
}

static void unset(uint32_t pid, void *ctx)
{
	ck_assert_ptr_eq(ctx, &all);
	if (all.anybody)
		return;
	ck_assert_uint_ne(all.told[pid - PID].version, 0);
	all.told[pid - PID].version = 0;
	all.room++;
	all.unsets++;
}

static int python_fd(const uint64_t *words, size_t count)
{
	_cleanup_(python_image_release) struct python_image image;
	uint8_t code[0x100] = {0xc3};

	python_image_init(&image);
	section_image_add(&image.file, ".text", PYTHON_TEXT, code, sizeof(code));
	section_image_add(&image.file, ".data", PYTHON_DATA, words, count * sizeof(*words));
	python_image_symbol(&image, "_PyRuntime", STT_OBJECT, PYTHON_DATA, 8);
	python_image_seal(&image);
	return elf_image_fd(image.file.out.data, image.file.out.len);
}

static void set_up(void)
{
	const struct python_sink sink = {set, unset, &all};
	struct elf_image plain;

	memset(&all, 0, sizeof(all));
	all.room = PIDS;
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.store = store_new(16);
	all.procs = procs_new(all.store);
	all.pythons = pythons_new(&all.loop, all.procs, all.store, &sink);
	ck_assert_ptr_nonnull(all.pythons);
	elf_image_init(&plain, 1);
	all.fds[0] = python_fd(python_words_313, PYTHON_WORDS_313);
	all.fds[1] = python_fd(python_words_314t, PYTHON_WORDS_314);
	all.fds[2] = elf_image_fd(&plain, sizeof(plain));
	for (int i = 0; i < 3; i++)
		snprintf(all.paths[i], sizeof(all.paths[i]), "/proc/self/fd/%d", all.fds[i]);
}

static void tear_down(void)
{
	pythons_stop(all.pythons);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	pythons_free(all.pythons);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	procs_free(all.procs);
	store_free(all.store);
	for (int i = 0; i < 3; i++)
		close(all.fds[i]);
}

static void map(uint32_t pid, uint64_t start, int file)
{
	const struct file_key key = key_of(all.paths[file]);

	procs_mmap(all.procs, pid, start, start + LIBRARY_BYTES, 0, &key, all.paths[file]);
}

static void sync_all(void)
{
	pythons_sync(all.pythons);
	uv_run(&all.loop, UV_RUN_DEFAULT);
}

static struct pythons_stats stats(void)
{
	struct pythons_stats now;

	pythons_get_stats(all.pythons, &now);
	return now;
}

START_TEST(one_process)
{
	procs_exec(all.procs, PID, "any", 1);
	map(PID, PLAIN, 2);
	map(PID, FIRST, 0);
	pythons_sync(all.pythons);
	ck_assert_int_eq(all.sets, 0); /* the file is still being read */
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(all.sets, 1); /* reported as soon as it is known */
	ck_assert_uint_eq(all.told[0].version, 0x030d);
	/* The first byte of code is not at the start of the file. */
	ck_assert_uint_eq(all.told[0].interpreters & ~0xfffULL, FIRST + PYTHON_DATA - 0x1000);
	ck_assert_uint_eq(all.told[0].thread_id, 152);
	ck_assert_uint_eq(pythons_version(all.pythons, PID), 0x030d);
	ck_assert_uint_eq(pythons_version(all.pythons, PID + 1), 0);
	ck_assert_uint_eq(stats().processes, 1);
	ck_assert_uint_eq(stats().files, 1);
	ck_assert_uint_eq(stats().files_failed, 0);
	/* A mapping of no file changes nothing. */
	procs_mmap(all.procs, PID, 0x1000, 0x2000, 0, &no_file, "");
	sync_all();
	ck_assert_int_eq(all.sets, 1);
	/* The process ends. Its version stays known, because its samples may be read later. */
	procs_exit(all.procs, PID, PID, 10);
	sync_all();
	ck_assert_int_eq(all.unsets, 1);
	ck_assert_uint_eq(pythons_version(all.pythons, PID), 0x030d);
	ck_assert_uint_eq(stats().processes, 0);
	procs_expire(all.procs, 11);
	sync_all();
	ck_assert_uint_eq(pythons_version(all.pythons, PID), 0);
	ck_assert_int_eq(all.unsets, 1);
}
END_TEST

START_TEST(children)
{
	procs_exec(all.procs, PID, "parent", 1);
	map(PID, FIRST, 1);
	sync_all();
	for (uint32_t i = 1; i <= 10; i++)
		procs_fork(all.procs, PID, PID + i, 2);
	pythons_sync(all.pythons);
	ck_assert_int_eq(all.sets, 11); /* at once */
	ck_assert_mem_eq(&all.told[10], &all.told[0], sizeof(*all.told));
	ck_assert(all.told[10].free_threaded);
	ck_assert_uint_eq(stats().files, 1);
	/* One child becomes another program, one another Python. */
	procs_exec(all.procs, PID + 1, "sh", 3);
	map(PID + 1, PLAIN, 2);
	procs_exec(all.procs, PID + 2, "python", 3);
	map(PID + 2, SECOND, 0);
	sync_all();
	ck_assert_uint_eq(all.told[1].version, 0);
	ck_assert_uint_eq(pythons_version(all.pythons, PID + 1), 0);
	ck_assert_uint_eq(all.told[2].version, 0x030d);
	ck_assert_uint_eq(all.told[2].interpreters >> 36, SECOND >> 36);
	ck_assert_uint_eq(stats().processes, 10);
	ck_assert_uint_eq(stats().files, 2);
}
END_TEST

/* Reported again, although the program looks the same. */
START_TEST(the_same_program_again)
{
	procs_exec(all.procs, PID, "python", 1);
	map(PID, FIRST, 0);
	sync_all();
	ck_assert_int_eq(all.sets, 1);
	procs_exec(all.procs, PID, "python", 2);
	map(PID, FIRST, 0);
	sync_all();
	ck_assert_int_eq(all.sets, 2);
	/* The pid is used again. */
	procs_exit(all.procs, PID, PID, 3);
	procs_exec(all.procs, PID, "python", 4);
	map(PID, FIRST, 0);
	sync_all();
	ck_assert_int_eq(all.sets, 3);
	ck_assert_uint_eq(stats().processes, 1);
	ck_assert_int_eq(all.unsets, 0);
}
END_TEST

START_TEST(two_in_one_process)
{
	procs_exec(all.procs, PID, "both", 1);
	map(PID, SECOND, 1);
	sync_all();
	map(PID, FIRST, 0);
	sync_all();
	ck_assert_uint_eq(all.told[0].version, 0x030e); /* was mapped first */
	/* The first one is unmapped; the other stays. */
	procs_mmap(all.procs, PID, SECOND, SECOND + LIBRARY_BYTES, 0, &no_file, "");
	sync_all();
	ck_assert_uint_eq(all.told[0].version, 0x030d);
	/* For a process in which both are found together, their order is not known. */
	procs_exec(all.procs, PID + 1, "both", 1);
	map(PID + 1, SECOND, 1);
	map(PID + 1, FIRST, 0);
	sync_all();
	ck_assert_uint_eq(all.told[1].version, 0x030d);
}
END_TEST

START_TEST(not_understood)
{
	uint64_t words[PYTHON_WORDS_313];
	char path[64];

	memcpy(words, python_words_313, sizeof(words));
	words[1] = 0x031200f0;
	int fd = python_fd(words, PYTHON_WORDS_313);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const struct file_key key = key_of(path);
	procs_exec(all.procs, PID, "future", 1);
	procs_mmap(all.procs, PID, FIRST, FIRST + LIBRARY_BYTES, 0, &key, path);
	sync_all();
	procs_fork(all.procs, PID, PID + 1, 2);
	sync_all();
	ck_assert_int_eq(all.sets, 0);
	ck_assert_uint_eq(stats().files_failed, 1); /* the file is read only once */
	ck_assert_uint_eq(stats().files, 0);
	/* A file that is understood, in the same process, is used. */
	map(PID, SECOND, 0);
	sync_all();
	ck_assert_uint_eq(all.told[0].version, 0x030d);
	close(fd);
}
END_TEST

START_TEST(no_room)
{
	all.room = 2;
	procs_exec(all.procs, PID, "parent", 1);
	map(PID, FIRST, 0);
	sync_all();
	for (uint32_t i = 1; i < 5; i++)
		procs_fork(all.procs, PID, PID + i, 2);
	sync_all();
	ck_assert_uint_eq(stats().processes, 2);
	ck_assert_uint_eq(stats().processes_refused, 3);
	ck_assert_uint_eq(pythons_version(all.pythons, PID + 4), 0x030d);
	procs_exit(all.procs, PID, PID, 3);
	sync_all();
	ck_assert_uint_eq(stats().processes, 2);
	ck_assert_int_eq(all.sets, 3);
	ck_assert_int_eq(all.room, 0);
}
END_TEST

/* One user's processes take at most half of the places, so those of another user find room. */
START_TEST(each_user_has_a_share)
{
	uint32_t own = (uint32_t)getpid();

	procs_exec(all.procs, PID, "parent", 1);
	map(PID, FIRST, 0);
	sync_all();
	all.anybody = true;
	for (uint32_t i = 1; i <= MAX_PYTHON_PROCESSES; i++)
		procs_fork(all.procs, PID, PID + i, 2);
	sync_all();
	ck_assert_uint_eq(stats().processes, MAX_PYTHON_PROCESSES / 2);
	ck_assert_uint_gt(stats().processes_refused, 0);
	procs_exec(all.procs, own, "python", 3);
	map(own, FIRST, 0);
	sync_all();
	ck_assert_uint_eq(stats().processes, MAX_PYTHON_PROCESSES / 2 + 1);
	ck_assert_uint_eq(pythons_owner(all.pythons, own), getuid());
	ck_assert_uint_eq(pythons_owner(all.pythons, PID), OWNER_UNKNOWN);
}
END_TEST

/* More processes change at once than can be noted one by one. */
START_TEST(all_at_once)
{
	enum { STORM = 20000 };

	procs_exec(all.procs, PID, "parent", 1);
	map(PID, FIRST, 0);
	sync_all();
	for (uint32_t i = 0; i < STORM; i++) {
		procs_fork(all.procs, PID + PIDS, PID + PIDS + i, 2);
		procs_exit(all.procs, PID + PIDS + i, PID + PIDS + i, 3);
	}
	procs_exit(all.procs, PID, PID, 3);
	procs_exec(all.procs, PID + 1, "last", 3);
	map(PID + 1, SECOND, 1);
	sync_all();
	ck_assert_int_eq(all.unsets, 1);
	ck_assert_uint_eq(all.told[1].version, 0x030e);
	ck_assert_uint_eq(stats().processes, 1);
}
END_TEST

/* Maps a file that nothing else has. */
static void map_other(uint32_t pid, uint8_t seed)
{
	struct elf_image plain;
	char path[64];

	elf_image_init(&plain, seed);
	int fd = elf_image_fd(&plain, sizeof(plain));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const struct file_key key = key_of(path);
	procs_exec(all.procs, pid, "other", 2);
	procs_mmap(all.procs, pid, PLAIN, PLAIN + LIBRARY_BYTES, 0, &key, path);
	close(fd);
}

/* The store has closed the file, but the child of a process that maps it is still reported. */
START_TEST(file_left_the_store)
{
	procs_exec(all.procs, PID, "parent", 1);
	map(PID, FIRST, 0);
	sync_all();
	for (uint8_t i = 0; i < 20; i++) {
		map_other(PID + 1, (uint8_t)(2 + i));
		sync_all();
	}
	procs_fork(all.procs, PID, PID + 2, 3);
	sync_all();
	ck_assert_mem_eq(&all.told[2], &all.told[0], sizeof(*all.told));
	ck_assert_uint_eq(stats().files, 1);
}
END_TEST

/* A user has more files to be examined than there is room for. */
START_TEST(put_off)
{
	for (uint8_t i = 0; !stats().files_put_off; i++) {
		ck_assert_uint_lt(i, 40);
		map_other(PID + 1, (uint8_t)(2 + i));
		pythons_sync(all.pythons);
	}
	procs_exec(all.procs, PID, "python", 1);
	map(PID, FIRST, 0);
	pythons_sync(all.pythons);
	ck_assert_uint_gt(stats().files_put_off, 1);
	procs_fork(all.procs, PID, PID + 2, 2);
	sync_all();
	ck_assert_uint_eq(all.told[0].version, 0x030d);
	ck_assert_uint_eq(all.told[2].version, 0x030d);
}
END_TEST

START_TEST(stopped_early)
{
	procs_exec(all.procs, PID, "python", 1);
	map(PID, FIRST, 0);
	map(PID, SECOND, 1);
	pythons_sync(all.pythons);
	ck_assert(uv_loop_alive(&all.loop));
	pythons_stop(all.pythons);
	pythons_stop(all.pythons);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	procs_fork(all.procs, PID, PID + 1, 2); /* no listener any more */
	sync_all();
	ck_assert_int_eq(all.sets, 0);
}
END_TEST

/* One stops in the middle of the list of watchers. */
START_TEST(watchers)
{
	const struct python_sink sink = {set, unset, &all};
	struct pythons *others[4];

	for (int i = 0; i < 4; i++) {
		others[i] = pythons_new(&all.loop, all.procs, all.store, &sink);
		ck_assert_ptr_nonnull(others[i]);
	}
	for (int i = 1; i < 5; i++)
		pythons_free(others[i % 4]);
	procs_exec(all.procs, PID, "python", 1);
	map(PID, FIRST, 0);
	sync_all();
	ck_assert_int_eq(all.sets, 1);
}
END_TEST

Suite *pythons_suite(void)
{
	Suite *suite = suite_create("pythons");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, one_process);
	tcase_add_test(tests, children);
	tcase_add_test(tests, the_same_program_again);
	tcase_add_test(tests, two_in_one_process);
	tcase_add_test(tests, not_understood);
	tcase_add_test(tests, no_room);
	tcase_add_test(tests, each_user_has_a_share);
	tcase_add_test(tests, all_at_once);
	tcase_add_test(tests, file_left_the_store);
	tcase_add_test(tests, put_off);
	tcase_add_test(tests, stopped_early);
	tcase_add_test(tests, watchers);
	suite_add_tcase(suite, tests);
	return suite;
}
