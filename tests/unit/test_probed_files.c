/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which files are attached, once and by whom they are used, and how they go. The files are mapped
 * by this process; the kind of probes is one that only counts.
 */
#include "tests/unit/suites.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "probes/probed_files.h"
#include "proc/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, SEVERAL = 40 };

static struct {
	uv_loop_t loop;
	struct crew *crew;
	struct store *store;
	struct procs *procs;
	struct lane *lane;
	struct file_opener *opener;
	struct probed_files files;
	int attach_error, asked, attached, changed;
	uint32_t hint;
	char folder[64], paths[SEVERAL][96];
} all;

static int attach(struct probed_file *file)
{
	all.asked++;
	all.hint = file->hint;
	return all.attach_error;
}

static void on_attached(struct probed_file *file)
{
	ck_assert_int_eq(file->state, PROBED_ATTACHED);
	all.attached++;
}

static void on_changed(struct probed_files *files)
{
	ck_assert_ptr_eq(files, &all.files);
	all.changed++;
}

static const char *why(const struct probed_file *file)
{
	return strerror(-file->err);
}

static const struct probed_kind counted = {
	.what = "nothing to",
	.file_bytes = sizeof(struct probed_file),
	.attach = attach,
	.attached = on_attached,
	.changed = on_changed,
	.why = why,
};

static void on_opened(void *ctx)
{
	(void)ctx;
}

static void set_up(void)
{
	memset(&all, 0, sizeof(all));
	accounts_trust(TRUST_EVERYBODY);
	strcpy(all.folder, "/tmp/profd-probed-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(all.folder));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	ck_assert_int_eq(
		crew_new(&(struct crew_config){.loop = &all.loop, .deadline_ns = 2 * NSEC_PER_SEC},
	                 &all.crew),
		0);
	all.store = store_new(16);
	all.procs = procs_new(all.store);
	all.lane = lane_new(&all.loop, WORK_heaps, 64);
	all.opener = file_opener_new(all.crew, all.store, on_opened, NULL);
	probed_files_init(&all.files,
	                  &(struct probed_files_config){&counted, all.lane, all.procs, all.opener});
}

static void run_for(uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (clock_mono_ns() < end) {
		uv_run(&all.loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
}

static void tear_down(void)
{
	lane_stop(all.lane);
	while (lane_length(all.lane))
		run_for(NSEC_PER_MSEC);
	probed_files_release(&all.files);
	crew_stop(all.crew);
	file_opener_free(all.opener);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	crew_free(all.crew);
	lane_free(all.lane);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	procs_free(all.procs);
	store_free(all.store);
	accounts_trust(TRUST_ROOT);
	for (int i = 0; i < SEVERAL; i++)
		if (all.paths[i][0])
			unlink(all.paths[i]);
	rmdir(all.folder);
}

/* Maps a new file of this process; the mapping stays until the end. */
static struct proc_mapping mapped(uint32_t number)
{
	char *path = all.paths[number - 1];
	int fd;

	snprintf(path, sizeof(all.paths[0]), "%s/%u", all.folder, number);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGE), 0);
	uint64_t start =
		(uint64_t)(uintptr_t)mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return (struct proc_mapping){
		.start = start, .end = start + PAGE, .object = number, .path = path};
}

/* Asks until the file is opened. */
static bool use_of(pid_t pid, const struct proc_mapping *mapping, uint32_t hint)
{
	uint64_t end = clock_mono_ns() + 5 * NSEC_PER_SEC;

	while (clock_mono_ns() < end) {
		uint64_t refused = all.files.refused;

		if (probed_files_use(&all.files, (uint32_t)pid, mapping, hint))
			return true;
		if (all.files.refused != refused)
			return false;
		run_for(NSEC_PER_MSEC);
	}
	ck_abort_msg("the file was never opened");
	return false;
}

static bool use(const struct proc_mapping *mapping, uint32_t hint)
{
	return use_of(getpid(), mapping, hint);
}

static void wait_for(const int *count, int value)
{
	uint64_t end = clock_mono_ns() + 5 * NSEC_PER_SEC;

	while (*count < value && clock_mono_ns() < end)
		run_for(NSEC_PER_MSEC);
	ck_assert_int_eq(*count, value);
}

START_TEST(a_file_is_attached_once)
{
	const struct proc_mapping first = mapped(1);
	struct proc_mapping again = first;

	ck_assert(use(&first, 5));
	wait_for(&all.attached, 1);
	ck_assert_uint_eq(all.hint, 5);
	ck_assert(use(&first, 5));
	/* As if the process had the inode mapped as another object, too. */
	again.object = 2;
	ck_assert(use(&again, 5));
	run_for(20 * NSEC_PER_MSEC);
	ck_assert_int_eq(all.asked, 1);
	ck_assert_ptr_nonnull(all.files.first);
	ck_assert_ptr_null(all.files.first->next);
	ck_assert_uint_eq(all.files.first->used.users, 2);
}
END_TEST

START_TEST(an_unused_file_goes)
{
	const struct proc_mapping mapping = mapped(1);

	ck_assert(use(&mapping, 0));
	wait_for(&all.attached, 1);
	/* The process table does not have this process, so nobody has the mapping. */
	probed_files_sweep(&all.files);
	ck_assert_int_eq(all.files.first->state, PROBED_DETACHING);
	wait_for(&all.changed, 1);
	ck_assert_ptr_null(all.files.first);
	ck_assert_uint_eq(all.files.slots, 0);
	ck_assert_uint_eq(all.files.shares.taken, 0);
}
END_TEST

START_TEST(a_file_that_is_used_again_is_attached_again)
{
	const struct proc_mapping mapping = mapped(1);

	ck_assert(use(&mapping, 0));
	wait_for(&all.attached, 1);
	probed_files_sweep(&all.files);
	ck_assert(use(&mapping, 0));
	wait_for(&all.attached, 2);
	ck_assert_int_eq(all.files.first->state, PROBED_ATTACHED);
}
END_TEST

START_TEST(a_file_that_fails_takes_no_place)
{
	const struct proc_mapping mapping = mapped(1);

	all.attach_error = -ENOENT;
	ck_assert(use(&mapping, 0));
	wait_for(&all.changed, 1);
	ck_assert_int_eq(all.files.first->state, PROBED_FAILED);
	ck_assert_int_eq(all.files.first->err, -ENOENT);
	ck_assert_uint_eq(all.files.shares.taken, 0);
	/* It is known, and not tried again. */
	ck_assert(use(&mapping, 0));
	run_for(20 * NSEC_PER_MSEC);
	ck_assert_int_eq(all.asked, 1);
}
END_TEST

START_TEST(failures_are_bounded)
{
	size_t count = 0;

	all.attach_error = -EINVAL;
	for (uint32_t i = 1; i <= SEVERAL; i++) {
		const struct proc_mapping mapping = mapped(i);

		ck_assert(use(&mapping, 0));
		wait_for(&all.changed, (int)i);
	}
	for (const struct probed_file *file = all.files.first; file; file = file->next)
		count++;
	ck_assert_uint_eq(count, MAX_PROBED_FAILED);
}
END_TEST

START_TEST(one_user_gets_half)
{
	int refused = 0;

	/* As if there had been a sweep for want of room just now. */
	all.files.swept_ns = clock_mono_ns();
	for (uint32_t i = 1; i <= SEVERAL; i++) {
		const struct proc_mapping mapping = mapped(i);

		refused += !use(&mapping, 0);
	}
	ck_assert_int_eq(refused, SEVERAL - MAX_PROBED_FILES / 2);
	ck_assert_uint_eq(all.files.refused, (uint64_t)refused);
	wait_for(&all.attached, MAX_PROBED_FILES / 2);
	/* Who was refused is told after the sweep that makes room. */
	probed_files_sweep(&all.files);
	ck_assert_int_ge(all.changed, 1);
	wait_for(&all.changed, 1 + MAX_PROBED_FILES / 2);
	ck_assert_uint_eq(all.files.slots, 0);
}
END_TEST

START_TEST(files_of_who_is_not_trusted_are_left_alone)
{
	const struct proc_mapping mapping = mapped(1);
	pid_t his;

	accounts_trust(TRUST_ROOT);
	his = fork();
	if (!his) {
		while (setresuid(1234, 1234, 1234) || pause())
			;
	}
	while (owner_read((uint32_t)his) == 0)
		usleep(1000);
	ck_assert(use_of(his, &mapping, 3));
	ck_assert(use_of(his, &mapping, 3));
	ck_assert_uint_eq(all.files.untrusted_count, 1);
	ck_assert_uint_eq(all.files.untrusted_hint, 3);
	ck_assert_str_eq(all.files.untrusted_path, mapping.path);
	ck_assert_int_eq(all.asked, 0);
	kill(his, SIGKILL);
	waitpid(his, NULL, 0);
	probed_files_sweep(&all.files);
	ck_assert_ptr_null(all.files.untrusted_path);
}
END_TEST

Suite *probed_files_suite(void)
{
	Suite *suite = suite_create("probed_files");

	/* Only root may open the files that processes have mapped. */
	if (geteuid() != 0) {
		printf("not root: probed files are not looked at\n");
		return suite;
	}
	TCase *tcase = tcase_create("probed_files");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_file_is_attached_once);
	tcase_add_test(tcase, an_unused_file_goes);
	tcase_add_test(tcase, a_file_that_is_used_again_is_attached_again);
	tcase_add_test(tcase, a_file_that_fails_takes_no_place);
	tcase_add_test(tcase, failures_are_bounded);
	tcase_add_test(tcase, one_user_gets_half);
	tcase_add_test(tcase, files_of_who_is_not_trusted_are_left_alone);
	tcase_set_timeout(tcase, 20);
	suite_add_tcase(suite, tcase);
	return suite;
}
