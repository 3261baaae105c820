/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * jitdump files: records of code and of its lines, whole, cut anywhere, and damaged.
 */
#include "tests/unit/suites.h"

#include "base/buf.h"
#include "jit/jit_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct buf dump;
static struct jit_codes codes;
static bool has_low_rows;

static void stop(void)
{
	buf_release(&dump);
	jit_codes_release(&codes);
	has_low_rows = false;
}

static void add_u32(uint32_t value)
{
	buf_add(&dump, &value, sizeof(value));
}

static void add_u64(uint64_t value)
{
	buf_add(&dump, &value, sizeof(value));
}

static void add_text(const char *text)
{
	buf_add(&dump, text, strlen(text) + 1);
}

/* Begins a record; end_record() sets its size. */
static size_t begin_record(uint32_t id)
{
	size_t at = dump.len;

	add_u32(id);
	add_u32(0);
	add_u64(12345);
	return at;
}

static void end_record(size_t at)
{
	uint32_t size = (uint32_t)(dump.len - at);

	memcpy(dump.data + at + sizeof(uint32_t), &size, sizeof(size));
}

static void add_code(uint64_t address, uint64_t size, const char *name)
{
	size_t at = begin_record(0);

	add_u32(1);
	add_u32(1);
	add_u64(address);
	add_u64(address);
	add_u64(size);
	add_u64(7);
	add_text(name);
	for (uint64_t i = 0; i < size; i++)
		buf_add_char(&dump, (char)0x90);
	end_record(at);
}

struct entry {
	uint64_t address;
	uint32_t line;
	const char *file;
};

static void add_lines(uint64_t address, const struct entry *entries, size_t count)
{
	size_t at = begin_record(2);

	add_u64(address);
	add_u64(count);
	for (size_t i = 0; i < count; i++) {
		add_u64(entries[i].address);
		add_u32(entries[i].line);
		add_u32(0);
		add_text(entries[i].file);
	}
	end_record(at);
}

/* Reads all in pieces of at most `size` bytes, as a file that is full at each. */
static void read_all(size_t size)
{
	size_t at = 0;

	while (at < dump.len) {
		size_t len = dump.len - at < size ? dump.len - at : size;
		uint64_t next;

		ck_assert_int_eq(jit_dump_read(dump.data + at, len, len == size, &has_low_rows,
		                               &codes, &next),
		                 0);
		if (!next)
			break;
		at += next;
	}
	ck_assert_int_eq(jit_codes_sort(&codes), 0);
}

static void expect_place(uint64_t address, const char *name, uint32_t line, const char *file)
{
	const struct jit_code *code = jit_codes_find(&codes, address);
	const char *found = "";

	ck_assert_ptr_nonnull(code);
	ck_assert_str_eq(code->name, name);
	ck_assert_uint_eq(code->lines ? jit_lines_find(code->lines, address, &found) : 0, line);
	ck_assert_str_eq(found, file);
}

/* Two pieces of code, the first of which has lines, and records of other kinds. */
static void build(uint64_t offset)
{
	const struct entry entries[] = {
		{0x1000 + offset, 3, "/srv/a.c"},
		{0x1004 + offset, 4, "\xff"},
		{0x1008 + offset, 90, "/srv/inlined.h"},
		{0x100c + offset, 5, "/srv/a.c"},
	};

	end_record(begin_record(4)); /* unwinding information */
	add_lines(0x1000, entries, sizeof(entries) / sizeof(entries[0]));
	add_code(0x1000, 0x20, "first");
	end_record(begin_record(3)); /* close */
	add_code(0x2000, 8, "second");
}

static void expect_built(void)
{
	ck_assert_uint_eq(codes.count, 2);
	expect_place(0x1000, "first", 3, "/srv/a.c");
	expect_place(0x1003, "first", 3, "/srv/a.c");
	expect_place(0x1004, "first", 4, "/srv/a.c");
	expect_place(0x100b, "first", 90, "/srv/inlined.h");
	expect_place(0x101f, "first", 5, "/srv/a.c");
	expect_place(0x2007, "second", 0, "");
}

START_TEST(code_and_its_lines)
{
	build(0);
	read_all(1 << 20);
	expect_built();
}
END_TEST

START_TEST(lines_as_in_the_file_of_perf_inject)
{
	build(0x40);
	read_all(1 << 20);
	expect_built();
}
END_TEST

/* However the file is cut into pieces that hold at least a record, the result is the same. */
START_TEST(pieces_of_any_size)
{
	build(0);
	for (size_t size = 340; size < dump.len; size++) {
		read_all(size);
		expect_built();
		jit_codes_release(&codes);
	}
}
END_TEST

/* What is not complete yet is left for the next reading. */
START_TEST(a_file_that_grows)
{
	build(0);
	for (size_t cut = 0; cut <= dump.len; cut++) {
		uint64_t next, more;

		ck_assert_int_eq(jit_dump_read(dump.data, cut, false, &has_low_rows, &codes, &next),
		                 0);
		if (next < dump.len)
			ck_assert_int_eq(jit_dump_read(dump.data + next, dump.len - next, false,
			                               &has_low_rows, &codes, &more),
			                 0);
		ck_assert_int_eq(jit_codes_sort(&codes), 0);
		expect_built();
		jit_codes_release(&codes);
	}
}
END_TEST

START_TEST(lines_of_other_code_do_not_count)
{
	const struct entry entry = {0x1000, 3, "/srv/a.c"};

	add_lines(0x3000, &entry, 1);
	add_code(0x1000, 0x20, "first");
	read_all(1 << 20);
	expect_place(0x1000, "first", 0, "");
}
END_TEST

START_TEST(damaged_records)
{
	uint64_t next;
	uint32_t size = 8;

	build(0);
	memcpy(dump.data + 4, &size, sizeof(size));
	ck_assert_int_eq(jit_dump_read(dump.data, dump.len, false, &has_low_rows, &codes, &next),
	                 -EBADMSG);
	ck_assert_uint_eq(codes.count, 0);
}
END_TEST

/* A record that is larger than what is read at once is skipped, with its file's other records kept.
 */
START_TEST(a_record_without_end)
{
	uint32_t size = 1 << 30;
	uint64_t next;

	add_code(0x1000, 0x20, "first");
	memcpy(dump.data + 4, &size, sizeof(size));
	memset(dump.data + 56, 'x', dump.len - 56);
	ck_assert_int_eq(jit_dump_read(dump.data, dump.len, false, &has_low_rows, &codes, &next),
	                 0);
	ck_assert_uint_eq(next, 0);
	ck_assert_int_eq(jit_dump_read(dump.data, dump.len, true, &has_low_rows, &codes, &next), 0);
	ck_assert_uint_eq(next, size);
}
END_TEST

START_TEST(headers)
{
	const uint32_t words[] = {0x4a695444, 1, 40, 62, 0, 1, 0, 0, 0, 0};
	uint32_t other[10];

	ck_assert_uint_eq(jit_dump_header((const uint8_t *)words, sizeof(words)), 40);
	ck_assert_uint_eq(jit_dump_header((const uint8_t *)words, sizeof(words) - 1), 0);
	for (size_t i = 0; i < 3; i++) {
		memcpy(other, words, sizeof(other));
		other[i] = i == 2 ? 39 : 2;
		ck_assert_uint_eq(jit_dump_header((const uint8_t *)other, sizeof(other)), 0);
	}
}
END_TEST

Suite *jit_dump_suite(void)
{
	Suite *suite = suite_create("jit_dump");
	TCase *tcase = tcase_create("dump");

	tcase_add_checked_fixture(tcase, NULL, stop);
	tcase_add_test(tcase, code_and_its_lines);
	tcase_add_test(tcase, lines_as_in_the_file_of_perf_inject);
	tcase_add_test(tcase, pieces_of_any_size);
	tcase_add_test(tcase, a_file_that_grows);
	tcase_add_test(tcase, lines_of_other_code_do_not_count);
	tcase_add_test(tcase, damaged_records);
	tcase_add_test(tcase, a_record_without_end);
	tcase_add_test(tcase, headers);
	suite_add_tcase(suite, tcase);
	return suite;
}
