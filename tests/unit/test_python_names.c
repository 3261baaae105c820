/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of threads are found in memory as each CPython version lays it out. Nothing else passes for
 * a name, and the number of reads is bounded.
 */
#include "cpython/python_names.h"

#include "tests/unit/python_memory.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDENT = 0x7f0000001000 };

/* Reads the name of one thread; NULL: it has none. The caller frees it. */
static char *read_name(struct python_memory *memory, uint64_t ident)
{
	struct python_objects objects = python_memory_objects(memory);
	struct python_name name = {.ident = ident};
	struct python_dicts dicts = {0};

	ck_assert_int_ge(python_names_read(&objects, &dicts, &name, 1), 0);
	ck_assert_uint_le(memory->reads, MAX_PYTHON_NAME_READS);
	return name.text;
}

static void check_name(struct python_memory *memory, uint64_t ident, const char *expected)
{
	_cleanup_free_ char *name = read_name(memory, ident);

	ck_assert_pstr_eq(name, expected);
}

START_TEST(of_each_kind_of_instance)
{
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);
	const uint64_t threads[][2] = {
		{IDENT, python_memory_thread(memory, INSTANCE_SHARED,
	                                     python_memory_ascii(memory, "shared"))},
		{IDENT + 1,
	         python_memory_thread(memory, INSTANCE_DICT, python_memory_ascii(memory, "dict"))},
		{IDENT + 2, python_memory_thread(memory, INSTANCE_OWN_DICT,
	                                         python_memory_ascii(memory, "own"))},
	};
	struct python_name names[] = {{.ident = IDENT - 1}, {.ident = IDENT}, {.ident = IDENT + 2}};
	struct python_objects objects;
	struct python_dicts dicts = {0};
	uint32_t first;

	python_memory_interpreter(memory, threads, 3);
	check_name(memory, IDENT, "shared");
	check_name(memory, IDENT + 1, "dict");
	check_name(memory, IDENT + 2, "own");
	check_name(memory, IDENT + 3, NULL);
	memory->reads = 0;
	objects = python_memory_objects(memory);
	ck_assert_int_eq(python_names_read(&objects, &dicts, names, 3), 2);
	first = memory->reads;
	ck_assert_ptr_null(names[0].text);
	ck_assert_str_eq(names[1].text, "shared");
	ck_assert_str_eq(names[2].text, "own");
	/* The place of the dict is known from the first call. */
	memory->reads = 0;
	for (size_t i = 0; i < 3; i++)
		free(names[i].text), names[i].text = NULL;
	objects = python_memory_objects(memory);
	ck_assert_int_eq(python_names_read(&objects, &dicts, names, 3), 2);
	ck_assert_uint_lt(memory->reads + 10, first);
	free(names[1].text);
	free(names[2].text);
}
END_TEST

/* More threads than one read covers, and an index with two-byte entries. */
START_TEST(of_many_threads)
{
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);
	static uint64_t threads[300][2];
	char text[16];

	for (uint64_t i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "t%u", (unsigned int)i);
		threads[i][0] = IDENT + i;
		threads[i][1] = python_memory_thread(memory, INSTANCE_SHARED,
		                                     python_memory_ascii(memory, text));
	}
	python_memory_interpreter(memory, (const uint64_t(*)[2])threads, 300);
	check_name(memory, IDENT, "t0");
	check_name(memory, IDENT + 63, "t63");
	check_name(memory, IDENT + 64, "t64");
	check_name(memory, IDENT + 299, "t299");
	check_name(memory, IDENT + 300, NULL);
}
END_TEST

/* How names are shown, whatever characters they contain. */
START_TEST(of_all_characters)
{
	static const uint16_t wide[] = {'s', 0xfc, 0x2603, 0xd800, 0x2028};
	static const uint32_t wider[] = {0x1f40d, 0x110000};
	static const char control[] = "a\nb\033[31m";
	char longer[200];
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);

	memset(longer, 'x', sizeof(longer));
	const uint64_t texts[] = {
		python_memory_text(memory, 2, wide, 5),
		python_memory_text(memory, 4, wider, 2),
		python_memory_text(memory, 1, "\xe9t\xe9", 3),
		python_memory_ascii(memory, control),
		python_memory_text(memory, 0, longer, sizeof(longer)),
		python_memory_ascii(memory, ""),
		python_memory_ascii(memory, "Dummy-3"),
	};
	uint64_t threads[7][2];

	for (size_t i = 0; i < 7; i++) {
		threads[i][0] = IDENT + i;
		threads[i][1] = python_memory_thread(memory, INSTANCE_SHARED, texts[i]);
	}
	python_memory_interpreter(memory, (const uint64_t(*)[2])threads, 7);
	check_name(memory, IDENT, "s\u00fc\u2603\ufffd ");
	check_name(memory, IDENT + 1, "\U0001f40d\ufffd");
	check_name(memory, IDENT + 2, "\u00e9t\u00e9");
	check_name(memory, IDENT + 3, "a b [31m");
	_cleanup_free_ char *cut = read_name(memory, IDENT + 4);
	ck_assert_uint_eq(strlen(cut), MAX_PYTHON_THREAD_NAME + 3);
	ck_assert_str_eq(cut + MAX_PYTHON_THREAD_NAME, "...");
	check_name(memory, IDENT + 5, NULL);
	check_name(memory, IDENT + 6, NULL);
}
END_TEST

/* The main interpreter is the one that was created first. */
START_TEST(the_main_interpreter_has_the_say)
{
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);
	const uint64_t main[][2] = {
		{IDENT, python_memory_thread(memory, INSTANCE_SHARED,
	                                     python_memory_ascii(memory, "main"))}};
	const uint64_t other[][2] = {
		{IDENT, python_memory_thread(memory, INSTANCE_SHARED,
	                                     python_memory_ascii(memory, "MainThread"))},
		{IDENT + 1,
	         python_memory_thread(memory, INSTANCE_SHARED, python_memory_ascii(memory, "sub"))},
	};

	python_memory_interpreter(memory, main, 1);
	python_memory_interpreter(memory, other, 2);
	check_name(memory, IDENT, "main");
	check_name(memory, IDENT + 1, "sub");
}
END_TEST

/* Each word in turn is replaced: only names pass for names, and reading ends. */
START_TEST(of_memory_that_changes)
{
	static const uint64_t others[] = {
		0, UINT64_MAX, PYTHON_MEMORY, PYTHON_MEMORY + 1, 0x7f0000000000, 1ULL << 62, 0xff};
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);
	const uint64_t threads[][2] = {
		{IDENT, python_memory_thread(memory, INSTANCE_SHARED,
	                                     python_memory_ascii(memory, "name"))}};
	size_t named = 0;

	python_memory_interpreter(memory, threads, 1);
	for (size_t at = 0; at + 8 <= memory->used; at += 8) {
		uint64_t word;

		memcpy(&word, memory->bytes + at, sizeof(word));
		for (size_t i = 0; word && i < sizeof(others) / sizeof(*others); i++) {
			memcpy(memory->bytes + at, &others[i], sizeof(word));
			memory->reads = 0;
			_cleanup_free_ char *name = read_name(memory, IDENT);
			named += name != NULL;
			ck_assert(!name || strlen(name) <= 4 * MAX_PYTHON_THREAD_NAME + 3);
		}
		memcpy(memory->bytes + at, &word, sizeof(word));
	}
	ck_assert_uint_gt(named, 0);
	check_name(memory, IDENT, "name");
}
END_TEST

/* Interpreters in a circle, each with the maximum number of modules, none of them named
 * threading. */
START_TEST(reads_only_so_much)
{
	_cleanup_free_ struct python_memory *memory = python_memory_new((size_t)_i);
	static uint64_t modules[2000][2];
	uint64_t interpreter;

	for (size_t i = 0; i < 2000; i++) {
		modules[i][0] = python_memory_ascii(memory, "threadinG");
		modules[i][1] = PYTHON_MEMORY;
	}
	python_memory_interpreter(memory, NULL, 0);
	memcpy(&interpreter, memory->bytes + (memory->process.interpreters - PYTHON_MEMORY), 8);
	python_memory_put(memory, interpreter + memory->process.interpreter_next, interpreter);
	python_memory_put(memory, interpreter + memory->process.interpreter_modules,
	                  python_memory_dict(memory, (const uint64_t(*)[2])modules, 2000, false));
	memory->reads = 0;
	check_name(memory, IDENT, NULL);
	/* Long ones count as several. */
	ck_assert_uint_le(memory->reads, MAX_PYTHON_NAME_READS);
	ck_assert_uint_gt(memory->reads, MAX_PYTHON_NAME_READS * 9 / 10);
}
END_TEST

Suite *python_names_suite(void)
{
	Suite *suite = suite_create("python_names");
	TCase *tcase = tcase_create("python_names");

	tcase_add_loop_test(tcase, of_each_kind_of_instance, 0, PYTHON_LAYOUTS);
	tcase_add_loop_test(tcase, of_many_threads, 0, PYTHON_LAYOUTS);
	tcase_add_loop_test(tcase, of_all_characters, 0, PYTHON_LAYOUTS);
	tcase_add_loop_test(tcase, the_main_interpreter_has_the_say, 0, PYTHON_LAYOUTS);
	tcase_add_loop_test(tcase, of_memory_that_changes, 0, PYTHON_LAYOUTS);
	tcase_add_loop_test(tcase, reads_only_so_much, 0, PYTHON_LAYOUTS);
	suite_add_tcase(suite, tcase);
	return suite;
}
