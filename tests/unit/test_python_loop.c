/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finding the parts of CPython's evaluation loop, with their symbols and without.
 */
#include "python/python_jumps.h"
#include "python/python_loop.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

enum {
	CODE_BYTES = 0x1000,
	LOOP = 0x1400,
	LOOP_BYTES = 0x200,
	COLD = 0x1000,  /* before the loop, where compilers put it */
	TAIL = 0x1800,  /* a function that the loop ends in */
	OTHER = 0x1900, /* jumps back once, and is jumped to once */
	CALLS = 0x1a00, /* jumps to the loop's beginning */
	PIECES = 0x1b00,
};

static void put_jump(uint8_t *code, uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - (from + 5));

	code[from - PYTHON_TEXT] = 0xe9;
	memcpy(code + from - PYTHON_TEXT + 1, &distance, sizeof(distance));
}

static void put_branch(uint8_t *code, uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - (from + 6));

	memcpy(code + from - PYTHON_TEXT, "\x0f\x84", 2);
	memcpy(code + from - PYTHON_TEXT + 2, &distance, sizeof(distance));
}

static void init_code(uint8_t *code)
{
	memset(code, 0x90, CODE_BYTES);
	memcpy(code + LOOP - PYTHON_TEXT, "\x74\x02\xeb\xfe", 4); /* short jumps stay inside */
	put_branch(code, LOOP + 0x10, COLD + 0x20);
	put_branch(code, LOOP + 0x20, COLD + 0x30);
	put_jump(code, LOOP + 0x30, COLD);
	put_branch(code, LOOP + 0x40, OTHER + 8);
	put_jump(code, LOOP + 0x50, TAIL);
	put_jump(code, LOOP + 0x60, TAIL);
	put_jump(code, LOOP + 0x70, CALLS);
	put_jump(code, LOOP + 0x80, 0x7fffff); /* outside the code */
	put_jump(code, LOOP + LOOP_BYTES - 5, LOOP);
	put_jump(code, COLD + 0x28, LOOP + 0x100);
	put_branch(code, OTHER + 0x20, LOOP + 0x101);
	put_jump(code, TAIL + 0x10, TAIL);
	put_jump(code, CALLS + 0x10, LOOP);
}

static void init_image(struct python_image *image, const uint8_t *code)
{
	static const uint64_t functions[][2] = {
		{COLD, 0x40}, {LOOP, LOOP_BYTES}, {TAIL, 0x40}, {OTHER, 0x40}, {CALLS, 0x40}};

	python_image_init(image);
	section_image_add(&image->file, ".text", PYTHON_TEXT, code, CODE_BYTES);
	size_t cie = put_debug_cie(&image->frames);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		put_debug_fde(&image->frames, cie, functions[i][0], functions[i][1]);
	python_image_symbol(image, "_PyEval_EvalFrameDefault", STT_FUNC, LOOP, LOOP_BYTES);
}

static void check_parts(struct python_image *image, uint64_t (*wanted)[2])
{
	_cleanup_(elf_freep) struct elf *elf = python_image_open(image);
	uint64_t parts[PYTHON_LOOPS][2];

	memset(parts, 0xff, sizeof(parts));
	ck_assert_int_eq(python_loop_find(elf, parts), 0);
	ck_assert_mem_eq(parts, wanted, sizeof(parts));
}

START_TEST(stripped)
{
	uint64_t wanted[PYTHON_LOOPS][2] = {
		{LOOP, LOOP + LOOP_BYTES}, {COLD, COLD + 0x40}, {OTHER, OTHER + 0x40}};
	_cleanup_(python_image_release) struct python_image image;
	uint8_t code[CODE_BYTES];

	init_code(code);
	init_image(&image, code);
	check_parts(&image, wanted);
}
END_TEST

START_TEST(with_symbols)
{
	uint64_t wanted[PYTHON_LOOPS][2] = {
		{LOOP, LOOP + LOOP_BYTES}, {COLD, COLD + 0x40}, {OTHER, OTHER + 0x40}};
	_cleanup_(python_image_release) struct python_image image;
	uint8_t code[CODE_BYTES];

	init_code(code);
	init_image(&image, code);
	python_image_symbol(&image, "_PyEval_EvalFrameDefault.cold", STT_FUNC, COLD, 0x40);
	python_image_symbol(&image, "_PyEval_EvalFrameDefault.lto_priv.0.cold.7", STT_FUNC, OTHER,
	                    0x40);
	python_image_symbol(&image, "_PyEval_EvalFrameDefaultFoo", STT_FUNC, TAIL, 0x40);
	python_image_symbol(&image, "_PyEval_EvalFrameDefault.cold", STT_FUNC, TAIL, UINT64_MAX);
	check_parts(&image, wanted);
}
END_TEST

START_TEST(nothing_split)
{
	uint64_t wanted[PYTHON_LOOPS][2] = {{LOOP, LOOP + LOOP_BYTES}};
	_cleanup_(python_image_release) struct python_image image, arm;
	uint8_t code[CODE_BYTES];

	init_code(code);
	init_image(&arm, code);
	arm.file.machine = EM_AARCH64; /* arm64 jumps are not decoded */
	check_parts(&arm, wanted);
	memset(code, 0x90, sizeof(code));
	init_image(&image, code);
	check_parts(&image, wanted);
}
END_TEST

/* The parts that the loop jumps to most are chosen. */
START_TEST(many_parts)
{
	_cleanup_(python_image_release) struct python_image image;
	uint8_t code[CODE_BYTES];
	uint64_t wanted[PYTHON_LOOPS][2] = {{LOOP, LOOP + LOOP_BYTES}};
	uint64_t at = LOOP;

	memset(code, 0x90, sizeof(code));
	python_image_init(&image);
	size_t cie = put_debug_cie(&image.frames);
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t part = PIECES + i * 0x20;

		put_debug_fde(&image.frames, cie, part, 0x20);
		put_jump(code, part + 0x10, LOOP + 4);
		for (uint64_t j = 0; j <= i; j++, at += 6)
			put_branch(code, at, part + j);
		if (i >= 3)
			memcpy(wanted[6 - i], (uint64_t[]){part, part + 0x20}, sizeof(*wanted));
	}
	section_image_add(&image.file, ".text", PYTHON_TEXT, code, CODE_BYTES);
	python_image_symbol(&image, "_PyEval_EvalFrameDefault", STT_FUNC, LOOP, LOOP_BYTES);
	check_parts(&image, wanted);
}
END_TEST

START_TEST(broken)
{
	static const struct {
		const char *name;
		uint64_t address, size;
	} cases[] = {
		{"another", LOOP, LOOP_BYTES},
		{"_PyEval_EvalFrameDefault", LOOP, 0},
		{"_PyEval_EvalFrameDefault", LOOP, UINT64_MAX},
		{"_PyEval_EvalFrameDefault", LOOP, 1 << 30},
		{"_PyEval_EvalFrameDefault", LOOP, CODE_BYTES}, /* longer than the code */
		{"_PyEval_EvalFrameDefault", 0x100, 0x100},
		{"_PyEval_EvalFrameDefault", UINT64_MAX - 0x100, 0x100},
	};
	uint8_t code[CODE_BYTES];
	uint64_t parts[PYTHON_LOOPS][2];

	init_code(code);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(python_image_release) struct python_image image;

		python_image_init(&image);
		section_image_add(&image.file, ".text", PYTHON_TEXT, code, CODE_BYTES);
		python_image_symbol(&image, cases[i].name, STT_FUNC, cases[i].address,
		                    cases[i].size);
		_cleanup_(elf_freep) struct elf *elf = python_image_open(&image);
		ck_assert_int_eq(python_loop_find(elf, parts), -EBADMSG);
	}
}
END_TEST

Suite *python_loop_suite(void)
{
	Suite *suite = suite_create("python_loop");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, stripped);
	tcase_add_test(tests, with_symbols);
	tcase_add_test(tests, nothing_split);
	tcase_add_test(tests, many_parts);
	tcase_add_test(tests, broken);
	suite_add_tcase(suite, tests);
	return suite;
}
