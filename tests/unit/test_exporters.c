/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which targets have an exporter, and the files that the exporter to a directory writes and
 * removes.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "export/exporter.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], place[96];

static const struct {
	const char *target, *place; /* NULL: refused */
} targets[] = {
	{"directory:/srv/profiles", "/srv/profiles"},
	{"directory:/", "/"},
	{"directory:/a:b", "/a:b"},
	{"directory:", NULL},
	{"directory:relative", NULL},
	{"history:/srv", "/srv"},
	{"history:srv", NULL},
	{"directory", NULL},
	{"directory/", NULL},
	{"Directory:/srv", NULL},
	{":/srv", NULL},
	{"/srv", NULL},
	{"", NULL},
};

START_TEST(targets_are_found_or_refused)
{
	const char *found = NULL;
	const struct exporter *exporter = exporter_find(targets[_i].target, &found);

	ck_assert_int_eq(exporter != NULL, targets[_i].place != NULL);
	if (exporter)
		ck_assert_str_eq(found, targets[_i].place);
}
END_TEST

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/profd-exporters-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	umask(0077); /* as in the service */
	snprintf(place, sizeof(place), "%s/profiles", folder);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* A profile that begins `second` seconds after 2026-11-27T20:46:00.250Z. */
static struct profile_file profile_at(uint64_t second, const char *bytes)
{
	return (struct profile_file){
		.host = "some-host",
		.kind = "cpu",
		.suffix = ".pb.gz",
		.start_unix_ns = (1795812360 + second) * NSEC_PER_SEC + 250 * NSEC_PER_MSEC,
		.bytes = bytes,
		.len = strlen(bytes),
	};
}

static int put(const struct profile_file *profile, uint64_t max_bytes)
{
	return exporter_directory.put(place, max_bytes, profile);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static bool exists(const char *name)
{
	struct stat stat;

	return lstat(path_of(name), &stat) == 0;
}

static void assert_contents(const char *name, const char *bytes)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&text, path_of(name), 100), 0);
	ck_assert_str_eq(buf_text(&text), bytes);
}

static void make(const char *name, const char *bytes)
{
	_cleanup_close_ int fd = open(path_of(name), O_CREAT | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

START_TEST(a_file_for_each_profile)
{
	struct profile_file cpu = profile_at(0, "first"), later = profile_at(60, "second");
	struct profile_file rss = profile_at(0, "third");
	struct stat stat;

	rss.kind = "rss";
	ck_assert_int_eq(put(&cpu, 100), 0);
	ck_assert_int_eq(put(&rss, 100), 0);
	ck_assert_int_eq(put(&later, 100), 0);
	assert_contents("profd-some-host-cpu-20261127T204600.250Z.pb.gz", "first");
	assert_contents("profd-some-host-cpu-20261127T204700.250Z.pb.gz", "second");
	assert_contents("profd-some-host-rss-20261127T204600.250Z.pb.gz", "third");
	ck_assert(!exists(".profd-some-host-new"));
	ck_assert_int_eq(lstat(place, &stat), 0);
	ck_assert_uint_eq(stat.st_mode & 07777, 0750);
	ck_assert_int_eq(lstat(path_of("profd-some-host-cpu-20261127T204600.250Z.pb.gz"), &stat),
	                 0);
	ck_assert_uint_eq(stat.st_mode & 07777, 0640);
}
END_TEST

/* Intervals may be short. */
START_TEST(two_in_a_second)
{
	struct profile_file first = profile_at(0, "first"), second = profile_at(0, "second");

	second.start_unix_ns += 500 * NSEC_PER_MSEC;
	ck_assert_int_eq(put(&first, 100), 0);
	ck_assert_int_eq(put(&second, 100), 0);
	assert_contents("profd-some-host-cpu-20261127T204600.250Z.pb.gz", "first");
	assert_contents("profd-some-host-cpu-20261127T204600.750Z.pb.gz", "second");
}
END_TEST

/* Names of hosts may have any bytes. */
START_TEST(a_host_with_a_slash)
{
	for (uint64_t second = 0; second < 2; second++) {
		struct profile_file profile = profile_at(second, "12345");

		profile.host = "../a/b";
		ck_assert_int_eq(put(&profile, 5), 0);
	}
	ck_assert(!exists("profd-.._a_b-cpu-20261127T204600.250Z.pb.gz"));
	ck_assert(exists("profd-.._a_b-cpu-20261127T204601.250Z.pb.gz"));
}
END_TEST

START_TEST(the_oldest_make_room)
{
	/* Room for two, of whichever kind. */
	for (uint64_t second = 0; second < 5; second++) {
		struct profile_file profile = profile_at(second, "12345");

		profile.kind = second % 2 ? "rss" : "cpu";
		ck_assert_int_eq(put(&profile, 10), 0);
	}
	ck_assert(!exists("profd-some-host-cpu-20261127T204602.250Z.pb.gz"));
	ck_assert(exists("profd-some-host-rss-20261127T204603.250Z.pb.gz"));
	ck_assert(exists("profd-some-host-cpu-20261127T204604.250Z.pb.gz"));
}
END_TEST

START_TEST(one_that_is_too_large)
{
	struct profile_file small = profile_at(0, "1"), large = profile_at(60, "12345678901");

	ck_assert_int_eq(put(&small, 10), 0);
	ck_assert_int_eq(put(&large, 10), -EFBIG);
	assert_contents("profd-some-host-cpu-20261127T204600.250Z.pb.gz", "1");
}
END_TEST

/* Nobody else's file is removed, however little room there is. */
START_TEST(files_of_others_stay)
{
	static const char *const others[] = {
		"notes.txt",
		"profd-some-host-cpu-20001127T204600.250Z.pb.gz.bak",
		"profd-some-host-cpu-20001127T204600.250Z.txt",
		"profd-some-host-cpu-20001127.pb.gz",
		"profd-some-host-cpu-20001127T204600Z.pb.gz",
		"profd-some-host-cpu-20001127T204600.250Z1.pb.gz",
		"profd-some-host-cpu-20001127T204600.2500.pb.gz",
		"profd-some-host-cpu-.pb.gz",
		"profd-some-host-cpu-20001131T204600.250Z.pb.gz",
		"profd-some-host-cpu-20001127T 04600.250Z.pb.gz",
		"profd-some-host-a-kind-whose-name-is-long-20001127T204600.250Z.pb.gz",
		"profd-some-cpu-20001127T204600.250Z.pb.gz",
		"profd-some-host-2-cpu-20001127T204600.250Z.pb.gz",
		"profd-other-cpu-20001127T204600.250Z.pb.gz",
	};
	struct profile_file profile = profile_at(0, "12345"), later = profile_at(60, "12345");

	ck_assert_int_eq(mkdir(place, 0700), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make(others[i], "not profd's");
	ck_assert_int_eq(mkdir(path_of("profd-some-host-cpu-20001127T204601.250Z.pb.gz"), 0700), 0);
	ck_assert_int_eq(put(&profile, 5), 0);
	ck_assert_int_eq(put(&later, 5), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_contents(others[i], "not profd's");
	ck_assert(exists("profd-some-host-cpu-20001127T204601.250Z.pb.gz"));
	ck_assert(!exists("profd-some-host-cpu-20261127T204600.250Z.pb.gz"));
	ck_assert(exists("profd-some-host-cpu-20261127T204700.250Z.pb.gz"));
}
END_TEST

/* A daemon that was killed left a part of a file, or somebody a link in its place. */
START_TEST(what_a_killed_daemon_left)
{
	struct profile_file profile = profile_at(0, "whole");
	char part[128];

	ck_assert_int_eq(mkdir(place, 0700), 0);
	make("innocent", "intact");
	snprintf(part, sizeof(part), "%s/.profd-some-host-new", place);
	if (_i)
		ck_assert_int_eq(symlink(path_of("innocent"), part), 0);
	else
		make(".profd-some-host-new", "a longer part of a file");
	ck_assert_int_eq(put(&profile, 100), 0);
	assert_contents("profd-some-host-cpu-20261127T204600.250Z.pb.gz", "whole");
	assert_contents("innocent", "intact");
	ck_assert(!exists(".profd-some-host-new"));
}
END_TEST

START_TEST(places_that_cannot_be_written)
{
	struct profile_file profile = profile_at(0, "bytes");

	ck_assert_int_eq(exporter_directory.put("/no/such/folder", 100, &profile), -ENOENT);
	ck_assert_int_eq(exporter_directory.put("/dev/null", 100, &profile), -ENOTDIR);
	ck_assert_int_eq(exporter_directory.put("/proc", 100, &profile), -ENOENT);
}
END_TEST

Suite *exporters_suite(void)
{
	Suite *suite = suite_create("exporters");
	TCase *tcase = tcase_create("exporters");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, targets_are_found_or_refused, 0,
	                    sizeof(targets) / sizeof(targets[0]));
	tcase_add_test(tcase, a_file_for_each_profile);
	tcase_add_test(tcase, two_in_a_second);
	tcase_add_test(tcase, a_host_with_a_slash);
	tcase_add_test(tcase, the_oldest_make_room);
	tcase_add_test(tcase, one_that_is_too_large);
	tcase_add_test(tcase, files_of_others_stay);
	tcase_add_loop_test(tcase, what_a_killed_daemon_left, 0, 2);
	tcase_add_test(tcase, places_that_cannot_be_written);
	suite_add_tcase(suite, tcase);
	return suite;
}
