/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Function bounds from call frame information, compared with a slow search that follows the rule
 * literally.
 */
#include "cfi/function_bounds.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { MOST = 64 };

static void find(struct frame_image *image, const uint64_t *addresses, size_t count,
                 struct bounds *ret_bounds)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	frame_image_seal(image);
	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	memset(ret_bounds, 0xff, count * sizeof(*ret_bounds));
	ck_assert_int_eq(function_bounds(elf, addresses, count, ret_bounds), 0);
}

START_TEST(both_sections)
{
	static const struct {
		uint64_t address, start, end;
	} cases[] = {
		{0, 0, 0},
		{0xfff, 0, 0},
		{0x1000, 0x1000, 0x1010},
		{0x100f, 0x1000, 0x1010},
		{0x100f, 0x1000, 0x1010}, /* twice */
		{0x1010, 0x1010, 0x1080},
		{0x107f, 0x1010, 0x1080},
		{0x1080, 0, 0},
		{0x1100, 0x1100, 0x1200},
		{0x1140, 0x1140, 0x1150}, /* inside another */
		{0x1150, 0x1100, 0x1200},
		{0x1fff, 0x1ff0, 0x2000}, /* clipped to the code */
		{0x2000, 0, 0},
		{UINT64_MAX, 0, 0},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct frame_image image;
	struct bounds bounds[COUNT];
	uint64_t addresses[COUNT];

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1010, 0x70, "", 0);
	put_eh_fde(&image.eh, cie, 0x1000, 0x10, "", 0);
	put_eh_fde(&image.eh, cie, 0x1ff0, 0x1000, "", 0);
	size_t debug_cie = put_debug_cie(&image.debug);
	put_debug_fde(&image.debug, debug_cie, 0x1100, 0x100);
	put_debug_fde(&image.debug, debug_cie, 0x1140, 0x10);
	for (size_t i = 0; i < COUNT; i++)
		addresses[i] = cases[i].address;
	for (size_t count = 1; count <= COUNT; count++) {
		find(&image, addresses, count, bounds);
		for (size_t i = 0; i < count; i++) {
			ck_assert_uint_eq(bounds[i].start, cases[i].start);
			ck_assert_uint_eq(bounds[i].end, cases[i].end);
		}
	}
}
END_TEST

START_TEST(random_overlaps)
{
	struct frame_image image;
	struct bounds known[16], bounds[MOST];
	uint64_t addresses[MOST];
	uint32_t random = (uint32_t)_i + 1;
	size_t count = 1 + (size_t)_i % MOST;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	for (size_t i = 0; i < 16; i++) {
		random = random * 1664525 + 1013904223;
		known[i].start = 0x1000 + (random >> 8) % 100;
		known[i].end = known[i].start + 1 + (random >> 20) % 40;
		put_eh_fde(&image.eh, cie, known[i].start,
		           (uint32_t)(known[i].end - known[i].start), "", 0);
	}
	for (size_t i = 0; i < count; i++)
		addresses[i] = 0x1000 + 140 * i / count;
	find(&image, addresses, count, bounds);
	for (size_t i = 0; i < count; i++) {
		struct bounds best = {0};

		for (size_t k = 0; k < 16; k++) {
			uint64_t len = known[k].end - known[k].start;
			if (addresses[i] < known[k].start || addresses[i] >= known[k].end)
				continue;
			if (!best.end || len < best.end - best.start ||
			    (len == best.end - best.start && known[k].start < best.start))
				best = known[k];
		}
		ck_assert_uint_eq(bounds[i].start, best.start);
		ck_assert_uint_eq(bounds[i].end, best.end);
	}
}
END_TEST

START_TEST(nothing_to_read)
{
	static const uint64_t addresses[] = {0x1000, 0x1800};
	struct frame_image image;
	struct bounds bounds[2];

	frame_image_init(&image);
	find(&image, addresses, 2, bounds);
	ck_assert_uint_eq(bounds[0].end | bounds[1].end, 0);
	find(&image, NULL, 0, bounds);
	/* The first entry is truncated, so the whole section is unusable. */
	put_u32(&image.eh, 0x1000);
	find(&image, addresses, 2, bounds);
	ck_assert_uint_eq(bounds[0].start | bounds[1].start, 0);
	ck_assert_uint_eq(bounds[0].end | bounds[1].end, 0);
}
END_TEST

Suite *function_bounds_suite(void)
{
	Suite *suite = suite_create("function_bounds");
	TCase *tcase = tcase_create("function_bounds");

	tcase_add_test(tcase, both_sections);
	tcase_add_loop_test(tcase, random_overlaps, 0, 3 * MOST);
	tcase_add_test(tcase, nothing_to_read);
	suite_add_tcase(suite, tcase);
	return suite;
}
