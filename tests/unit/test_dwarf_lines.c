/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of addresses: in this program, whose lines are known here, and in DIEs that no compiler
 * generates.
 */
#include "names/dwarf_lines.h"

#include "tests/unit/dwarf_image.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The frames received, as text: "INDEX NAME:LINE " for each, with "?" for an unknown name. */
struct told {
	char text[16384];
	size_t len, frames, stop_after;
	char files[8][256]; /* of the first frames */
	struct source_frame first[8];
};

static int tell(size_t index, const struct source_frame *frame, void *ctx)
{
	struct told *told = ctx;

	told->len += (size_t)snprintf(told->text + told->len, sizeof(told->text) - told->len,
	                              "%zu %s:%u ", index, frame->function ? frame->function : "?",
	                              frame->line);
	ck_assert_uint_lt(told->len, sizeof(told->text));
	if (told->frames < 8) {
		told->first[told->frames] = *frame;
		snprintf(told->files[told->frames], sizeof(told->files[0]), "%s",
		         frame->file ? frame->file : "");
	}
	return ++told->frames == told->stop_after ? -ECANCELED : 0;
}

/* Looks up `count` addresses of a file. Closes the descriptor. */
static struct told *look_up(int fd, const uint64_t *addresses, size_t count)
{
	static struct told told;
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
	_cleanup_close_ int owned = fd;

	memset(&told, 0, sizeof(told));
	ck_assert_int_ge(owned, 0);
	ck_assert_int_eq(dwarf_lines_open(owned, -1, &lines), 0);
	ck_assert_int_eq(dwarf_lines_find(lines, addresses, count, tell, &told), 0);
	ck_assert_uint_gt(dwarf_lines_memory(lines), 0);
	return &told;
}

static const char *look_up_one(const struct dwarf_image *image, uint64_t address)
{
	return look_up(dwarf_image_fd(image), &address, 1)->text;
}

static int own_fd(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

/* An address of this program's memory, as its file has it. */
static uint64_t in_file(const void *address)
{
	uint64_t bias = 0;

	dl_iterate_phdr(first_bias, &bias);
	return (uintptr_t)address - bias;
}

__attribute__((noinline)) static void *after_call(void)
{
	__asm__ volatile("");
	return __builtin_return_address(0);
}

#define INLINED static inline __attribute__((always_inline))

enum { INNER_LINE = __LINE__ + 3 };
INLINED void inner(void **ret_place)
{
	*ret_place = after_call();
	__asm__ volatile("" : : "r"(ret_place) : "memory");
}

enum { MIDDLE_LINE = __LINE__ + 3 };
INLINED void middle(void **ret_place)
{
	inner(ret_place);
}

enum { OUTER_LINE = __LINE__ + 3 };
INLINED void outer(void **ret_place)
{
	middle(ret_place);
}

enum { CHAIN_LINE = __LINE__ + 3 };
__attribute__((noinline)) static void chain(void **ret_place)
{
	outer(ret_place);
}

/* Calls chain() through a pointer. Otherwise the compiler may make a clone of the function for its
 * callers. */
static void *place_in_chain(void)
{
	void (*volatile call)(void **) = chain;
	void *place = NULL;

	call(&place);
	return place;
}

START_TEST(inlined_calls)
{
	static const struct {
		const char *function;
		uint32_t line;
	} expected[] = {
		{"inner", INNER_LINE},
		{"middle", MIDDLE_LINE},
		{"outer", OUTER_LINE},
		{"chain", CHAIN_LINE},
	};
	uint64_t address = in_file(place_in_chain()) - 1;

	struct told *told = look_up(own_fd(), &address, 1);
	ck_assert_str_ne(told->text, "");
	ck_assert_uint_eq(told->frames, 4);
	for (size_t i = 0; i < 4; i++) {
		char text[64];
		snprintf(text, sizeof(text), "0 %s:%u ", expected[i].function, expected[i].line);
		ck_assert_ptr_nonnull(strstr(told->text, text));
		ck_assert_uint_eq(told->first[i].start_line, expected[i].line - 2);
		ck_assert_uint_eq(told->first[i].function_address,
		                  i == 3 ? in_file((const void *)(uintptr_t)chain) : 0);
		ck_assert_ptr_nonnull(strstr(told->files[i], "tests/unit/test_dwarf_lines.c"));
	}
}
END_TEST

START_TEST(order)
{
	uint64_t inside = in_file(place_in_chain()) - 1;
	uint64_t addresses[] = {0, inside, inside, UINT64_MAX - 1, UINT64_MAX};
	struct told *told = look_up(own_fd(), addresses, 5);

	ck_assert_uint_eq(told->frames, 8);
	ck_assert_ptr_eq(strstr(told->text, "1 inner:"), told->text);
	ck_assert_ptr_nonnull(strstr(told->text, "1 chain:"));
	ck_assert(strstr(told->text, "1 chain:") < strstr(told->text, "2 inner:"));
	told = look_up(own_fd(), addresses, 0);
	ck_assert_uint_eq(told->frames, 0);
}
END_TEST

START_TEST(stopped)
{
	static struct told told = {.stop_after = 2};
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
	_cleanup_close_ int fd = own_fd();
	uint64_t address = in_file(place_in_chain()) - 1;

	ck_assert_int_eq(dwarf_lines_open(fd, -1, &lines), 0);
	ck_assert_int_eq(dwarf_lines_find(lines, &address, 1, tell, &told), -ECANCELED);
	ck_assert_uint_eq(told.frames, 2);
	dwarf_lines_free(NULL);
}
END_TEST

/* Every 97th byte of this program's code, whatever it is. */
START_TEST(everywhere)
{
	enum { COUNT = 2000 };
	static uint64_t addresses[COUNT];
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
	_cleanup_close_ int fd = own_fd();
	uint64_t start = in_file((const void *)(uintptr_t)after_call);
	static struct told told;

	for (size_t i = 0; i < COUNT; i++)
		addresses[i] = start + i * 97;
	ck_assert_int_eq(dwarf_lines_open(fd, -1, &lines), 0);
	size_t before = dwarf_lines_memory(lines);
	for (size_t i = 0; i < COUNT; i += 100) {
		memset(&told, 0, sizeof(told));
		ck_assert_int_eq(dwarf_lines_find(lines, addresses + i, 100, tell, &told), 0);
		ck_assert_uint_gt(dwarf_lines_memory(lines), before);
	}
	dwarf_lines_forget(lines);
	ck_assert_uint_eq(dwarf_lines_memory(lines), before);
	dwarf_lines_forget(lines);
	ck_assert_int_eq(dwarf_lines_find(lines, addresses, 1, tell, &told), 0);
}
END_TEST

START_TEST(no_dwarf)
{
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
	struct elf_image image;

	elf_image_init(&image, 1);
	_cleanup_close_ int plain = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(dwarf_lines_open(plain, -1, &lines), -ENODATA);
	_cleanup_close_ int text = elf_image_fd("not an ELF file", 15);
	ck_assert_int_eq(dwarf_lines_open(text, -1, &lines), -EBADMSG);
	_cleanup_close_ int empty = elf_image_fd("", 0);
	ck_assert_int_eq(dwarf_lines_open(empty, -1, &lines), -EBADMSG);
	_cleanup_close_ int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(dwarf_lines_open(folder, -1, &lines), -EBADMSG);
	ck_assert_int_eq(dwarf_lines_open(-1, -1, &lines), -EBADMSG);
	ck_assert_ptr_null(lines);
	/* A file that is no supplement does no harm. */
	_cleanup_close_ int own = own_fd();
	ck_assert_int_eq(dwarf_lines_open(own, plain, &lines), 0);
}
END_TEST

/* Makes one unit with `calls` nested inlined calls, inside `blocks` nested blocks. Each call covers
 * every address of the unit. */
static void nested(struct dwarf_image *image, size_t blocks, size_t calls)
{
	char name[32];

	image_unit(image, CODE_START, 0x100);
	image_function(image, "f", CODE_START, 0x100, 7);
	for (size_t i = 0; i < blocks; i++)
		image_block(image);
	for (size_t i = 0; i < calls; i++) {
		snprintf(name, sizeof(name), "c%zu", i);
		image_inlined(image, name, CODE_START, 0x100, (uint32_t)(100 + i));
	}
	for (size_t i = 0; i < blocks + calls + 1; i++)
		image_end(image);
	image_unit_end(image);
}

START_TEST(depth)
{
	static const struct {
		size_t blocks, calls, frames;
		const char *first, *last;
	} cases[] = {
		{0, 0, 1, "0 f:0 ", "0 f:0 "},          {0, 1, 2, "0 c0:0 ", "0 f:100 "},
		{5, 63, 64, "0 c62:0 ", "0 f:100 "},    {0, 64, 64, "0 c62:163 ", "0 f:100 "},
		{0, 200, 64, "0 c62:163 ", "0 f:100 "}, {254, 5, 2, "0 c0:0 ", "0 f:100 "},
		{255, 5, 1, "0 f:0 ", "0 f:0 "}, /* deeper than the search goes */
		{3000, 3000, 1, "0 f:0 ", "0 f:0 "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(dwarf_image_release) struct dwarf_image image = {0};
		nested(&image, cases[i].blocks, cases[i].calls);
		uint64_t address = CODE_START + 0x80;
		struct told *told = look_up(dwarf_image_fd(&image), &address, 1);
		ck_assert_uint_eq(told->frames, cases[i].frames);
		ck_assert_ptr_eq(strstr(told->text, cases[i].first), told->text);
		ck_assert_str_eq(told->text + told->len - strlen(cases[i].last), cases[i].last);
	}
}
END_TEST

/* The innermost call is the one with the shortest range, even if that range is outside its parents'
 * ranges. */
START_TEST(innermost)
{
	_cleanup_(dwarf_image_release) struct dwarf_image image = {0};

	image_unit(&image, CODE_START, 0x100);
	image_function(&image, "f", CODE_START, 0x100, 7);
	image_inlined(&image, "near", CODE_START, 0x10, 21);
	image_inlined(&image, "far", CODE_START + 0x40, 0x10, 22);
	image_end(&image);
	image_end(&image);
	image_inlined(&image, "wide", CODE_START, 0x80, 23);
	image_end(&image);
	image_end(&image);
	image_unit_end(&image);
	uint64_t addresses[] = {CODE_START, CODE_START + 0x10, CODE_START + 0x40, CODE_START + 0x90,
	                        CODE_START + 0x100};
	ck_assert_str_eq(look_up(dwarf_image_fd(&image), addresses, 5)->text,
	                 "0 near:0 0 f:21 1 wide:0 1 f:23 2 far:0 2 near:22 2 f:21 3 f:0 ");
}
END_TEST

START_TEST(functions_in_odd_places)
{
	_cleanup_(dwarf_image_release) struct dwarf_image image = {0};

	image_unit(&image, CODE_START, 0x1000);
	image_function(&image, "around", CODE_START, 0x10, 1);
	image_function(&image, "contained", CODE_START + 0x10, 0x10, 2);
	image_end(&image);
	image_end(&image);
	image_namespace(&image, "n");
	image_class(&image, "c");
	image_function(&image, "method", CODE_START + 0x20, 0x10, 3);
	image_end(&image);
	image_end(&image);
	image_end(&image);
	image_unit_end(&image);
	uint64_t addresses[] = {CODE_START + 8, CODE_START + 0x18, CODE_START + 0x28,
	                        CODE_START + 0x38};
	ck_assert_str_eq(look_up(dwarf_image_fd(&image), addresses, 4)->text,
	                 "0 around:0 1 contained:0 2 method:0 ");
	ck_assert_str_eq(look_up_one(&image, CODE_START + 0x18), "0 contained:0 ");
}
END_TEST

static void simple_unit(struct dwarf_image *image, uint64_t start, uint64_t len, const char *name)
{
	image_unit(image, start, len);
	image_function(image, name, start, len ? len : 0x10, 1);
	image_end(image);
	image_unit_end(image);
}

START_TEST(units)
{
	_cleanup_(dwarf_image_release) struct dwarf_image image = {0};
	static const struct {
		uint64_t address;
		const char *text;
	} asked[] = {
		{CODE_START - 1, ""},
		{CODE_START, "0 a:0 "},
		{CODE_START + 0x40, "0 b:0 "}, /* inside a */
		{CODE_START + 0x50, "0 a:0 "},
		{CODE_START + 0xff, "0 a:0 "},
		{CODE_START + 0x100, ""},
		{CODE_START + 0x200, "0 alone:0 "}, /* its unit has no ranges */
		{CODE_START + 0x210, ""},
		{CODE_START + 0x300, "0 twice:0 "},
		{0x20, ""}, /* dropped by the linker */
	};

	simple_unit(&image, 0, CODE_START + 0x1000, "dropped");
	simple_unit(&image, CODE_START, 0x100, "a");
	simple_unit(&image, CODE_START + 0x40, 0x10, "b");
	image_unit(&image, 0, 0);
	image_function(&image, "alone", CODE_START + 0x200, 0x10, 1);
	image_end(&image);
	image_unit_end(&image);
	simple_unit(&image, CODE_START + 0x300, 0x10, "twice");
	simple_unit(&image, CODE_START + 0x300, 0x10, "again");
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		ck_assert_str_eq(look_up_one(&image, asked[i].address), asked[i].text);
}
END_TEST

/* Each block gives its first child as its sibling: a naive walk would take 2 to the 200th steps. */
START_TEST(siblings_that_are_children)
{
	_cleanup_(dwarf_image_release) struct dwarf_image image = {0};

	image_unit(&image, CODE_START, 0x100);
	image_function(&image, "f", CODE_START, 0x100, 7);
	for (int i = 0; i < 200; i++)
		image_sibling(&image, (uint32_t)image_offset(&image) + 5);
	for (int i = 0; i < 201; i++)
		image_end(&image);
	image_unit_end(&image);
	ck_assert_str_eq(look_up_one(&image, CODE_START), "0 f:0 ");
}
END_TEST

START_TEST(siblings_in_a_circle)
{
	static const uint32_t offsets[] = {0, 11, 30, 60, UINT32_MAX};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		_cleanup_(dwarf_image_release) struct dwarf_image image = {0};
		image_unit(&image, CODE_START, 0x100);
		image_function(&image, "f", CODE_START, 0x100, 7);
		image_sibling(&image, offsets[i]);
		image_end(&image);
		image_end(&image);
		image_unit_end(&image);
		ck_assert_str_eq(look_up_one(&image, CODE_START), "0 f:0 ");
	}
}
END_TEST

/* Truncated DIEs: nothing is found, or what comes before the end. */
START_TEST(cut_short)
{
	_cleanup_(dwarf_image_release) struct dwarf_image image = {0};
	uint64_t address = CODE_START;

	nested(&image, 2, 3);
	for (size_t len = image.info.len; len-- > 0;) {
		_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
		static struct told told;
		image.info.len = len;
		_cleanup_close_ int fd = dwarf_image_fd(&image);
		memset(&told, 0, sizeof(told));
		if (dwarf_lines_open(fd, -1, &lines) == 0)
			ck_assert_int_eq(dwarf_lines_find(lines, &address, 1, tell, &told), 0);
		ck_assert_uint_le(told.frames, 4);
	}
}
END_TEST

Suite *dwarf_lines_suite(void)
{
	Suite *suite = suite_create("dwarf_lines");
	TCase *program = tcase_create("program");
	TCase *dies = tcase_create("dies");

	tcase_add_test(program, inlined_calls);
	tcase_add_test(program, order);
	tcase_add_test(program, stopped);
	tcase_add_test(program, everywhere);
	tcase_add_test(program, no_dwarf);
	suite_add_tcase(suite, program);
	tcase_add_test(dies, depth);
	tcase_add_test(dies, innermost);
	tcase_add_test(dies, functions_in_odd_places);
	tcase_add_test(dies, units);
	tcase_add_test(dies, siblings_that_are_children);
	tcase_add_test(dies, siblings_in_a_circle);
	tcase_add_test(dies, cut_short);
	suite_add_tcase(suite, dies);
	return suite;
}
