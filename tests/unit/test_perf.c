/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lists of CPUs, and the uevents that say when they change.
 */
#include "tests/unit/suites.h"

#include "kernel/hotplug.h"
#include "kernel/perf.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *text;
	int err;
	unsigned int cpus; /* bit mask of CPUs 0..7 */
} cases[] = {
	{"0-3\n", 0, 0x0f},
	{"0\n", 0, 0x01},
	{"0-1,3,6-7\n", 0, 0xcb},
	{"5", 0, 0x20},
	{"", 0, 0},
	{"\n", 0, 0},
	{"0-4000000000", 0, 0xff},
	{"9-20", 0, 0},
	{"3-1", 0, 0},
	{"x", -EBADMSG, 0},
	{"0-", -EBADMSG, 0},
	{"0,,1", -EBADMSG, 0},
	{"0 1", -EBADMSG, 0},
	{"99999999999999999999", -EBADMSG, 0},
};

START_TEST(parses_cpu_lists)
{
	bool set[8];

	ck_assert_int_eq(cpulist_parse(cases[_i].text, strlen(cases[_i].text), set, 8),
	                 cases[_i].err);
	for (unsigned int cpu = 0; !cases[_i].err && cpu < 8; cpu++)
		ck_assert_int_eq(set[cpu], (cases[_i].cpus >> cpu) & 1);
}
END_TEST

START_TEST(knows_a_cpu_event)
{
	static const char cpu[] = "offline@/devices/system/cpu/cpu1\0ACTION=offline";
	static const char other[] = "add@/devices/pci\0X=@/devices/system/cpu/cpu1";

	ck_assert(hotplug_is_cpu(cpu, sizeof(cpu)));
	ck_assert(!hotplug_is_cpu(other, sizeof(other)));
	ck_assert(!hotplug_is_cpu(cpu, 10));
	ck_assert(!hotplug_is_cpu("", 0));
}
END_TEST

Suite *perf_suite(void)
{
	Suite *suite = suite_create("perf");
	TCase *tests = tcase_create("cpus");

	tcase_add_loop_test(tests, parses_cpu_lists, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, knows_a_cpu_event);
	suite_add_tcase(suite, tests);
	return suite;
}
