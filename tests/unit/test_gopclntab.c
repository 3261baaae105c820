/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go's table in all its versions and places, and what can still be read from a damaged table.
 */
#include "elf/gopclntab.h"
#include "tests/unit/go_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add_frames(const struct gopclntab *table, uint64_t address, char *text, size_t size)
{
	struct go_frame frames[MAX_GO_FRAMES];
	size_t count = gopclntab_find(table, address, frames), len = strlen(text);

	for (size_t i = 0; i < count; i++) {
		len += (size_t)snprintf(text + len, size - len, "%s %s:%u from %u at %lx\n",
		                        frames[i].function, frames[i].file, frames[i].line,
		                        frames[i].start_line, frames[i].function_address);
		ck_assert_uint_lt(len, size);
	}
}

static int open_image(struct go_image *image, struct gopclntab **ret_table)
{
	_cleanup_(elf_freep) struct elf *elf = go_image_open(image);

	return gopclntab_open(elf, ret_table);
}

/* The frames at each place of the code that has different ones. */
static const char *describe(struct go_image *image)
{
	static const uint64_t places[] = {0x08, 0x10, 0x1a, 0x3f, 0x40, 0x7f, 0x80};
	static char text[4096];
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	int err = open_image(image, &table);

	snprintf(text, sizeof(text), "%s", err ? strerror(-err) : "");
	for (size_t i = 0; err == 0 && i < sizeof(places) / sizeof(*places); i++)
		add_frames(table, GO_TEXT + places[i], text, sizeof(text));
	return text;
}

static const char all_frames[] = "main.main /src/a.go:10 from 9 at 10000\n"
				 "main.inlined /src/a.go:50 from 45 at 0\n"
				 "main.main /src/a.go:10 from 9 at 10000\n"
				 "main.deeper /src/b.go:90 from 85 at 0\n"
				 "main.inlined /src/a.go:50 from 45 at 0\n"
				 "main.main /src/a.go:10 from 9 at 10000\n"
				 "main.main /src/a.go:11 from 9 at 10000\n"
				 "main.other /src/b.go:7 from 6 at 10040\n"
				 "main.other /src/b.go:7 from 6 at 10040\n";

/* This version does not contain the lines on which functions begin. */
static const char older_frames[] = "main.main /src/a.go:10 from 0 at 10000\n"
				   "main.inlined /src/a.go:50 from 0 at 0\n"
				   "main.main /src/a.go:10 from 0 at 10000\n"
				   "main.deeper /src/b.go:90 from 0 at 0\n"
				   "main.inlined /src/a.go:50 from 0 at 0\n"
				   "main.main /src/a.go:10 from 0 at 10000\n"
				   "main.main /src/a.go:11 from 0 at 10000\n"
				   "main.other /src/b.go:7 from 0 at 10040\n"
				   "main.other /src/b.go:7 from 0 at 10040\n";

/* Without inlined calls: the innermost place, in the function that contains the code. */
static const char plain_frames[] = "main.main /src/a.go:10 from %d at 10000\n"
				   "main.main /src/a.go:50 from %d at 10000\n"
				   "main.main /src/b.go:90 from %d at 10000\n"
				   "main.main /src/a.go:11 from %d at 10000\n"
				   "main.other /src/b.go:7 from %d at 10040\n"
				   "main.other /src/b.go:7 from %d at 10040\n";

static const char *plain(bool start_lines)
{
	static char text[1024];
	int first = start_lines ? 9 : 0, second = start_lines ? 6 : 0;

	snprintf(text, sizeof(text), plain_frames, first, first, first, first, second, second);
	return text;
}

START_TEST(versions_and_places)
{
	static const struct {
		uint32_t magic;
		bool relocated;
		const char *table_section, *module_section;
		size_t before;
		const char *frames;
	} cases[] = {
		{GO_120, false, ".gopclntab", ".go.module", 0, all_frames},
		{GO_120, false, ".gopclntab", ".noptrdata", 0, all_frames},
		{GO_120, false, ".gopclntab", ".data", 0, all_frames},
		{GO_120, true, ".gopclntab", ".data", 0, all_frames},
		{GO_120, true, ".data.rel.ro.gopclntab", ".data", 0, all_frames},
		{GO_120, true, ".data.rel.ro", ".data", 64, all_frames},
		{GO_120, true, ".rodata", ".data", 8, all_frames},
		{GO_118, false, ".gopclntab", ".noptrdata", 0, older_frames},
		{GO_118, true, ".data.rel.ro", ".data", 800, older_frames},
		{GO_116, false, ".gopclntab", ".noptrdata", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(go_image_release) struct go_image image;

		go_image_init(&image);
		image.magic = cases[i].magic;
		image.relocated = cases[i].relocated;
		image.table_section = cases[i].table_section;
		image.module_section = cases[i].module_section;
		image.before = cases[i].before;
		go_image_make(&image);
		ck_assert_str_eq(describe(&image),
		                 cases[i].frames ? cases[i].frames : plain(false));
	}
}
END_TEST

/* The header suffices for functions. What is neither in the header nor in moduledata is not
 * guessed. */
START_TEST(without_moduledata)
{
	for (int with_start = 0; with_start < 2; with_start++) {
		_cleanup_(go_image_release) struct go_image image;

		go_image_init(&image);
		image.text_start = with_start ? GO_TEXT : 0;
		image.module_section = ".nowhere";
		go_image_make(&image);
		ck_assert_str_eq(describe(&image), with_start ? plain(true) : strerror(EBADMSG));
	}
}
END_TEST

START_TEST(no_table)
{
	_cleanup_(section_image_release) struct section_image file;
	_cleanup_(go_image_release) struct go_image image;
	struct gopclntab *table = NULL;

	section_image_init(&file);
	section_image_add(&file, ".text", GO_TEXT, "x", 1);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&file);
	ck_assert_int_eq(gopclntab_open(elf, &table), -ENOENT);

	go_image_init(&image);
	image.table_section = ".elsewhere";
	go_image_make(&image);
	ck_assert_int_eq(open_image(&image, &table), -ENOENT);
	image.table_section = ".gopclntab";
	image.table.data[0] ^= 8; /* an unknown version */
	ck_assert_int_eq(open_image(&image, &table), -EBADMSG);
	image.table_section = ".rodata";
	ck_assert_int_eq(open_image(&image, &table), -ENOENT);
	gopclntab_free(NULL);
}
END_TEST

/* Looks up addresses everywhere. The answers may be arbitrary; the sanitizers check that all
 * accesses are within bounds. */
static void find_everywhere(struct go_image *image)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	static char text[1 << 16];

	if (open_image(image, &table) < 0)
		return;
	text[0] = '\0';
	for (uint64_t address = GO_TEXT - 1; address < GO_TEXT + 0x82; address += 9)
		add_frames(table, address, text, sizeof(text));
	text[0] = '\0';
	add_frames(table, 0, text, sizeof(text));
	add_frames(table, UINT64_MAX, text, sizeof(text));
}

START_TEST(cut_anywhere)
{
	_cleanup_(go_image_release) struct go_image image;

	go_image_init(&image);
	go_image_make(&image);
	for (size_t len = image.table.len; len > 0; len--) {
		image.table.len = len;
		find_everywhere(&image);
	}
}
END_TEST

START_TEST(damaged_anywhere)
{
	static const uint8_t damages[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	_cleanup_(go_image_release) struct go_image image;

	go_image_init(&image);
	image.text_start = GO_TEXT;
	go_image_make(&image);
	for (size_t at = 0; at < image.table.len; at++) {
		for (size_t i = 0; i < sizeof(damages); i++) {
			uint8_t right = (uint8_t)image.table.data[at];
			memcpy(image.table.data + at, &damages[i], 1);
			find_everywhere(&image);
			memcpy(image.table.data + at, &right, 1);
		}
	}
	for (size_t at = 0; at < image.calls.len; at++) {
		image.calls.data[at] ^= 0x55;
		find_everywhere(&image);
		image.calls.data[at] ^= 0x55;
	}
}
END_TEST

/* A call that is inlined into itself: the frames go as deep as there is room, and end with the
 * function that contains the code. */
START_TEST(endless)
{
	_cleanup_(go_image_release) struct go_image image;
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	struct go_frame frames[MAX_GO_FRAMES];
	const uint32_t itself = 0x10;

	go_image_init(&image);
	go_image_make(&image);
	memcpy(image.calls.data + 8 + 8, &itself, sizeof(itself));
	ck_assert_int_eq(open_image(&image, &table), 0);
	ck_assert_uint_eq(gopclntab_find(table, GO_TEXT + 0x10, frames), MAX_GO_FRAMES);
	ck_assert_str_eq(frames[MAX_GO_FRAMES - 2].function, "main.inlined");
	ck_assert_str_eq(frames[MAX_GO_FRAMES - 1].function, "main.main");
}
END_TEST

Suite *gopclntab_suite(void)
{
	Suite *suite = suite_create("gopclntab");
	TCase *tcase = tcase_create("gopclntab");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, versions_and_places);
	tcase_add_test(tcase, without_moduledata);
	tcase_add_test(tcase, no_table);
	tcase_add_test(tcase, cut_anywhere);
	tcase_add_test(tcase, damaged_anywhere);
	tcase_add_test(tcase, endless);
	suite_add_tcase(suite, tcase);
	return suite;
}
