/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens or creates the file for each question.
 */
#include "tests/unit/names_asked.h"

#include "reader/reader.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/names_fixture.h"

#include <check.h>
#include <string.h>

struct names_client *client_of_self(void)
{
	struct names_client *client = names_client_new(READER_SELF, 256 << 20);

	ck_assert_ptr_nonnull(client);
	return client;
}

struct names_stats stats_of(const struct names_client *client)
{
	struct names_stats stats;

	names_client_get_stats(client, &stats);
	return stats;
}

/* Asks about known_outer(). */
static int ask_self(struct names_client *client, bool lines, struct told_frames *told)
{
	_cleanup_close_ int fd = open_own_file();
	uint64_t address = known_outer();
	struct names_query query = {
		.file = 1, .fds = {fd, -1, -1}, .addresses = &address, .count = 1, .lines = lines};

	return names_client_find(client, &query, tell_frame, told);
}

void expect_self(struct names_client *client, bool lines, bool told_lines)
{
	struct told_frames told = {0};

	ck_assert_int_eq(ask_self(client, lines, &told), 0);
	ck_assert_uint_eq(told.count, told_lines ? 2 : 1);
	ck_assert_str_eq(told.items[told.count - 1].function, "known_outer");
	ck_assert_uint_eq(told.items[told.count - 1].function_address,
	                  own_address((uintptr_t)known_outer));
	if (told_lines) {
		ck_assert_str_eq(told.items[0].function, "known_inlined");
		ck_assert_ptr_nonnull(strstr(told.items[0].file, "tests/unit/names_fixture.c"));
		ck_assert_uint_gt(told.items[0].line, 0);
	} else {
		ck_assert_ptr_null(told.items[0].file);
	}
	told_frames_release(&told);
}

/* Asks about the image's function "plain". */
static int ask_image(struct names_client *client, uint64_t number, struct told_frames *told)
{
	static const uint64_t address = 0x401010;
	struct elf_image image;

	elf_image_init(&image, (uint8_t)number);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	struct names_query query = {
		.file = number, .fds = {fd, -1, -1}, .addresses = &address, .count = 1};
	return names_client_find(client, &query, tell_frame, told);
}

void expect_image(struct names_client *client, uint64_t number)
{
	struct told_frames told = {0};

	ck_assert_int_eq(ask_image(client, number, &told), 0);
	ck_assert_uint_eq(told.count, 1);
	ck_assert_str_eq(told.items[0].function, "plain");
	ck_assert_uint_eq(told.items[0].function_address, 0x401000);
	told_frames_release(&told);
}
