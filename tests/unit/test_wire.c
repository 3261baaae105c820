/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Answers of the reader process: a written answer can be read, and all other bytes are refused.
 */
#include "names/wire.h"

#include "base/bounds.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* As in wire.c: the number of string bytes, the number of frames, the strings, and frames of 32
 * bytes. */
enum { HEAD = 8, FRAME = 32, FRAME_INDEX = 8, FRAME_FUNCTION = 12, FRAME_FILE = 16 };

struct told {
	char text[4096];
	size_t count, stop_after;
	struct source_frame last;
};

static int tell(size_t index, const struct source_frame *frame, void *ctx)
{
	struct told *told = ctx;
	size_t len = strlen(told->text);

	snprintf(told->text + len, sizeof(told->text) - len, "%zu:%s:%s:%u:%u:%llx\n", index,
	         frame->function ? frame->function : "-", frame->file ? frame->file : "-",
	         frame->line, frame->start_line, (unsigned long long)frame->function_address);
	told->last = *frame;
	return ++told->count == told->stop_after ? -ECANCELED : 0;
}

static void add(struct wire_frames *frames, size_t index, const char *function, const char *file,
                uint32_t line)
{
	struct source_frame frame = {
		.function = function, .file = file, .line = line, .start_line = 3};

	if (!file)
		frame.function_address = 0x401000;
	ck_assert_int_eq(wire_frames_add(frames, index, &frame), 0);
}

/* Three addresses: one with two frames, one with none, one with one. */
static struct buf sample(void)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct buf bytes = BUF_INIT;

	add(frames, 0, "inner", "/src/a.c", 7);
	add(frames, 0, "outer", NULL, 9);
	add(frames, 2, NULL, NULL, 0);
	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	return bytes;
}

START_TEST(what_is_written_is_read)
{
	struct buf bytes = sample();
	struct told told = {0};

	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, tell, &told), 0);
	ck_assert_str_eq(told.text, "0:inner:/src/a.c:7:3:0\n"
	                            "0:outer:-:9:3:401000\n"
	                            "2:-:-:0:3:401000\n");
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, NULL, NULL), 0);
	told = (struct told){.stop_after = 2};
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, tell, &told), -ECANCELED);
	ck_assert_uint_eq(told.count, 2);
	buf_release(&bytes);
}
END_TEST

START_TEST(nothing_to_say)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct told told = {0};
	struct buf bytes = BUF_INIT;

	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 1, tell, &told), 0);
	ck_assert_uint_eq(told.count, 0);
	buf_release(&bytes);
}
END_TEST

/* Many frames of a few functions take little more than their fixed part. */
START_TEST(strings_are_written_once)
{
	enum { NAMES = 1000, ROUNDS = 16 };
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct told told = {0};
	struct buf bytes = BUF_INIT;
	char name[32];

	for (size_t i = 0; i < NAMES * ROUNDS; i++) {
		snprintf(name, sizeof(name), "function_%03zu", i % NAMES);
		add(frames, i, name, "/src/a.c", (uint32_t)i);
	}
	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	ck_assert_uint_lt(bytes.len, NAMES * 16 + NAMES * ROUNDS * FRAME + 64);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, NAMES * ROUNDS, tell, &told), 0);
	ck_assert_uint_eq(told.count, NAMES * ROUNDS);
	ck_assert_str_eq(told.last.function, "function_999");
	ck_assert_str_eq(told.last.file, "/src/a.c");
	buf_release(&bytes);
}
END_TEST

START_TEST(long_strings_are_cut)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	_cleanup_free_ char *name = malloc(MAX_SYMBOL_NAME_BYTES + 100);
	struct told told = {0};
	struct buf bytes = BUF_INIT;

	memset(name, 'n', MAX_SYMBOL_NAME_BYTES + 99);
	name[MAX_SYMBOL_NAME_BYTES + 99] = '\0';
	add(frames, 0, name, name, 1);
	name[MAX_SYMBOL_NAME_BYTES] = '\0';
	add(frames, 0, name, name, 1);
	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	ck_assert_uint_lt(bytes.len, MAX_SYMBOL_NAME_BYTES + MAX_PATH_BYTES + 128);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 1, tell, &told), 0);
	ck_assert_uint_eq(strlen(told.last.function), MAX_SYMBOL_NAME_BYTES);
	ck_assert_uint_eq(strlen(told.last.file), MAX_PATH_BYTES);
	buf_release(&bytes);
}
END_TEST

START_TEST(order_and_depth)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct source_frame frame = {.function = "f"};

	for (int i = 0; i < MAX_INLINE_DEPTH; i++)
		ck_assert_int_eq(wire_frames_add(frames, 5, &frame), 0);
	ck_assert_int_eq(wire_frames_add(frames, 5, &frame), -EINVAL);
	ck_assert_int_eq(wire_frames_add(frames, 4, &frame), -EINVAL);
	ck_assert_int_eq(wire_frames_add(frames, WIRE_MAX_ADDRESSES, &frame), -EINVAL);
	ck_assert_int_eq(wire_frames_add(frames, WIRE_MAX_ADDRESSES - 1, &frame), 0);
}
END_TEST

START_TEST(too_long_an_answer)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	_cleanup_free_ char *name = calloc(1, MAX_SYMBOL_NAME_BYTES + 1);
	struct source_frame frame = {.function = name};
	int err = 0;
	size_t i;

	memset(name, 'n', MAX_SYMBOL_NAME_BYTES);
	for (i = 0; i < WIRE_MAX_ADDRESSES && err == 0; i++) {
		memcpy(name,
		       (const char[]){(char)('a' + i % 26), (char)('a' + i / 26 % 26),
		                      (char)('a' + i / 676)},
		       3);
		err = wire_frames_add(frames, i, &frame);
	}
	ck_assert_int_eq(err, -E2BIG);
	ck_assert_uint_gt(i, WIRE_MAX_ANSWER / (MAX_SYMBOL_NAME_BYTES + 64));
}
END_TEST

START_TEST(cut_anywhere)
{
	struct buf bytes = sample();
	struct told told = {0};

	for (size_t len = 0; len < bytes.len; len++) {
		/* A separate copy, so that a sanitizer detects a read beyond it. */
		_cleanup_free_ uint8_t *copy = malloc(len ? len : 1);
		memcpy(copy, bytes.data, len);
		ck_assert_int_eq(wire_frames_read(copy, len, 3, tell, &told), -EBADMSG);
	}
	buf_add_char(&bytes, '\0');
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, tell, &told), -EBADMSG);
	ck_assert_uint_eq(told.count, 0);
	buf_release(&bytes);
}
END_TEST

/* One number of a good answer is replaced; `frame` SIZE_MAX: in the head. */
static const struct damage {
	size_t frame, field;
	uint32_t value;
} damages[] = {
	{SIZE_MAX, 0, 0},              /* no strings */
	{SIZE_MAX, 0, UINT32_MAX},     /* too many */
	{SIZE_MAX, 4, 0},              /* no frames, so the rest is superfluous */
	{SIZE_MAX, 4, 4},              /* one too many */
	{SIZE_MAX, 4, UINT32_MAX},     /* a product over 32 bits */
	{SIZE_MAX, 4, 3 + (1U << 27)}, /* the same product in 32 bits */
	{SIZE_MAX, HEAD, 'x'},         /* the first string is not empty */
	{0, FRAME_INDEX, 1},           /* descending */
	{2, FRAME_INDEX, 3},           /* not asked for */
	{2, FRAME_INDEX, UINT32_MAX},
	{1, FRAME_FUNCTION, 22}, /* behind the strings */
	{1, FRAME_FUNCTION, UINT32_MAX},
	{1, FRAME_FILE, 22},
	{1, FRAME_FILE, UINT32_MAX},
	{1, FRAME_FUNCTION, 2}, /* in the middle of a string */
	{1, FRAME_FILE, 2},
};

START_TEST(damaged)
{
	const struct damage *damage = &damages[_i];
	struct buf bytes = sample();
	struct told told = {0};
	uint32_t string_bytes;

	memcpy(&string_bytes, bytes.data, sizeof(string_bytes));
	ck_assert_uint_eq(string_bytes, 22);
	size_t at = damage->frame == SIZE_MAX
	                    ? damage->field
	                    : HEAD + string_bytes + damage->frame * FRAME + damage->field;
	memcpy(bytes.data + at, &damage->value, sizeof(damage->value));
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, tell, &told), -EBADMSG);
	ck_assert_uint_eq(told.count, 0);
	buf_release(&bytes);
}
END_TEST

START_TEST(unterminated_strings)
{
	struct buf bytes = sample();

	bytes.data[HEAD + 21] = 'x';
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 3, NULL, NULL), -EBADMSG);
	buf_release(&bytes);
}
END_TEST

START_TEST(too_long_a_string)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	_cleanup_free_ char *name = calloc(1, MAX_SYMBOL_NAME_BYTES + 1);
	struct buf bytes = BUF_INIT;

	memset(name, 'n', MAX_SYMBOL_NAME_BYTES);
	add(frames, 0, "x", NULL, 1);
	add(frames, 0, name, NULL, 1);
	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 1, NULL, NULL), 0);
	/* The end of the short string. */
	bytes.data[HEAD + 2] = 'n';
	memset(bytes.data + bytes.len - 2 * FRAME + FRAME_FUNCTION, 0, 4);
	memset(bytes.data + bytes.len - FRAME + FRAME_FUNCTION, 0, 4);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 1, NULL, NULL), -EBADMSG);
	buf_release(&bytes);
}
END_TEST

START_TEST(too_deep)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct buf bytes = BUF_INIT;
	const uint32_t zero = 0;

	for (size_t i = 0; i <= MAX_INLINE_DEPTH; i++)
		add(frames, i == MAX_INLINE_DEPTH, "f", NULL, 1);
	ck_assert_int_eq(wire_frames_write(frames, &bytes), 0);
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 2, NULL, NULL), 0);
	memcpy(bytes.data + bytes.len - FRAME + FRAME_INDEX, &zero, sizeof(zero));
	ck_assert_int_eq(wire_frames_read(bytes.data, bytes.len, 2, NULL, NULL), -EBADMSG);
	buf_release(&bytes);
}
END_TEST

Suite *wire_suite(void)
{
	Suite *suite = suite_create("wire");
	TCase *written = tcase_create("written"), *hostile = tcase_create("hostile");

	tcase_add_test(written, what_is_written_is_read);
	tcase_add_test(written, nothing_to_say);
	tcase_add_test(written, strings_are_written_once);
	tcase_add_test(written, long_strings_are_cut);
	tcase_add_test(written, order_and_depth);
	tcase_add_test(written, too_long_an_answer);
	tcase_set_timeout(written, 30);
	tcase_add_test(hostile, cut_anywhere);
	tcase_add_loop_test(hostile, damaged, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(hostile, unterminated_strings);
	tcase_add_test(hostile, too_long_a_string);
	tcase_add_test(hostile, too_deep);
	suite_add_tcase(suite, written);
	suite_add_tcase(suite, hostile);
	return suite;
}
