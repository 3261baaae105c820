/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /proc/kallsyms as the kernel writes it, and in forms that it could have.
 */
#include "symbolize/kernel.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static int parse(const char *text, struct symtab **ret_symtab)
{
	return kallsyms_parse(text, strlen(text), ret_symtab);
}

START_TEST(good)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	struct symbol symbol;

	ck_assert_int_eq(parse("0000000000000000 A fixed_percpu_data\n"
	                       "ffffffff81000000 T _stext\n"
	                       "ffffffff81000100 t do_one\n"
	                       "ffffffff81000180 D some_data\n"
	                       "ffffffff81000200 W weak\n"
	                       "ffffffffc0000000 t nfs_read\t[nfs]\n"
	                       "ffffffffc0001000 t bpf_prog_1234_x\t[bpf]",
	                       &symtab),
	                 0);
	ck_assert_uint_eq(symtab_count(symtab), 5);
	ck_assert(symtab_find(symtab, 0xffffffff81000150, &symbol));
	ck_assert_str_eq(symbol.name, "do_one");
	ck_assert_ptr_null(symbol.module);
	ck_assert(symtab_find(symtab, 0xffffffffc0000fff, &symbol));
	ck_assert_str_eq(symbol.name, "nfs_read");
	ck_assert_str_eq(symbol.module, "nfs");
	ck_assert(symtab_find(symtab, 0xffffffffc0001010, &symbol));
	ck_assert_str_eq(symbol.module, "bpf");
	ck_assert(!symtab_find(symtab, 0xffffffff80ffffff, &symbol));
}
END_TEST

START_TEST(hidden)
{
	struct symtab *symtab = NULL;

	ck_assert_int_eq(parse("0000000000000000 T _stext\n0000000000000000 t do_one\n", &symtab),
	                 -EACCES);
	ck_assert_ptr_null(symtab);
}
END_TEST

START_TEST(unreadable)
{
	static const char *const texts[] = {
		"",
		"\n\n\n",
		"hello",
		"ffffffff81000000",
		"ffffffff81000000 T",
		"ffffffff81000000 T ",
		"ffffffff81000000 TT name",
		"0xffffffff81000000 T name",
		" ffffffff81000000 T name",
		"11ffffffff81000000 T name",
		"-1 T name",
	};
	struct symtab *symtab = NULL;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(parse(texts[i], &symtab) == -EBADMSG, "'%s'", texts[i]);
	ck_assert_int_eq(kallsyms_parse("1 T a\0b\n", 8, &symtab), -EBADMSG);
}
END_TEST

START_TEST(odd_lines_are_skipped)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	_cleanup_free_ char *text = calloc(1, 10000);
	struct symbol symbol;

	strcpy(text, "garbage\n10 T one [broken\n20 T two []\n30 T ");
	memset(text + strlen(text), 'n', 5000);
	strcat(text, " [");
	memset(text + strlen(text), 'm', 3000);
	strcat(text, "]\n");
	ck_assert_int_eq(parse(text, &symtab), 0);
	ck_assert_uint_eq(symtab_count(symtab), 3);
	ck_assert(symtab_find(symtab, 0x10, &symbol) && !symbol.module);
	ck_assert(symtab_find(symtab, 0x20, &symbol) && !symbol.module);
	ck_assert(symtab_find(symtab, 0x30, &symbol));
	ck_assert_uint_lt(strlen(symbol.name), 5000);
	ck_assert_uint_lt(strlen(symbol.module), 3000);
}
END_TEST

START_TEST(ours)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	int err = kallsyms_read(&symtab);

	/* Readable for root; hidden or absent otherwise. */
	if (err == 0)
		ck_assert_uint_gt(symtab_count(symtab), 1000);
	else
		ck_assert(err == -EACCES || err == -EPERM || err == -ENOENT || err == -EBADMSG);
}
END_TEST

Suite *kallsyms_suite(void)
{
	Suite *suite = suite_create("kallsyms");
	TCase *tcase = tcase_create("kallsyms");

	tcase_add_test(tcase, good);
	tcase_add_test(tcase, hidden);
	tcase_add_test(tcase, unreadable);
	tcase_add_test(tcase, odd_lines_are_skipped);
	tcase_add_test(tcase, ours);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
