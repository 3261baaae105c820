/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parsers for the memory figures in /proc.
 */
#include "tests/unit/suites.h"

#include "memory/figures.h"

#include <errno.h>
#include <string.h>

static const char status[] =
	"Name:\thog\nTgid:\t77\nVmRSS:\t    9 kB\nRssAnon:\t     100 kB\n"
	"RssFile:\t      20 kB\nRssShmem:\t       3 kB\nVmSwap:\t       7 kB\n";

START_TEST(reads_status)
{
	struct memory_figures figures;
	uint32_t pid;

	ck_assert_int_eq(memory_parse_status(status, strlen(status), &figures), 0);
	ck_assert_uint_eq(figures.values[MEMORY_rss_anon], 100 * 1024);
	ck_assert_uint_eq(figures.values[MEMORY_rss_file], 20 * 1024);
	ck_assert_uint_eq(figures.values[MEMORY_rss_shmem], 3 * 1024);
	ck_assert_uint_eq(figures.values[MEMORY_swap], 7 * 1024);
	ck_assert(figures.values[MEMORY_heap_inuse] == MEMORY_UNKNOWN);
	ck_assert_uint_eq(memory_held(&figures), 110 * 1024);
	ck_assert_uint_eq(memory_resident(&figures), 123 * 1024);
	ck_assert_int_eq(memory_parse_tgid(status, strlen(status), &pid), 0);
	ck_assert_uint_eq(pid, 77);
}
END_TEST

START_TEST(refuses_what_is_no_status)
{
	static const char ending[] = "Name:\thog\nState:\tZ\n";
	static const char cut[] = "RssAnon:\t 1 kB\nRssFile:\t 1 kB\n";
	static const char huge[] = "RssAnon: 18446744073709551615 kB\nRssFile: 1 kB\n"
				   "RssShmem: 1 kB\nVmSwap: 1 kB\n";
	struct memory_figures figures;

	ck_assert_int_eq(memory_parse_status(ending, strlen(ending), &figures), -ENODATA);
	ck_assert_int_eq(memory_parse_status(cut, strlen(cut), &figures), -EINVAL);
	ck_assert_int_eq(memory_parse_status(huge, strlen(huge), &figures), -EINVAL);
	ck_assert_int_eq(memory_parse_status("", 0, &figures), -ENODATA);
}
END_TEST

START_TEST(reads_statm)
{
	struct memory_pages pages;

	ck_assert_int_eq(memory_parse_statm("10 20 30 1 0 4 0\n", 17, &pages), 0);
	ck_assert_uint_eq(pages.resident, 20);
	ck_assert_uint_eq(pages.shared, 30);
	ck_assert_int_eq(memory_parse_statm("10 20", 5, &pages), -EINVAL);
	ck_assert_int_eq(memory_parse_statm("10 2x 30", 8, &pages), -EINVAL);
}
END_TEST

START_TEST(reads_stat_of_any_name)
{
	static const char stat[] = "12 (a) b (c) S 1 2 3 4 5 4194560 7 8 9 10 11 12 13 14 15 16 17 "
				   "18 987654 19 20\n";
	static const char kthread[] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 "
				      "11 0 0\n";
	struct memory_owner owner;

	ck_assert_int_eq(memory_parse_stat(stat, strlen(stat), &owner), 0);
	ck_assert_str_eq(owner.comm, "a) b (c");
	ck_assert_uint_eq(owner.start_ticks, 987654);
	ck_assert(!owner.kernel);
	ck_assert_int_eq(memory_parse_stat(kthread, strlen(kthread), &owner), 0);
	ck_assert(owner.kernel);
	ck_assert_uint_eq(owner.start_ticks, 11);
	ck_assert_int_eq(memory_parse_stat("1 (x) S 1", 9, &owner), -EINVAL);
	ck_assert_int_eq(memory_parse_stat(")(", 2, &owner), -EINVAL);
}
END_TEST

START_TEST(reads_host_and_pss)
{
	static const char meminfo[] = "MemTotal:   1000 kB\nMemFree:  1 kB\nMemAvailable: 30 kB\n";
	static const char rollup[] = "55-7f ---p 0 00:00 0 [rollup]\nRss:  9 kB\nPss:   5 kB\n"
				     "Pss_Dirty:  1 kB\n";
	struct memory_host host;
	uint64_t pss;

	ck_assert_int_eq(memory_parse_host(meminfo, strlen(meminfo), &host), 0);
	ck_assert_uint_eq(host.total_bytes, 1000 * 1024);
	ck_assert_uint_eq(host.available_bytes, 30 * 1024);
	ck_assert_int_eq(memory_parse_pss(rollup, strlen(rollup), &pss), 0);
	ck_assert_uint_eq(pss, 5 * 1024);
	ck_assert_int_eq(memory_parse_pss(meminfo, strlen(meminfo), &pss), -EINVAL);
}
END_TEST

Suite *memory_figures_suite(void)
{
	Suite *suite = suite_create("memory_figures");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, reads_status);
	tcase_add_test(tests, refuses_what_is_no_status);
	tcase_add_test(tests, reads_statm);
	tcase_add_test(tests, reads_stat_of_any_name);
	tcase_add_test(tests, reads_host_and_pss);
	suite_add_tcase(suite, tests);
	return suite;
}
