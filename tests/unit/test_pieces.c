/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of a file's pieces are equal to one table of the whole file; where pieces are found.
 */
#include "unwind/pieces.h"

#include "base/cleanup.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"
#include "unwind/op.h"
#include "unwind/table.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 1 << 24 };

static bool same(const struct table *left, const struct table *right, uint64_t at)
{
	uint32_t a = table_find(left, at), b = table_find(right, at);

	if (a >> OP_BASE_SHIFT != OP_RULE || b >> OP_BASE_SHIFT != OP_RULE)
		return a == b;
	return !memcmp(&left->words[(size_t)(a & OP_VALUE_MASK) * RULE_WORDS],
	               &right->words[(size_t)(b & OP_VALUE_MASK) * RULE_WORDS],
	               sizeof(struct unwind_rule));
}

/* The file is split at the boundaries of its pieces, and at arbitrary places. */
START_TEST(parts_say_what_the_whole_says)
{
	static const uint64_t sizes[] = {PIECE_BYTES, 100003, 7001};
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(table_freep) struct table *whole = NULL;
	uint64_t others = 0, all = 0, empty = 0;
	struct range text;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(text_of_elf(elf, &text), 0);
	ck_assert_int_eq(table_build(elf, false, WORDS, &whole), 0);
	for (uint64_t at = text.start; at < text.end;) {
		_cleanup_(table_freep) struct table *part = NULL;
		uint64_t end = at + sizes[_i];

		if (table_build_part(elf, NULL, (struct range){at, end}, WORDS, &part) == 0) {
			for (; at < end && at < text.end; at++) {
				others += !same(part, whole, at);
				all++;
			}
		}
		for (; at < end && at < text.end; at++)
			empty += table_find(whole, at) != OP_OF_NAME(OP_NONE);
	}
	ck_assert_uint_gt(all, PIECE_BYTES);
	/* The padding behind a part's end aligns the next function, and is never executed. */
	ck_assert_uint_le(others, (text.end - text.start) / sizes[_i] * 2 * TABLE_PADDING);
	ck_assert_uint_eq(empty, 0);
}
END_TEST

/* Tables of parts that share followed functions are equal to tables of parts built alone. */
START_TEST(parts_share_what_was_followed)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(followed_end) struct followed kept = {0};
	_cleanup_(elf_freep) struct elf *elf = NULL;
	uint64_t others = 0, followed = 0;
	struct range text;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(text_of_elf(elf, &text), 0);
	for (uint64_t at = text.start; at < text.end;) {
		_cleanup_(table_freep) struct table *part = NULL, *anew = NULL, *plain = NULL;
		struct range range = {at, at + PIECE_BYTES / 8};
		size_t count = kept.count;

		int err = table_build_part(elf, &kept, range, WORDS, &part);
		ck_assert(kept.complete);
		ck_assert(at == text.start || kept.count == count);
		ck_assert_int_eq(table_build(elf, true, WORDS, &anew), 0);
		ck_assert_int_eq(table_build(elf, false, WORDS, &plain), 0);
		for (; at < range.end && at < text.end; at++) {
			/* The padding where the part begins or ends does not count. */
			bool inside =
				at >= range.start + TABLE_PADDING && at + TABLE_PADDING < range.end;

			others += !err && inside && !same(part, anew, at);
			followed += !same(anew, plain, at);
		}
	}
	ck_assert_uint_gt(followed, 0);
	ck_assert_uint_eq(others, 0);
}
END_TEST

START_TEST(too_many_to_keep)
{
	_cleanup_(followed_end) struct followed followed = {0};

	for (uint64_t at = 0; !followed.given_up && at < 1 << 20; at++)
		followed_add(&followed, &(struct frame_row){.start = at, .end = at + 1});
	ck_assert(followed.given_up);
	ck_assert_uint_eq(followed.count, 0);
}
END_TEST

/* The number of pieces of a file of that many bytes. */
static uint32_t count_pieces(const struct elf_image *image, uint64_t bytes)
{
	_cleanup_close_ int fd = elf_image_fd(image, sizeof(*image));
	_cleanup_(elf_freep) struct elf *elf = NULL;

	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	return pieces_of(elf).count;
}

START_TEST(bytes_that_are_not_there)
{
	static const uint64_t claimed = 16 * PIECE_BYTES, page = 0x1000;
	struct elf_image image;
	Elf64_Phdr *text = &image.segments[1];

	elf_image_init(&image, 1);
	text->p_vaddr = PIECE_BYTES;
	text->p_filesz = text->p_memsz = claimed;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 16);
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed - 1), 1);
	ck_assert_uint_eq(count_pieces(&image, 2 * page), 1);
	/* The segment is in memory only. */
	text->p_filesz = page;
	ck_assert_uint_eq(count_pieces(&image, 2 * page), 1);
	text->p_filesz = 0;
	ck_assert_uint_eq(count_pieces(&image, 2 * page), 1);
	text->p_filesz = 3 * PIECE_BYTES;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 3);
	/* Two segments with a large gap between them. */
	text->p_filesz = text->p_memsz = page;
	image.segments[0] = *text;
	image.segments[0].p_vaddr += claimed;
	ck_assert_uint_eq(count_pieces(&image, 2 * page), 1);
}
END_TEST

/* Data behind the code, in the same segment, takes no pieces. */
START_TEST(data_in_a_text_segment)
{
	static const uint64_t claimed = 16 * PIECE_BYTES;
	struct elf_image image;
	Elf64_Phdr *text = &image.segments[1];
	Elf64_Shdr *code = &image.sections[1];

	elf_image_init(&image, 1);
	text->p_vaddr = PIECE_BYTES;
	text->p_filesz = text->p_memsz = claimed;
	*code = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
	                     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
	                     .sh_addr = 2 * PIECE_BYTES,
	                     .sh_size = 3 * PIECE_BYTES};
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 3);
	/* It counts only as far as it is in a segment. */
	code->sh_size = UINT64_MAX / 2;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 15);
	code->sh_addr = 0;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 16);
	/* Headers that make no sense. */
	code->sh_addr = UINT64_MAX - 10;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 16);
	code->sh_addr = 100 * PIECE_BYTES;
	code->sh_size = PIECE_BYTES;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 16);
	code->sh_flags = SHF_ALLOC;
	ck_assert_uint_eq(count_pieces(&image, text->p_offset + claimed), 16);
}
END_TEST

START_TEST(where_mappings_begin)
{
	const struct pieces pieces = {.first = 4, .count = 3};
	const uint64_t bias = 0x7f0000000000;
	static const struct {
		uint64_t from, to; /* own addresses, in pieces */
		uint32_t table, following;
		uint64_t start;
	} cases[] = {
		{4, 7, 100, 2, 4},
		{5, 7, 101, 1, 5},
		{6, 7, 102, 0, 6},
		/* Beyond all pieces: the last table has no entries there. */
		{7, 9, 102, 0, 7},
		/* Addresses before the first piece are not code. */
		{0, 7, 100, 2, 4},
		{0, 4, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unwind_mapping mapping = {
			.start = bias + cases[i].from * PIECE_BYTES,
			.end = bias + cases[i].to * PIECE_BYTES,
			.bias = bias,
			.table = 100,
		};

		pieces_map(&pieces, &mapping);
		ck_assert_uint_eq(mapping.table, cases[i].table);
		ck_assert_uint_eq(mapping.pieces, cases[i].following);
		ck_assert_uint_eq(mapping.start, bias + cases[i].start * PIECE_BYTES);
	}
	ck_assert_uint_eq(piece_range(&pieces, 0).start, 4 * PIECE_BYTES);
	ck_assert_uint_eq(piece_range(&pieces, 2).end, 7 * PIECE_BYTES);
	const struct pieces whole = {.count = 1};
	ck_assert_uint_eq(piece_range(&whole, 0).start, 0);
	ck_assert_uint_eq(piece_range(&whole, 0).end, UINT64_MAX);
}
END_TEST

Suite *pieces_suite(void)
{
	Suite *suite = suite_create("pieces");
	TCase *tcase = tcase_create("pieces");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, parts_say_what_the_whole_says, 0, 3);
	tcase_add_test(tcase, parts_share_what_was_followed);
	tcase_add_test(tcase, too_many_to_keep);
	tcase_add_test(tcase, bytes_that_are_not_there);
	tcase_add_test(tcase, data_in_a_text_segment);
	tcase_add_test(tcase, where_mappings_begin);
	suite_add_tcase(suite, tcase);
	return suite;
}
