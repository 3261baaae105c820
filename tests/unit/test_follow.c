/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows made by following code: one function at a time, with the rows that each must give and no
 * others, and the functions of a file.
 */
#include "follow/follow.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ADDRESS = 0x401000 };

struct text {
	char text[512];
	uint64_t last_end;
};

/* "START-END CFA FP[ ra]". CFA: 7+16, or *(7+24)+8. FP: = unchanged, c-16 saved at CFA-16, r3 in
 * register 3, 7+8 saved at rsp+8. The return address is given if it is not at CFA-8. */
static void format_row(const struct frame_row *row, char *into, size_t size)
{
	char cfa[40], fp[24], ra[24] = "";

	if (row->signal_frame || row->ra.kind == SAVE_UNDEFINED) {
		snprintf(into, size, "%s", row->signal_frame ? "signal" : "stop");
		return;
	}
	if (row->cfa.kind == CFA_DEREF)
		snprintf(cfa, sizeof(cfa), "*(%d%+d)%+d", row->cfa.reg, (int)row->cfa.offset,
		         (int)row->cfa.add);
	else
		snprintf(cfa, sizeof(cfa), "%d%+d", row->cfa.reg, (int)row->cfa.offset);
	if (row->fp.kind == SAVE_SAME)
		snprintf(fp, sizeof(fp), "=");
	else if (row->fp.kind == SAVE_AT_CFA)
		snprintf(fp, sizeof(fp), "c%+d", (int)row->fp.offset);
	else if (row->fp.kind == SAVE_IN)
		snprintf(fp, sizeof(fp), "r%d", row->fp.reg);
	else
		snprintf(fp, sizeof(fp), "%d%+d", row->fp.reg, (int)row->fp.offset);
	if (row->ra.kind == SAVE_IN)
		snprintf(ra, sizeof(ra), " ra r%d", row->ra.reg);
	else
		ck_assert(row->ra.kind == SAVE_AT_CFA && row->ra.offset == -8);
	snprintf(into, size, "%s %s%s", cfa, fp, ra);
}

static int add_text(const struct frame_row *row, void *ctx)
{
	struct text *text = ctx;
	size_t len = strlen(text->text);
	char rule[96];

	ck_assert_uint_lt(row->start, row->end);
	ck_assert_uint_le(text->last_end, row->start);
	text->last_end = row->end;
	format_row(row, rule, sizeof(rule));
	snprintf(text->text + len, sizeof(text->text) - len, "%lx-%lx %s;",
	         (unsigned long)row->start - ADDRESS, (unsigned long)row->end - ADDRESS, rule);
	return 0;
}

#define CODE(bytes) bytes, sizeof(bytes) - 1

static const struct {
	const char *name, *code;
	size_t len;
	const char *rows;
} functions[] = {
	/* push rbp; mov rsp,rbp; sub; call; leave; ret */
	{"frame pointer", CODE("\x55\x48\x89\xe5\x48\x83\xec\x10\xe8\xfb\x00\x00\x00\xc9\xc3"),
         "0-1 7+8 =;1-4 7+16 =;4-e 6+16 c-16;e-f 7+8 =;"},
	{"enter", CODE("\xc8\x10\x00\x00\x90\xc9\xc3"), "0-4 7+8 =;4-6 6+16 c-16;6-7 7+8 =;"},
	/* The CFA is in rbx while the stack is aligned and rbp is used for something else. */
	{"aligned, by register",
         CODE("\x55\x53\x48\x89\xe3\x48\x81\xec\x80\x00\x00\x00\x48\x83\xe4\xc0\x31\xed\x48\x89\xdc"
              "\x5b\x5d\xc3"),
         "0-1 7+8 =;1-2 7+16 =;2-c 7+24 =;c-10 7+152 =;10-12 3+24 =;12-15 3+24 c-16;"
         "15-16 7+24 c-16;16-17 7+16 c-16;17-18 7+8 =;"},
	/* The old stack pointer is in a word of the aligned stack. */
	{"aligned, by memory",
         CODE("\x48\x89\xe0\x55\x48\x83\xec\x40\x48\x83\xe4\xe0\x48\x89\x44\x24\x18\x31\xc0\x48\x8b"
              "\x74\x24\x18\x48\x8b\x6e\xf8\x48\x8d\x26\xc3"),
         "0-4 7+8 =;4-8 7+16 =;8-c 7+80 =;c-11 0+8 =;11-1f *(7+24)+8 =;1f-20 7+8 =;"},
	{"two paths, two depths", CODE("\x85\xc0\x74\x01\x51\x90\x48\x89\xdc\xc3"), "0-5 7+8 =;"},
	{"loop", CODE("\x53\xff\xc9\x75\xfc\x5b\xc3"), "0-1 7+8 =;1-6 7+16 =;6-7 7+8 =;"},
	{"grows in a loop", CODE("\x50\xeb\xfd"), ""},
	/* The code after the call cannot belong to this function, because it would return to a
         * wrong address. */
	{"call that does not return", CODE("\x50\x50\xe8\xfb\x00\x00\x00\x55\xc3"),
         "0-1 7+8 =;1-2 7+16 =;2-7 7+24 =;"},
	{"callee takes its argument", CODE("\x55\x48\x89\xe5\x50\xe8\xfb\x00\x00\x00\x5d\xc3"),
         "0-1 7+8 =;1-4 7+16 =;4-b 6+16 c-16;"},
	{"return address overwritten", CODE("\x48\xc7\x04\x24\x00\x00\x00\x00\xc3"), ""},
	{"return address in a register", CODE("\x5f\xb8\x3a\x00\x00\x00\x0f\x05\x57\xc3"),
         "0-1 7+8 =;1-9 7+0 = ra r5;9-a 7+8 =;"},
	/* clone(): the child clears rbp and makes a call. */
	{"new thread",
         CODE("\x31\xc0\xb0\x38\x0f\x05\x85\xc0\x75\x07\x31\xed\x5f\x41\xff\xd1\xf4\xc3"),
         "0-a 7+8 =;a-11 stop;11-12 7+8 =;"},
	/* After another system call the same code is no new thread, and pops its return address. */
	{"no new thread",
         CODE("\x31\xc0\xb0\x39\x0f\x05\x85\xc0\x75\x07\x31\xed\x5f\x41\xff\xd1\xf4\xc3"),
         "0-c 7+8 =;11-12 7+8 =;"},
	{"table may lead behind a call",
         CODE("\x48\x83\xec\x08\x74\x05\xe8\xfb\x00\x00\x00\x48\x83\xc4\x08\xff\x24\xc8"),
         "0-4 7+8 =;4-b 7+16 =;"},
	{"jump past a prefix", CODE("\x50\x74\x01\xf0\x0f\xb1\x0f\x58\xc3"),
         "0-1 7+8 =;1-8 7+16 =;8-9 7+8 =;"},
	{"exchange", CODE("\x48\x89\xe0\x48\x93\x31\xe4\x90\x48\x89\xdc\xc3"),
         "0-7 7+8 =;7-b 3+8 =;b-c 7+8 =;"},
	{"red zone ends at a call",
         CODE("\x48\x89\x6c\x24\xf8\x31\xed\xe8\xfb\x00\x00\x00\x90\xc3"),
         "0-7 7+8 =;7-c 7+8 c-16;"},
	{"saved word overwritten", CODE("\x55\x31\xed\x89\x44\x24\x04\x90\x5d\xc3"),
         "0-1 7+8 =;1-3 7+16 =;3-7 7+16 c-16;"},
	{"call for the program counter", CODE("\xe8\x00\x00\x00\x00\x58\xc3"),
         "0-5 7+8 =;5-6 7+16 =;6-7 7+8 =;"},
	{"jumps to itself", CODE("\xeb\xfe"), "0-2 7+8 =;"},
	{"empty", CODE(""), ""},
	{"cut", CODE("\x48\x83"), ""},
	{"cut after an instruction", CODE("\x50\x48\x83"), "0-1 7+8 =;"},
	{"no instruction", CODE("\xff\xff\xff\xff"), ""},
	{"zeros", CODE("\x00\x00\x00\x00"), ""},
	{"jumps out", CODE("\x50\x0f\x84\x00\x00\x00\x70\x58\xc3"),
         "0-1 7+8 =;1-8 7+16 =;8-9 7+8 =;"},
	{"frame beyond all bounds",
         CODE("\x48\x81\xec\xff\xff\xff\x7f\x48\x81\xec\xff\xff\xff\x7f\xc3"), "0-7 7+8 =;"},
};

START_TEST(function)
{
	struct text text = {0};

	ck_assert_int_eq(follow_function((const uint8_t *)functions[_i].code, functions[_i].len,
	                                 ADDRESS, add_text, &text),
	                 0);
	ck_assert_msg(!strcmp(text.text, functions[_i].rows), "%s: %s instead of %s",
	              functions[_i].name, text.text, functions[_i].rows);
}
END_TEST

static int stop(const struct frame_row *row, void *ctx)
{
	(void)row;
	return ++*(int *)ctx == 2 ? 7 : 0;
}

START_TEST(stops)
{
	int count = 0;

	ck_assert_int_eq(follow_function((const uint8_t *)"\x50\x58\xc3", 3, ADDRESS, stop, &count),
	                 7);
	ck_assert_int_eq(count, 2);
}
END_TEST

/* A long function that consists of jumps, then one of pushes: the work is bounded. */
START_TEST(large)
{
	enum { BYTES = 2 << 20 };
	_cleanup_free_ uint8_t *code = malloc(BYTES);
	struct text text = {0};

	for (size_t i = 0; i + 1 < BYTES; i += 2) {
		code[i] = 0x74;
		code[i + 1] = (uint8_t)(i % 128);
	}
	ck_assert_int_eq(follow_function(code, BYTES, ADDRESS, add_text, &text), 0);
	memset(code, 0x50, BYTES);
	int count = -1000 * 1000;
	ck_assert_int_eq(follow_function(code, BYTES, ADDRESS, stop, &count), 0);
	ck_assert_int_gt(count, -1000 * 1000);
}
END_TEST

/* The functions of a file. */

enum { TEXT = ADDRESS, TEXT_OFFSET = 0x1000, TEXT_BYTES = 0x800, FILE_BYTES = 0x1800 };

static const struct {
	uint64_t address;
	const char *code;
	size_t len;
} placed[] = {
	/* plain: push rbx; call 0x401180; pop rbx; ret */
	{0x401000, CODE("\x53\xe8\x7a\x01\x00\x00\x5b\xc3")},
	/* _ZN3foo3barEi, which call frame information describes. */
	{0x401040, CODE("\x53\x5b\xc3")},
	/* local: the addresses of 0x401400 and 0x401420; ret */
	{0x401100, CODE("\x48\x8d\x05\xf9\x02\x00\x00\x48\x8d\x05\x12\x03\x00\x00\xc3")},
	{0x401180, CODE("\x50\x58\xc3")},
	/* The entry point: xor ebp,ebp; call 0x401180; hlt */
	{0x401200, CODE("\x31\xed\xe8\x79\xff\xff\xff\xf4")},
	{0x401300, CODE("\x90\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05")},
	{0x401340, CODE("\xb8\x0f\x00\x00\x00\x0f\x05")},
	/* The first is recognized as a function by the way in which it returns. The second returns
         * like the middle of a function. */
	{0x401400, CODE("\x50\x58\xc3")},
	{0x401420, CODE("\x90\x58\xc3")},
	/* Nothing refers to this address. */
	{0x401440, CODE("\x50\x58\xc3")},
};

static const struct {
	uint64_t address;
	const char *rule;
} wanted[] = {
	{0x401000, "7+8 ="},  {0x401001, "7+16 ="}, {0x401006, "7+16 ="}, {0x401007, "7+8 ="},
	{0x401008, NULL},     {0x401040, NULL},     {0x401041, NULL},     {0x401100, "7+8 ="},
	{0x401180, "7+8 ="},  {0x401181, "7+16 ="}, {0x401200, "stop"},   {0x401202, "stop"},
	{0x401207, "stop"},   {0x401208, NULL},     {0x401300, "signal"}, {0x401309, "signal"},
	{0x40130a, NULL},     {0x40133f, "signal"}, {0x401346, "signal"}, {0x401400, "7+8 ="},
	{0x401401, "7+16 ="}, {0x401420, NULL},     {0x401421, NULL},     {0x401440, NULL},
	{0x4017ff, NULL},
};

struct rules {
	char text[TEXT_BYTES][16];
};

static int place_rule(const struct frame_row *row, void *ctx)
{
	struct rules *rules = ctx;

	ck_assert(row->start >= TEXT && row->start < row->end && row->end <= TEXT + TEXT_BYTES);
	for (uint64_t at = row->start - TEXT; at < row->end - TEXT; at++) {
		ck_assert_str_eq(rules->text[at], "");
		format_row(row, rules->text[at], sizeof(rules->text[at]));
	}
	return 0;
}

static void make_file(uint8_t *bytes)
{
	struct elf_image image;

	elf_image_init(&image, 1);
	image.header.e_entry = 0x401200;
	memset(bytes, 0xcc, FILE_BYTES);
	memcpy(bytes, &image, sizeof(image));
	for (size_t i = 0; i < sizeof(placed) / sizeof(*placed); i++)
		memcpy(bytes + placed[i].address - TEXT + TEXT_OFFSET, placed[i].code,
		       placed[i].len);
}

START_TEST(file)
{
	static const struct range described[] = {{0x401040, 0x401060}};
	static uint8_t bytes[FILE_BYTES];
	static struct rules rules;
	struct elf *elf = NULL;

	make_file(bytes);
	ck_assert_int_eq(elf_open_bytes(bytes, sizeof(bytes), &elf), 0);
	ck_assert_int_eq(follow_gaps(elf, described, 1, place_rule, &rules), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		ck_assert_msg(!strcmp(rules.text[wanted[i].address - TEXT],
		                      wanted[i].rule ? wanted[i].rule : ""),
		              "%lx: %s", (unsigned long)wanted[i].address,
		              rules.text[wanted[i].address - TEXT]);
	elf_free(elf);
}
END_TEST

/* All code is described; the text is not in the file; the file is for another machine. */
START_TEST(no_gaps)
{
	static const struct range all[] = {{TEXT, TEXT + 0x100}, {TEXT + 0x100, UINT64_MAX}};
	static uint8_t bytes[FILE_BYTES];
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes;
	struct elf *elf = NULL;
	int count = 0;

	make_file(bytes);
	ck_assert_int_eq(elf_open_bytes(bytes, sizeof(bytes), &elf), 0);
	ck_assert_int_eq(follow_gaps(elf, all, 2, stop, &count), 0);
	elf_free(elf);
	ck_assert_int_eq(elf_open_bytes(bytes, TEXT_OFFSET, &elf), 0);
	ck_assert_int_eq(follow_gaps(elf, NULL, 0, stop, &count), 0);
	elf_free(elf);
	header->e_machine = EM_AARCH64;
	ck_assert_int_eq(elf_open_bytes(bytes, sizeof(bytes), &elf), 0);
	ck_assert_int_eq(follow_gaps(elf, NULL, 0, stop, &count), 0);
	elf_free(elf);
	ck_assert_int_eq(count, 0);
}
END_TEST

Suite *follow_suite(void)
{
	Suite *suite = suite_create("follow");
	TCase *tc = tcase_create("follow");

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, function, 0, sizeof(functions) / sizeof(*functions));
	tcase_add_test(tc, stops);
	tcase_add_test(tc, large);
	tcase_add_test(tc, file);
	tcase_add_test(tc, no_gaps);
	suite_add_tcase(suite, tc);
	return suite;
}
