/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Line tables as compiled by each CPython version, each with the lines that the version's own
 * PyCode_Addr2Line() returns; and tables that no compiler makes.
 */
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include "base/cleanup.h"
#include "cpython/python_lines.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = 1024 }; /* bytes of `table` below */

struct golden {
	const char *name;
	uint32_t version, code_bytes;
	const char *table; /* hex; the first line is 1 */
	const char *runs;  /* OFFSET:LINE, each holds up to the next one's offset; line 0: none */
};

/* clang-format off */
static const struct golden goldens[] = {
	{"expression", 0x0308, 18,
	 "000102010201020102fe020302fd02ff",
	 "0:2 2:3 4:4 6:5 8:3 10:6 12:3 14:2"},
	{"try_with", 0x0308, 106,
	 "000104010a01080116011001020102ff020102ff1803",
	 "0:2 4:3 14:4 22:5 44:6 60:7 62:8 64:7 66:8 68:7 92:10"},
	{"class_body", 0x0308, 40,
	 "08010402020102010c03",
	 "0:1 8:2 12:4 14:5 16:6 28:9"},
	{"long_jumps", 0x0308, 30,
	 "0001067f007f002f027f000e028000f3047f000f027f004a048000b7027f004a048000b7",
	 "0:2 6:303 8:444 10:303 14:445 16:646 20:445 22:646 26:445"},
	{"long_gap", 0x0308, 326,
	 "0001ff00410102ff",
	 "0:2 320:3 322:2"},
	{"backwards", 0x0308, 36,
	 "000206ff020202fe02030400020202ff060202fe",
	 "0:3 6:2 8:4 10:2 12:5 18:7 20:6 26:8 28:6"},
	{"try_with", 0x0309, 136,
	 "000104010a0108012a010e01020102ff020102ff1a03",
	 "0:2 4:3 14:4 22:5 64:6 78:7 80:8 82:7 84:8 86:7 112:10"},
	{"backwards", 0x0309, 36,
	 "000206ff020202fe0203060202ff060202fe",
	 "0:3 6:2 8:4 10:2 12:5 18:7 20:6 26:8 28:6"},
	{"expression", 0x030a, 18,
	 "020102010201020102fe020302fd04ff",
	 "0:2 2:3 4:4 6:5 8:3 10:6 12:3 14:2"},
	{"try_with", 0x030a, 124,
	 "028004010a010801080102ff1cff04800e030201020102ff020102ff088002ff02801604",
	 "0:0 2:2 6:3 16:4 24:5 32:4 34:3 62:0 66:6 80:7 82:8 84:7 86:8 88:7 90:0 98:6 100:0 "
	 "102:10"},
	{"class_body", 0x030a, 40,
	 "08000401020202010c010c03",
	 "0:1 8:2 12:4 14:5 16:6 28:9"},
	{"long_jumps", 0x030a, 30,
	 "0601007f007f022f007f020e008104f2007f020f007f044a008102b6007f044a008104b6",
	 "0:2 6:303 8:444 10:303 14:445 16:646 20:445 22:646 26:445"},
	{"long_gap", 0x030a, 408,
	 "fe019400020104ff",
	 "0:2 402:3 404:2"},
	{"backwards", 0x030a, 58,
	 "060202ff020202fe0603020206ff020202fe06fd02ff020212fe",
	 "0:3 6:2 8:4 10:2 12:5 18:7 20:6 26:8 28:6 30:3 36:2 38:4 40:2"},
	{"expression", 0x030b, 38,
	 "8000d80c0dd80c0d8841d80e0fd80e0ff105020d11f400020d11f006000d0ef107030d0ef103040d0ef0"
	 "0004050f",
	 "0:1 2:2 4:3 8:4 10:5 12:3 26:6 28:3 32:2"},
	{"try_with", 0x030b, 270,
	 "e800e8008000f002080512dd0d11902189578c57f0000209189801d81516f000010d18f000010d189001"
	 "d816179007900790079007f003010d18f003020918f000020918f000020918f100020918f400020918f0"
	 "00020918f000020918f000020918f000020918f000020918f000020918f8f8f8f000020918f000020918"
	 "f000020918f000020918f8f8f506000c13f000020516f000020516f000020516dd0e16d80c0df103010f"
	 "0ff400010f0fd81415f003010916f8f8f8f8f003020516f8f8f8f00800090a8f078a0789098c09880988"
	 "098809f888018f078a0789098c0988098809f8f8f8",
	 "0:1 6:2 8:3 40:4 48:5 58:4 60:3 92:0 98:3 106:0 110:6 128:7 140:8 142:7 156:8 158:7 "
	 "160:0 168:6 170:0 176:10 220:0 222:10 264:0"},
	{"class_body", 0x030b, 62,
	 "80008000800080008000d808098041e0050dd80511f002020516f000020516f103000612845cf1030006"
	 "0e8458f004020516f006010910f000010910804180418041",
	 "0:1 10:2 14:4 16:5 18:6 22:5 36:4 50:6 52:9"},
	{"long_jumps", 0x030b, 104,
	 "8000d804058041814384438043f05a090005068041f05a04000506f15b044d020507f4004d020507f000"
	 "4d020507f05c04000c0d8831f05206000304802181238423f1530649030c07f40049030c07f05206000a"
	 "0b881189138c13f1530649030c0df0004903050d",
	 "0:1 2:2 22:303 26:444 28:303 44:445 48:646 66:445 80:646 98:445"},
	{"long_gap", 0x030b, 328,
	 "8000d80c0d8f448a44901189478c4790519754925498219157945798619f649a64a03199679c67a071a7"
	 "74a274a841a177a477b001b704b204b051b107b407b811bf14ba14b861b917bc17c021c724c224c071c1"
	 "27c427c831cf34ca34d05051c937cc37d80102f003010c04f000010504",
	 "0:1 2:2 322:3 324:2"},
	{"backwards", 0x030b, 88,
	 "8000e005068051807181548454f00306050ee0090af00506050ef006000c0d880e8868e00e0ff003020e"
	 "0d88518851e00b0cf00500090af0070006078051807181548454f00306050ee0090af00506050ef00006"
	 "050ef00006050ef00006050ef00006050ef00006050ef00006050ef00006050ef00006050e",
	 "0:1 2:3 22:2 24:4 26:2 28:5 34:7 36:6 42:8 44:6 46:3 66:2 68:4 70:2"},
	{"expression", 0x030c, 32,
	 "8000d80c0dd90c0dd80e0fd80e0ff305020d11f006000d0ef107030d0ef103040d0ef00004050f",
	 "0:1 2:2 4:3 8:4 10:5 12:3 20:6 22:3 26:2"},
	{"try_with", 0x030c, 234,
	 "e800f88000f002080512dc0d1190218b57f0000209189801d81516f200010d189001d816179307f10301"
	 "0d18f703020918f00e00090a8f0789078d09f70f020918f000020918fbf406000c13f200020516dc0e16"
	 "d80c0df303010f0fd81415f003010916fbf003020516fbf00800090a8f0789078d09fc",
	 "0:1 2:0 4:1 6:2 8:3 32:4 42:5 52:4 56:3 72:10 106:3 124:0 132:6 148:7 158:8 160:7 "
	 "168:8 170:7 172:0 180:6 182:0 190:10 224:0"},
	{"class_body", 0x030c, 48,
	 "8400d808098041e0050dd80511f102020516f303000612f30300060ef004020516f1060109108141",
	 "0:1 10:2 14:4 16:5 18:6 22:5 30:4 38:6 40:9"},
	{"long_jumps", 0x030c, 74,
	 "8000d904058443f15a09000506f05a04000506f45b044d020507f15c04000c0df152060003048323f353"
	 "0649030c07f15206000a0b8b13f1530649030c0df0004903050d",
	 "0:1 2:2 16:303 20:444 22:303 32:445 36:646 48:445 56:646 68:445"},
	{"long_gap", 0x030c, 264,
	 "8000d80c0d8f44894490118b479051975491549821935798619f649964a0319b67a071a774a174a841a3"
	 "77b001b704b104b051b307b811bf14b914b861bb17c021c724c124c071c327c831cf34c934d05051cb37"
	 "d80102f003010c04f000010504",
	 "0:1 2:2 258:3 260:2"},
	{"backwards", 0x030c, 70,
	 "8000e1050680718454d9090ad90b0c8868e10e0ff103000e0fe00b0cf00500090af10700060780718454"
	 "db090af00300060ad8090af00300060a",
	 "0:1 2:3 18:4 22:5 28:7 32:6 36:8 38:6 40:3 56:4 64:3 66:4 68:3"},
	{"try_with", 0x030d, 248,
	 "e9008000f002080512dc0d1190218c579801db15169001d816179407f103001617f703000e15f00e0009"
	 "0a8f0789078d09f70f000e158d57fbf406000c13f300020516dc0e16d80c0df303010f0fd81415f00301"
	 "0916fbf003020516fbf00800090a8f0789078d09fc",
	 "0:1 6:2 8:3 32:4 42:5 54:4 58:3 74:10 108:3 136:0 144:6 162:7 172:8 174:7 182:8 "
	 "184:7 186:0 194:6 196:0 204:10 238:0"},
	{"class_body", 0x030d, 56,
	 "8600d808098041e0050dd80511f102020516f303000612f30300060ef004020516f1060109108341",
	 "0:1 14:2 18:4 20:5 22:6 26:5 34:4 42:6 44:9"},
	{"backwards", 0x030d, 134,
	 "8000e10506807187548154de090ade0b0c8968e60e0ff103000e0fe00b0cf00500090af1070006078071"
	 "87548154df090a8911f00300060ad8090af00300060a",
	 "0:1 2:3 28:4 42:5 60:7 74:6 78:8 80:6 82:3 108:4 128:3 130:4 132:3"},
	{"expression", 0x030e, 48,
	 "8000d80c0dd90c0dd80e0fd80e0ff305020d11f006000d0ef507030d0ef503040d0ef00004050f",
	 "0:1 2:2 4:3 8:4 10:5 12:3 20:6 22:3 34:2"},
	{"try_with", 0x030e, 272,
	 "e9008000f002080512dc0d1190218f578c579801db15169001d816179407f103001617f703000e15f00e"
	 "00090a8f0789078e09f70f000e158f57fbf406000c13f400020516dc0e16d80c0df303010f0fd81415f0"
	 "03010916fbf003020516fbf00800090a8f0789078d09fc",
	 "0:1 6:2 8:3 48:4 58:5 70:4 74:3 90:10 126:3 158:0 166:6 186:7 196:8 198:7 206:8 "
	 "208:7 210:0 218:6 220:0 228:10 262:0"},
	{"class_body", 0x030e, 68,
	 "f887008000d808098041e0050dd80511f102020516f303000612f30300060ef004020516f10601091086"
	 "41",
	 "0:0 2:1 20:2 24:4 26:5 28:6 32:5 40:4 48:6 50:9"},
	{"long_jumps", 0x030e, 82,
	 "8000d904058443f15a09000506f05a04000506f45b044d020507f15c04000c0df152060003048323f353"
	 "0649030c07f15206000a0b8b13f5530649030c0df0004903050d",
	 "0:1 2:2 16:303 20:444 22:303 32:445 36:646 48:445 56:646 68:445"},
	{"backwards", 0x030e, 102,
	 "8000e10506807187548254df090adf0b0c8968e70e0ff103000e0fe00b0cf20500090af105000a0bf103"
	 "00060a",
	 "0:1 2:3 30:4 46:5 66:7 82:6 86:8 88:6 94:4 98:3"},
};
/* clang-format on */

static size_t read_hex(const char *hex, uint8_t into[LARGEST])
{
	size_t len = 0;
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1 && len < LARGEST; hex += 2)
		into[len++] = (uint8_t)byte;
	return len;
}

/* The line that the runs have for an offset. Code without a line has the line before, at first the
 * line of the function. */
static uint32_t expected(const char *runs, uint32_t offset)
{
	uint32_t line = 1;

	while (*runs) {
		char *end;
		unsigned long start = strtoul(runs, &end, 10);

		ck_assert_int_eq(*end, ':');
		if (start > offset)
			break;
		line = (uint32_t)strtoul(end + 1, &end, 10) ?: line;
		runs = end + (*end == ' ');
	}
	return line;
}

START_TEST(lines_are_those_of_the_interpreter)
{
	const struct golden *golden = &goldens[_i];
	uint8_t table[LARGEST];
	size_t len = read_hex(golden->table, table);

	for (uint32_t offset = 0; offset < golden->code_bytes; offset += 2)
		ck_assert_msg(python_line(golden->version, table, len, line_start(1), offset) ==
		                      expected(golden->runs, offset),
		              "%s of %x at %u", golden->name, golden->version, offset);
	if (golden->version >= 0x030a)
		ck_assert_uint_eq(
			python_line(golden->version, table, len, line_start(1), golden->code_bytes),
			0);
}
END_TEST

/* A table truncated anywhere gives the right line or none. */
START_TEST(cut_tables_are_never_wrong)
{
	const struct golden *golden = &goldens[_i];
	uint8_t table[LARGEST];
	size_t len = read_hex(golden->table, table);

	/* Of the old tables, only those of odd length are known to be truncated. */
	for (size_t cut = 1; cut < len; cut += golden->version < 0x030a ? 2 : 1) {
		/* Exactly this size, so that a sanitizer detects a read beyond it. */
		_cleanup_free_ uint8_t *copy = malloc(cut + 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy + 1, table, cut);
		for (uint32_t offset = 0; offset < golden->code_bytes; offset += 2) {
			uint32_t line =
				python_line(golden->version, copy + 1, cut, line_start(1), offset);

			ASSERT_OFTEN(line == 0 || line == expected(golden->runs, offset));
		}
	}
}
END_TEST

struct odd {
	uint32_t version, first_line, offset, line;
	const char *table;
};

static const struct odd odds[] = {
	/* No table: only versions whose tables are open-ended have a line then. */
	{0x0308, 7, 0, 7, ""},
	{0x0309, 7, 4000, 7, ""},
	{0x030a, 7, 0, 0, ""},
	{0x030b, 7, 0, 0, ""},
	{0x030e, 7, 0, 0, ""},
	/* Invalid lines: 0 and below, and more than an int holds. */
	{0x0308, 1, 0, 0, "00ff"},
	{0x0308, 1, 0, 0, "00fe"},
	{0x0308, 0x7fffffff, 0, 0, "0001"},
	{0x0308, 0xffffffff, 0, 0, ""},
	{0x0308, 0xffffffff, 0, 1, "0002"},
	{0x030a, 1, 0, 1, "0480"},
	{0x030a, 1, 0, 0, "04ff"},
	{0x030a, 1, 4, 2, "04800201"},
	{0x030a, 1, 2, 1, "02800400"},
	/* An offset within an instruction, and the largest possible offset. */
	{0x030b, 5, 1, 5, "80"},
	{0x030b, 5, 0xffffffff, 0, "80"},
	{0x0308, 5, 0xffffffff, 6, "ff01"},
	/* Each form: none, short, one line with a difference of 0 to 2, no columns, long. */
	{0x030b, 5, 0, 5, "f8"},
	{0x030b, 5, 0, 5, "8000"},
	{0x030b, 5, 0, 5, "d00000"},
	{0x030b, 5, 0, 6, "d80000"},
	{0x030b, 5, 0, 7, "e00000"},
	{0x030b, 5, 0, 8, "e806"},
	{0x030b, 5, 0, 2, "e807"},
	{0x030b, 5, 0, 8, "f006000101"},
	{0x030b, 5, 2, 8, "f006000101800000"},
	/* Extra bytes behind a number are skipped. */
	{0x030b, 5, 2, 5, "80000000000080"},
	/* A table whose first byte is not the start of an entry. */
	{0x030b, 5, 0, 0, "0080"},
	/* Numbers without an end, or wider than an int. */
	{0x030b, 5, 0, 0, "e8"},
	{0x030b, 5, 0, 0, "e841"},
	{0x030b, 5, 0, 0, "e8ff"},
	{0x030b, 5, 0, 0, "e87f7f7f7f7f7f7f7f7f7f7f7f7f01"},
	{0x030b, 5, 0, 0, "e87f7f7f7f7f3f"},
	{0x030b, 5, 2, 0, "e87f7f7f7f7f7f3f80"},
	{0x030b, 1, 0, 0, "e87e7f7f7f7f03"},
	/* Versions that do not exist. */
	{0, 3, 0, 3, ""},
	{0xffffffff, 3, 0, 3, "80"},
};

START_TEST(odd_tables)
{
	const struct odd *odd = &odds[_i];
	uint8_t table[LARGEST];
	size_t len = read_hex(odd->table, table);

	ck_assert_uint_eq(
		python_line(odd->version, table, len, line_start(odd->first_line), odd->offset),
		odd->line);
}
END_TEST

/* The largest table that is read, with entries that increase the line as much as they can. */
START_TEST(sums_do_not_wrap)
{
	static const uint32_t versions[] = {0x0308, 0x030a, 0x030b};
	static uint8_t table[1 << 20];

	for (size_t i = 0; i < sizeof(table); i++)
		table[i] = (const uint8_t[]){0xef, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x03, 0}[i % 8];
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		ck_assert_uint_eq(python_line(versions[i], table, sizeof(table),
		                              line_start(0x7fffffff), 0xffffffff),
		                  0);
	}
}
END_TEST

/* A search from a mark gives the same line as a search from the start, for any table. */
START_TEST(marks_change_nothing)
{
	static const uint32_t versions[] = {0x0308, 0x030a, 0x030b};
	static uint8_t table[20 * LINE_STEP + 7];
	struct line_place marks[sizeof(table) / LINE_STEP];
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(table); i++) {
		state = state * 1103515245 + 12345;
		/* From 3.11 on, entries have at most 3 bytes. */
		table[i] = (uint8_t)(state >> 16) & 0x3f;
		if (_i == 2)
			table[i] |= i % 3 ? 0 : 0x80;
	}
	size_t count = python_line_marks(versions[_i], table, sizeof(table), 5, marks);
	ck_assert_uint_eq(count, 20);
	for (uint32_t offset = 0; offset < 400000; offset += 97) {
		struct line_place mark = python_line_mark(marks, count, 5, offset);

		ck_assert_uint_eq(
			python_line(versions[_i], table, sizeof(table), mark, offset),
			python_line(versions[_i], table, sizeof(table), line_start(5), offset));
	}
	ck_assert_uint_eq(python_line_mark(marks, count, 5, 400000).at, marks[19].at);
}
END_TEST

Suite *python_lines_suite(void)
{
	Suite *suite = suite_create("python_lines");
	TCase *tcase = tcase_create("python_lines");

	tcase_add_loop_test(tcase, lines_are_those_of_the_interpreter, 0,
	                    sizeof(goldens) / sizeof(goldens[0]));
	tcase_add_loop_test(tcase, cut_tables_are_never_wrong, 0,
	                    sizeof(goldens) / sizeof(goldens[0]));
	tcase_add_loop_test(tcase, odd_tables, 0, sizeof(odds) / sizeof(odds[0]));
	tcase_add_test(tcase, sums_do_not_wrap);
	tcase_add_loop_test(tcase, marks_change_nothing, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
