/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * NVIDIA's management library, which a separate process asks, and what happens when it lies, hangs
 * or dies. A stand-in for the library is beside this program (tests/unit/fakes/nvidia_ml.c).
 */
#include "gpu/nvml.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "reader/filter.h"
#include "reader/serve.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct asking {
	struct nvml_wait wait;
	int told;
	bool has_report;
	struct nvml_report report;
	char why[256];
};

static void on_told(struct nvml_wait *wait, const struct nvml_report *report, const char *why)
{
	struct asking *asking = (struct asking *)wait;

	asking->told++;
	asking->has_report = report != NULL;
	if (report)
		asking->report = *report;
	snprintf(asking->why, sizeof(asking->why), "%s", why);
}

/* Selects what the stand-in library does; NULL: there is no library. */
static void set_fake(const char *mode)
{
	char path[PATH_MAX] = "/nonexistent";

	if (mode) {
		ssize_t len = readlink(READER_SELF, path, sizeof(path) - 1);

		ck_assert_int_gt(len, 0);
		path[len] = '\0';
		setenv("NVML_FAKE", mode, 1);
	}
	setenv("LD_LIBRARY_PATH", mode ? dirname(path) : path, 1);
}

/* A whole life of struct nvml, with `times` questions one after the other. */
static void ask(const char *mode, int times, struct asking *asking, struct reader_stats *ret_stats)
{
	uv_loop_t loop;

	set_fake(mode);
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	struct nvml *nvml = nvml_new(&loop);

	ck_assert_ptr_nonnull(nvml);
	*asking = (struct asking){.wait = {.done = on_told}};
	for (int i = 0; i < times; i++) {
		nvml_ask(nvml, &asking->wait);
		uv_run(&loop, UV_RUN_DEFAULT);
		ck_assert_int_eq(asking->told, i + 1);
	}
	*ret_stats = (struct reader_stats){0};
	nvml_add_reader_stats(nvml, ret_stats);
	nvml_stop(nvml);
	uv_run(&loop, UV_RUN_DEFAULT);
	nvml_free(nvml);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}

START_TEST(reads_what_the_library_says)
{
	struct asking asking;
	struct reader_stats stats;
	const struct nvml_report *report = &asking.report;

	ask("", 2, &asking, &stats);
	ck_assert_str_eq(asking.why, "");
	ck_assert(asking.has_report);
	/* The answer to the first question was recent enough for the second. */
	ck_assert_uint_eq(stats.requests, 1);
	ck_assert_uint_eq(report->device_count, 2);
	ck_assert_str_eq(report->devices[0].name, "Fake\033[31m 1");
	ck_assert_str_eq(report->devices[0].uuid, "");
	ck_assert_uint_eq(report->devices[0].total, 16000);
	ck_assert_uint_eq(report->devices[0].used, 7000);
	ck_assert_uint_eq(report->devices[0].busy_percent, 63);
	ck_assert_uint_eq(report->devices[0].memory_percent, 21);
	/* The lost device keeps its place. */
	ck_assert_uint_eq(report->devices[1].total, NVML_BYTES_UNKNOWN);
	ck_assert_uint_eq(report->devices[1].busy_percent, NVML_PERCENT_UNKNOWN);
	ck_assert_uint_eq(report->process_count, 3);
	ck_assert_uint_eq(report->processes[0].pid, 70);
	ck_assert_uint_eq(report->processes[0].used, 4096);
	ck_assert_uint_eq(report->processes[0].busy_percent, 42);
	ck_assert_uint_eq(report->processes[1].used, 2048);
	ck_assert_uint_eq(report->processes[1].busy_percent, NVML_PERCENT_UNKNOWN);
	ck_assert_uint_eq(report->processes[2].used, NVML_BYTES_UNKNOWN);
}
END_TEST

START_TEST(says_what_was_left_out)
{
	struct asking asking;
	struct reader_stats stats;

	ask("many", 1, &asking, &stats);
	ck_assert(asking.has_report);
	ck_assert_uint_eq(asking.report.device_count, NVML_DEVICES);
	ck_assert_uint_eq(asking.report.devices_left_out, 8);
	ck_assert_uint_eq(asking.report.process_count, 0);
	ck_assert_uint_eq(asking.report.processes_left_out, 5000);
}
END_TEST

/* Why there is no report. The second question does not ask the library again. */
static const struct {
	const char *mode, *says;
	uint64_t crashes;
} failures[] = {
	{NULL, "this host has no libnvidia-ml.so.1", 0},
	{"driver", "nvmlInit_v2: Driver Not Loaded (9)", 0},
	{"crash", "did not answer in time, or crashed", 1},
	{"hang", "did not answer in time, or crashed", 1},
	{"odd", "did not answer in time, or crashed", 1},
};

START_TEST(fails)
{
	struct asking asking;
	struct reader_stats stats;
	uint64_t begun = clock_mono_ns();

	ask(failures[_i].mode, 2, &asking, &stats);
	ck_assert(!asking.has_report);
	ck_assert_msg(strstr(asking.why, failures[_i].says), "%s", asking.why);
	ck_assert_uint_eq(stats.crashes, failures[_i].crashes);
	ck_assert_uint_eq(stats.requests, 1);
	ck_assert_uint_lt(clock_mono_ns() - begun, 20 * NSEC_PER_SEC);
}
END_TEST

START_TEST(who_hangs_up_is_not_told)
{
	struct asking first = {.wait = {.done = on_told}}, second = first, third = first;
	uv_loop_t loop;

	set_fake("");
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	struct nvml *nvml = nvml_new(&loop);

	nvml_ask(nvml, &first.wait);
	nvml_ask(nvml, &second.wait);
	nvml_ask(nvml, &third.wait);
	nvml_forget(nvml, &second.wait);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(first.told, 1);
	ck_assert_int_eq(second.told, 0);
	ck_assert_int_eq(third.told, 1);
	/* A question after nvml_rest() is answered, too. */
	nvml_rest(nvml);
	nvml_ask(nvml, &second.wait);
	ck_assert_int_eq(second.told, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(second.told, 1);
	nvml_stop(nvml);
	nvml_free(nvml);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

START_TEST(damaged_reports)
{
	static struct nvml_report good = {.device_count = 2, .process_count = 1}, report;

	ck_assert_int_eq(nvml_report_check((uint8_t *)&good, sizeof(good)), 0);
	ck_assert_int_eq(nvml_report_check((uint8_t *)&good, sizeof(good) - 1), -EBADMSG);
	report = good;
	report.device_count = NVML_DEVICES + 1;
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
	report = good;
	report.process_count = NVML_PROCESSES + 1;
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
	report = good;
	report.processes[0].device = 2;
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
	report = good;
	report.processes[0].busy_percent = 101;
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
	report = good;
	memset(report.devices[1].uuid, 'x', NVML_TEXT);
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
	report = good;
	memset(report.why, 'x', NVML_TEXT);
	ck_assert_int_eq(nvml_report_check((uint8_t *)&report, sizeof(report)), -EBADMSG);
}
END_TEST

Suite *nvml_suite(void)
{
	Suite *suite = suite_create("nvml");
	TCase *tests = tcase_create("nvml");

	tcase_add_test(tests, reads_what_the_library_says);
	tcase_add_test(tests, says_what_was_left_out);
	tcase_add_loop_test(tests, fails, 0, sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tests, who_hangs_up_is_not_told);
	tcase_add_test(tests, damaged_reports);
	suite_add_tcase(suite, tests);
	return suite;
}
