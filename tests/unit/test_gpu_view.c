/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The answers of /gpu, made from figures and a report.
 */
#include "views/gpu_view.h"

#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

static const struct gpu_figures figures[] = {
	{.pid = 7,
         .device = 0,
         .comm = "\x1b[31m\"\xff",
         .in_use = {[GPU_MEMORY_DEVICE] = 3000,
                    [GPU_MEMORY_POOL] = 1000,
                    [GPU_MEMORY_PINNED] = 1 << 20,
                    [GPU_MEMORY_TENSOR] = 900},
         .peak = 2 << 20,
         .failures = 2,
         .launches_s = 12.3456,
         .copies = {[GPU_COPY_H2D] = 4},
         .copied_bytes = {[GPU_COPY_H2D] = 4096},
         .copied_bytes_s = {[GPU_COPY_H2D] = 2048}},
	/* comm has no terminating NUL. */
	{.pid = 7,
         .device = GPU_DEVICE_UNKNOWN,
         .comm = {'s', 'i', 'x', 't', 'e', 'e', 'n', '-', 'l', 'e', 't', 't', 'e', 'r', 's', '!'},
         .in_use = {[GPU_MEMORY_MANAGED] = 6000}},
	{.pid = 8, .device = GPU_DEVICE_HOST, .in_use = {[GPU_MEMORY_REGISTERED] = 512}},
};

static struct nvml_report report(void)
{
	struct nvml_report report = {.device_count = 2, .process_count = 3};

	report.devices[0] = (struct nvml_device){.total = 16 << 20,
	                                         .used = 9 << 20,
	                                         .busy_percent = 63,
	                                         .memory_percent = NVML_PERCENT_UNKNOWN,
	                                         .name = "A\nB"};
	report.devices[1] = (struct nvml_device){.total = NVML_BYTES_UNKNOWN,
	                                         .used = NVML_BYTES_UNKNOWN,
	                                         .busy_percent = NVML_PERCENT_UNKNOWN,
	                                         .memory_percent = NVML_PERCENT_UNKNOWN};
	/* One process on two devices, and a process about which nothing is known. */
	report.processes[0] = (struct nvml_process){7, 0, 5000, 10, 0};
	report.processes[1] = (struct nvml_process){7, 1, 4000, NVML_PERCENT_UNKNOWN, 0};
	report.processes[2] =
		(struct nvml_process){9, 1, NVML_BYTES_UNKNOWN, NVML_PERCENT_UNKNOWN, 0};
	return report;
}

static json_int_t integer(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	ck_assert_msg(json_is_integer(value), "%s", name);
	return json_integer_value(value);
}

static const char *text(const json_t *object, const char *name)
{
	ck_assert_msg(json_is_string(json_object_get(object, name)), "%s", name);
	return json_string_value(json_object_get(object, name));
}

START_TEST(json_of_processes)
{
	const struct gpu_view view = {figures, 3, "", NULL, "no library"};
	json_t *object = gpu_view_json(&view);
	const json_t *list = json_object_get(object, "processes"), *row = json_array_get(list, 0);

	ck_assert(json_is_true(json_object_get(object, "on")));
	ck_assert_str_eq(text(json_object_get(object, "nvml"), "why"), "no library");
	ck_assert_uint_eq(json_array_size(list), 3);
	ck_assert_int_eq(integer(row, "pid"), 7);
	ck_assert_str_eq(text(row, "comm"), "?[31m\"?");
	ck_assert_str_eq(text(row, "device"), "0");
	/* Like the peak, this includes the host's memory, but not memory that lies in other
	 * memory. */
	ck_assert_int_eq(integer(row, "in_use_bytes"), 4000 + (1 << 20));
	ck_assert_int_eq(integer(json_object_get(row, "in_use"), "tensor"), 900);
	ck_assert_int_eq(integer(row, "failures"), 2);
	ck_assert_double_eq(json_real_value(json_object_get(row, "launches_per_second")), 12.346);
	row = json_object_get(json_object_get(row, "copies"), "HtoD");
	ck_assert_int_eq(integer(row, "bytes"), 4096);
	row = json_array_get(list, 1);
	ck_assert_str_eq(text(row, "comm"), "sixteen-letters!");
	ck_assert_str_eq(text(row, "device"), "unknown");
	ck_assert_int_eq(integer(json_array_get(list, 2), "in_use_bytes"), 512);
	ck_assert_str_eq(text(json_array_get(list, 2), "device"), "cpu");
	ck_assert_uint_eq(json_array_size(json_object_get(object, "devices")), 0);
	json_decref(object);
}
END_TEST

START_TEST(json_of_the_driver)
{
	const struct nvml_report told = report();
	const struct gpu_view view = {figures, 3, "", &told, ""};
	json_t *object = gpu_view_json(&view);
	const json_t *devices = json_object_get(object, "devices");
	const json_t *driver = json_object_get(object, "driver"), *row = json_array_get(driver, 0);

	ck_assert_uint_eq(json_array_size(devices), 2);
	ck_assert_int_eq(integer(json_array_get(devices, 0), "busy_percent"), 63);
	ck_assert(json_is_null(json_object_get(json_array_get(devices, 0), "memory_busy_percent")));
	ck_assert(json_is_null(json_object_get(json_array_get(devices, 1), "memory_bytes")));
	/* A process has one row, however many devices it uses. More is explained than is used; the
	 * host's memory is not counted. */
	ck_assert_uint_eq(json_array_size(driver), 2);
	ck_assert_int_eq(integer(row, "driver_bytes"), 9000);
	ck_assert_int_eq(integer(row, "explained_bytes"), 10000);
	ck_assert_int_eq(integer(row, "unexplained_bytes"), -1000);
	ck_assert_int_eq(integer(row, "busy_percent"), 10);
	row = json_array_get(driver, 1);
	ck_assert_int_eq(integer(row, "pid"), 9);
	ck_assert(json_is_null(json_object_get(row, "driver_bytes")));
	ck_assert(json_is_null(json_object_get(row, "unexplained_bytes")));
	json_decref(object);
}
END_TEST

START_TEST(more_than_fits)
{
	struct nvml_report told = report();
	const struct gpu_view view = {figures, 3, "", &told, ""};

	told.processes[0].used = UINT64_MAX - 1;
	told.devices[0].used = UINT64_MAX - 1;
	json_t *object = gpu_view_json(&view);
	const json_t *row = json_array_get(json_object_get(object, "driver"), 0);

	ck_assert_int_eq(integer(row, "driver_bytes"), INT64_MAX);
	ck_assert_int_eq(integer(row, "unexplained_bytes"), INT64_MAX - 10000);
	row = json_array_get(json_object_get(object, "devices"), 0);
	ck_assert_int_eq(integer(row, "memory_used_bytes"), INT64_MAX);
	json_decref(object);
}
END_TEST

static void expect(const struct gpu_view *view, const char *line, bool is_there)
{
	struct buf out = BUF_INIT;

	gpu_view_text(view, &out);
	ck_assert_msg(!strstr(buf_text(&out), line) == !is_there, "%s\n%s", line, buf_text(&out));
	buf_release(&out);
}

START_TEST(tables)
{
	struct nvml_report told = report();
	const struct gpu_view view = {figures, 3, "", &told, ""};
	const struct gpu_view nothing = {NULL, 0, "nobody has it", NULL, "no library"};

	expect(&view, "\x1b", false);
	expect(&view, "     0   63 %        ?     9.0 MiB    16.0 MiB  A?B\n", true);
	expect(&view,
	       "      7       0     1.0 MiB     2.0 MiB         12     2.0 KiB         0 B     0% "
	       "     2  ?[31m\"?\n",
	       true);
	expect(&view, "      7   10 %     8.8 KiB     9.8 KiB     -1000 B", true);
	expect(&view, "  sixteen-letters!\n", true);
	expect(&view, "Left out", false);
	told.processes_left_out = 3;
	expect(&view, "Left out: 0 devices, and 3 of their processes\n", true);
	expect(&nothing, "NVML: no library\n", true);
	expect(&nothing, "Probes: nobody has it\n", true);
	expect(&nothing, "Unexplained", false);
}
END_TEST

Suite *gpu_view_suite(void)
{
	Suite *suite = suite_create("gpu_view");
	TCase *tests = tcase_create("gpu_view");

	tcase_add_test(tests, json_of_processes);
	tcase_add_test(tests, json_of_the_driver);
	tcase_add_test(tests, more_than_fits);
	tcase_add_test(tests, tables);
	suite_add_tcase(suite, tests);
	return suite;
}
