/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mangled names of both languages, texts that are not mangled names, and names constructed to
 * exhaust time or memory.
 */
#include "base/bounds.h"
#include "base/buf.h"
#include "demangle/demangle.h"
#include "tests/unit/suites.h"

#include <string.h>

START_TEST(names)
{
	static const struct {
		const char *mangled, *readable;
	} cases[] = {
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"__ZN3foo3barEv", "foo::bar()"},
		{"___ZN3foo3barEv", "foo::bar()"},
		{"_Z3foov.cold", "foo() [clone .cold]"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
	         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"main", NULL},
		{"", NULL},
		{"_", NULL},
		{"_Z", NULL},
		{"_R", NULL},
		{"_Zfoo", NULL},
		{"_Z999999999999foo", NULL},
		{"_Readable", NULL},
		{"____ZN3foo3barEv", NULL},
		{"runtime.main", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ char *readable = demangle(cases[i].mangled);
		if (cases[i].readable) {
			ck_assert_ptr_nonnull(readable);
			ck_assert_str_eq(readable, cases[i].readable);
		} else {
			ck_assert_msg(!readable, "%s", cases[i].mangled);
		}
	}
}
END_TEST

static void check_bounded(const char *name)
{
	_cleanup_free_ char *readable = demangle(name);

	if (readable)
		ck_assert_uint_le(strlen(readable), MAX_SYMBOL_NAME_BYTES);
}

START_TEST(repetitions)
{
	static const char *const parts[] = {"P", "N",   "I", "S_", "1a", "F", "T_",
	                                    "C", "NvC", "K", "X",  "Cs", "FG"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (size_t count = 100; count <= 100000; count *= 10) {
			_cleanup_(buf_release) struct buf cpp = BUF_INIT;
			_cleanup_(buf_release) struct buf rust = BUF_INIT;
			buf_add_text(&cpp, "_Z1f");
			buf_add_text(&rust, "_R");
			for (size_t n = 0; n < count; n++) {
				buf_add_text(&cpp, parts[i]);
				buf_add_text(&rust, parts[i]);
			}
			check_bounded(buf_text(&cpp));
			check_bounded(buf_text(&rust));
		}
	}
}
END_TEST

START_TEST(doubling)
{
	_cleanup_(buf_release) struct buf name = BUF_INIT;

	/* f(A<x, x>, A<S0, S0>, ...): each argument is twice as long as the previous one. */
	buf_add_text(&name, "_Z1f1AIiiE");
	for (int i = 0; i < 30; i++) {
		char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
		buf_printf(&name, "S_IS%c_S%c_E", digit, digit);
	}
	check_bounded(buf_text(&name));
}
END_TEST

START_TEST(counting)
{
	check_bounded("_RXYYFFFFFYFGFFFFFFFFFFFFFFFFFFC0B_a");
	check_bounded("_RYFGzzzzzzzzz_EuC1a");
	/* A name that only resembles these is demangled as usual. */
	_cleanup_free_ char *name = demangle("_RNvCsFG1Gzzzzzz_4core3run");
	ck_assert_str_eq(name, "core::run");
}
END_TEST

Suite *demangle_suite(void)
{
	Suite *suite = suite_create("demangle");
	TCase *tcase = tcase_create("demangle");

	tcase_add_test(tcase, names);
	tcase_add_test(tcase, repetitions);
	tcase_add_test(tcase, doubling);
	tcase_add_test(tcase, counting);
	tcase_set_timeout(tcase, 20);
	suite_add_tcase(suite, tcase);
	return suite;
}
