/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symtab: which symbol an address gets, compared with a slow search that states the rule.
 */
#include "base/bounds.h"
#include "elf/symtab.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct known {
	const char *name;
	uint64_t address, size;
	bool global;
};

static const char *find(const struct symtab *symtab, uint64_t address)
{
	struct symbol symbol;

	return symtab_find(symtab, address, &symbol) ? symbol.name : "-";
}

static struct symtab *make(const struct known *known, size_t count)
{
	struct symtab *symtab = symtab_new();

	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(symtab_add(symtab, known[i].name, known[i].address, known[i].size,
		                            known[i].global, NULL),
		                 0);
	ck_assert_int_eq(symtab_seal(symtab), 0);
	return symtab;
}

START_TEST(empty)
{
	_cleanup_(symtab_freep) struct symtab *symtab = make(NULL, 0);

	ck_assert_uint_eq(symtab_count(symtab), 0);
	ck_assert_str_eq(find(symtab, 0), "-");
	ck_assert_str_eq(find(symtab, UINT64_MAX), "-");
	symtab_free(NULL);
}
END_TEST

START_TEST(table)
{
	static const struct known known[] = {
		{"outer", 0x1000, 0x100, true},    {"inner", 0x1040, 0x10, false},
		{"inner_too", 0x1040, 0x10, true}, {"sizeless", 0x2000, 0, true},
		{"after", 0x2080, 0x10, false},    {"alias_b", 0x3000, 0x10, true},
		{"alias_a", 0x3000, 0x10, true},   {"local_long", 0x3000, 0x40, false},
		{"label", 0x2084, 0, true},        {"last", 0x9000, 0, false},
	};
	static const struct {
		uint64_t address;
		const char *name;
	} asked[] = {
		{0xfff, "-"},           {0x1000, "outer"},    {0x1044, "outer"},
		{0x1050, "outer"},      {0x10ff, "outer"},    {0x1100, "-"},
		{0x2000, "sizeless"},   {0x207f, "sizeless"}, {0x2080, "after"},
		{0x2085, "after"},      {0x2090, "label"},    {0x3000, "alias_a"},
		{0x3010, "local_long"}, {0x3040, "-"},        {0x9000, "last"},
		{0x9fff, "last"},       {0xa000, "-"},        {UINT64_MAX, "-"},
	};
	size_t count = sizeof(known) / sizeof(known[0]);
	struct known reversed[sizeof(known) / sizeof(known[0])];

	for (size_t i = 0; i < count; i++)
		reversed[i] = known[count - 1 - i];
	_cleanup_(symtab_freep) struct symtab *one = make(known, count);
	_cleanup_(symtab_freep) struct symtab *other = make(reversed, count);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		ck_assert_str_eq(find(one, asked[i].address), asked[i].name);
		ck_assert_str_eq(find(other, asked[i].address), asked[i].name);
	}
}
END_TEST

/* As in the kernel: aliases and labels, but no symbol that extends over another one. */
START_TEST(side_by_side)
{
	static const struct known known[] = {
		{"alias", 0x1000, 0, false}, {"function", 0x1000, 0, true},
		{"b", 0x2000, 0x10, true},   {"a", 0x2000, 0x10, true},
		{"last", 0x3000, 0, false},
	};
	_cleanup_(symtab_freep) struct symtab *symtab = make(known, 5);

	ck_assert_uint_eq(symtab_count(symtab), 3);
	ck_assert_str_eq(find(symtab, 0xfff), "-");
	ck_assert_str_eq(find(symtab, 0x1000), "function");
	ck_assert_str_eq(find(symtab, 0x1fff), "function");
	ck_assert_str_eq(find(symtab, 0x200f), "a");
	ck_assert_str_eq(find(symtab, 0x2010), "-");
	ck_assert_str_eq(find(symtab, 0x3fff), "last");
	ck_assert_str_eq(find(symtab, 0x4000), "-");
}
END_TEST

START_TEST(nested_local)
{
	static const struct known known[] = {
		{"long_local", 0x1000, 0x100, false},
		{"short_global", 0x1040, 0x10, true},
	};
	_cleanup_(symtab_freep) struct symtab *symtab = make(known, 2);

	ck_assert_str_eq(find(symtab, 0x103f), "long_local");
	ck_assert_str_eq(find(symtab, 0x1040), "short_global");
	ck_assert_str_eq(find(symtab, 0x1050), "long_local");
	ck_assert_str_eq(find(symtab, 0x1100), "-");
}
END_TEST

START_TEST(ends_of_the_address_space)
{
	static const struct known known[] = {
		{"low", 0, 4, true},
		{"wraps", UINT64_MAX - 10, UINT64_MAX, true},
		{"top", UINT64_MAX, 0, true},
	};
	_cleanup_(symtab_freep) struct symtab *symtab = make(known, 3);
	_cleanup_(symtab_freep) struct symtab *nothing = make(&known[2], 1);

	ck_assert_str_eq(find(symtab, 0), "low");
	ck_assert_str_eq(find(symtab, 4), "-");
	ck_assert_str_eq(find(symtab, UINT64_MAX - 1), "wraps");
	ck_assert_str_eq(find(nothing, UINT64_MAX), "-");
}
END_TEST

/* The rule, stated once more. */
static const char *slow_find(const struct known *known, size_t count, uint64_t address)
{
	const struct known *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct known *at = &known[i];
		if (address < at->address || address - at->address >= at->size)
			continue;
		if (!best || (at->global != best->global ? at->global
		              : at->size != best->size   ? at->size > best->size
		                                         : strcmp(at->name, best->name) < 0))
			best = at;
	}
	return best ? best->name : "-";
}

START_TEST(random_overlaps)
{
	enum { COUNT = 60, SPACE = 400 };
	static char names[COUNT][8];
	struct known known[COUNT];
	uint32_t random = (uint32_t)_i + 1;

	for (size_t i = 0; i < COUNT; i++) {
		random = random * 1664525 + 1013904223;
		snprintf(names[i], sizeof(names[i]), "s%zu", i);
		known[i] = (struct known){names[i], (random >> 8) % SPACE, 1 + (random >> 20) % 50,
		                          random >> 31};
	}
	_cleanup_(symtab_freep) struct symtab *symtab = make(known, COUNT);
	for (uint64_t address = 0; address < SPACE + 60; address++)
		ck_assert_str_eq(find(symtab, address), slow_find(known, COUNT, address));
}
END_TEST

START_TEST(modules_and_long_names)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();
	_cleanup_free_ char *name = calloc(1, MAX_SYMBOL_NAME_BYTES + 10);
	struct symbol symbol;

	memset(name, 'n', MAX_SYMBOL_NAME_BYTES + 9);
	ck_assert_int_eq(symtab_add(symtab, "a", 0x10, 0x10, true, NULL), 0);
	ck_assert_int_eq(symtab_add(symtab, "b", 0x20, 0x10, true, "nfs"), 0);
	ck_assert_int_eq(symtab_add(symtab, "c", 0x30, 0x10, true, "nfs"), 0);
	ck_assert_int_eq(symtab_add(symtab, name, 0x40, 0x10, true, "bpf"), 0);
	ck_assert_int_eq(symtab_seal(symtab), 0);
	ck_assert(symtab_find(symtab, 0x1f, &symbol));
	ck_assert_ptr_null(symbol.module);
	ck_assert(symtab_find(symtab, 0x3f, &symbol));
	ck_assert_str_eq(symbol.module, "nfs");
	ck_assert_uint_eq(symbol.address, 0x30);
	ck_assert_uint_eq(symbol.size, 0x10);
	ck_assert(symtab_find(symtab, 0x40, &symbol));
	ck_assert_uint_eq(strlen(symbol.name), MAX_SYMBOL_NAME_BYTES);
	ck_assert_str_eq(symbol.module, "bpf");
}
END_TEST

/* The range of a symbol without size is a guess, and is marked as such. */
START_TEST(sized_or_not)
{
	static const struct known known[] = {
		{"assembly", 0x1000, 0, true},
		{"compiled", 0x1080, 0x10, false},
		{"label", 0x1084, 0, true},
	};
	static const struct {
		uint64_t address, start, size;
		bool sized;
	} cases[] = {
		{0x1000, 0x1000, 0x80, false},
		{0x107f, 0x1000, 0x80, false},
		{0x1088, 0x1080, 0x10, true},
		{0x1090, 0x1084, 0x1000, false},
	};
	_cleanup_(symtab_freep) struct symtab *symtab = make(known, 3);
	struct symbol symbol;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(symtab_find(symtab, cases[i].address, &symbol));
		ck_assert_uint_eq(symbol.address, cases[i].start);
		ck_assert_uint_eq(symbol.size, cases[i].size);
		ck_assert_int_eq(symbol.sized, cases[i].sized);
	}
}
END_TEST

START_TEST(memory)
{
	_cleanup_(symtab_freep) struct symtab *none = make(NULL, 0);
	_cleanup_(symtab_freep) struct symtab *many = symtab_new();
	enum { COUNT = 1000, NAME_BYTES = 8 };

	for (uint64_t i = 0; i < COUNT; i++)
		ck_assert_int_eq(symtab_add(many, "1234567", 16 * i, 16, true, NULL), 0);
	ck_assert_int_eq(symtab_seal(many), 0);
	ck_assert_uint_gt(symtab_memory(none), 0);
	ck_assert_uint_lt(symtab_memory(none), 1000);
	ck_assert_uint_gt(symtab_memory(many), COUNT * (NAME_BYTES + 2 * sizeof(uint64_t)));
	ck_assert_uint_lt(symtab_memory(many), COUNT * 40);
}
END_TEST

START_TEST(bounded)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();

	size_t added = 0;
	while (added <= MAX_SYMBOLS && symtab_add(symtab, "", added, 1, true, NULL) == 0)
		added++;
	ck_assert_uint_eq(added, MAX_SYMBOLS);
	ck_assert_int_eq(symtab_add(symtab, "", 0, 1, true, NULL), -E2BIG);
}
END_TEST

Suite *symtab_suite(void)
{
	Suite *suite = suite_create("symtab");
	TCase *tcase = tcase_create("symtab");

	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, table);
	tcase_add_test(tcase, side_by_side);
	tcase_add_test(tcase, nested_local);
	tcase_add_test(tcase, ends_of_the_address_space);
	tcase_add_loop_test(tcase, random_overlaps, 0, 50);
	tcase_add_test(tcase, modules_and_long_names);
	tcase_add_test(tcase, sized_or_not);
	tcase_add_test(tcase, memory);
	tcase_add_test(tcase, bounded);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
