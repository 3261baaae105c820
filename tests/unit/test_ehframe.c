/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sections of call frame information: which section has precedence, order and overlaps, damage, and
 * the entries that the compiler generated for this program.
 */
#include "cfi/ehframe.h"
#include "elf/dwarf.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/frame_text.h"
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint8_t to_16[] = {DW_CFA_def_cfa_offset, 16};
static const uint8_t to_24[] = {DW_CFA_def_cfa_offset, 24};

START_TEST(sorted_and_merged)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1200, 0x10, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, cie, 0x1000, 0x10, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1010, 0x20, NULL, 0); /* the same rule */
	size_t signal = put_eh_cie(&image.eh, "zRS");
	put_eh_fde(&image.eh, signal, 0x1030, 0x10, NULL, 0);
	check_frame_rows(&image,
	                 "1000-1030 r7+8 = c-8;1030-1040 r7+8 = c-8 S;1200-1210 r7+16 = c-8;");
}
END_TEST

START_TEST(overlaps)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1010, 0x40, to_24, sizeof(to_24));
	put_eh_fde(&image.eh, cie, 0x1000, 0x20, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, cie, 0x1008, 0x08, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1010, 0x40, NULL, 0); /* the first entry in the file applies */
	check_frame_rows(&image, "1000-1020 r7+16 = c-8;1020-1050 r7+24 = c-8;");
}
END_TEST

START_TEST(outside_the_code)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1000, 0, NULL, 0);
	put_eh_fde(&image.eh, cie, 0xfff, 0x100, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x2000, 0x100, NULL, 0);
	put_eh_fde(&image.eh, cie, IMAGE_FRAMES, 0x100, NULL, 0);
	put_eh_fde(&image.eh, cie, 0, 0x100, NULL, 0);
	put_eh_fde(&image.eh, cie + 4, 0x1100, 0x100, NULL, 0); /* no CIE there */
	put_eh_fde(&image.eh, cie - 400, 0x1100, 0x100, NULL, 0);
	check_frame_rows(&image, "");
	put_eh_fde(&image.eh, cie, 0x1ff0, 0x7fffffff, NULL, 0);
	check_frame_rows(&image, "1ff0-2000 r7+8 = c-8;");
}
END_TEST

START_TEST(debug_frame_fills)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_debug_cie(&image.debug);
	put_debug_fde(&image.debug, cie, 0x1000, 0x40);
	put_debug_fde(&image.debug, cie, 0x1100, 0x10);
	put_debug_fde(&image.debug, cie, 0, 0x10);
	check_frame_rows(&image, "1000-1040 r7+64 = c-8;1100-1110 r7+64 = c-8;");
	cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1020, 0x10, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1100, 0x8, NULL, 0);
	check_frame_rows(&image, "1000-1020 r7+64 = c-8;1020-1030 r7+8 = c-8;1100-1108 r7+8 = c-8;"
	                         "1108-1110 r7+64 = c-8;");
}
END_TEST

START_TEST(what_go_leaves_out)
{
	static const uint8_t grows[] = {
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 15,
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 64,
		DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 8,
	};
	/* A function that describes the frame pointer, and one with an expression as its CFA. */
	static const uint8_t says[] = {DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 3};
	static const uint8_t none[] = {DW_CFA_def_cfa_expression, 1, DW_OP_nop};
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_debug_cie(&image.debug);
	put_debug_fde_of(&image.debug, cie, 0x1000, 0x10, grows, sizeof(grows));
	put_debug_fde_of(&image.debug, cie, 0x1100, 0x10, says, sizeof(says));
	put_debug_fde_of(&image.debug, cie, 0x1200, 0x10, none, sizeof(none));
	check_frame_rows(&image, "1000-1001 r7+8 = c-8;1001-1002 r7+15 = c-8;1002-1006 r7+16 = c-8;"
	                         "1006-100a r7+64 = c-8;100a-1010 r7+8 = c-8;"
	                         "1100-1110 r7+32 c-24 c-8;1200-1210 ? = c-8;");
	image.of_go = true;
	check_frame_rows(
		&image, "1000-1001 r7+8 = c-8 C;1001-1002 r7+15 = c-8 C;1002-1006 r7+16 c-16 c-8 C;"
			"1006-100a r7+64 c-16 c-8 C;100a-1010 r7+8 = c-8 C;"
			"1100-1110 r7+32 c-24 c-8 C;1200-1210 ? = c-8 C;");
}
END_TEST

/* C code for cgo, which a C compiler has described. */
START_TEST(c_code_among_go)
{
	struct frame_image image;

	frame_image_init(&image);
	image.of_go = true;
	size_t cie = put_eh_cie(&image.eh, "zR"), go = put_debug_cie(&image.debug);
	put_eh_fde(&image.eh, cie, 0x1000, 0x10, NULL, 0);
	put_debug_fde_of(&image.debug, go, 0x1010, 0x10, NULL, 0); /* the same rule, but chained */
	put_eh_fde(&image.eh, cie, 0x1020, 0x10, to_24, sizeof(to_24));
	put_debug_fde(&image.debug, go, 0x1028, 0x10);
	check_frame_rows(&image, "1000-1010 r7+8 = c-8;1010-1020 r7+8 = c-8 C;"
	                         "1020-1030 r7+24 = c-8;1030-1038 r7+64 c-16 c-8 C;");
	/* On arm64 no rows are chained. */
	image.header.e_machine = EM_AARCH64;
	frame_image_seal(&image);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct frame_text text = {.count = 0};
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &elf), 0);
	ck_assert_int_eq(ehframe_each_row(elf, frame_text_row, &text), 0);
	ck_assert_ptr_null(strstr(text.text, " C;"));
}
END_TEST

START_TEST(without_section_headers)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1020, 0x10, NULL, 0);
	put_u32(&image.eh, 0);
	/* Entries after the terminator are not read. */
	put_eh_fde(&image.eh, cie, 0x1080, 0x10, NULL, 0);
	image.header.e_shoff = 0;
	image.header.e_shnum = 0;
	image.header.e_shstrndx = 0;
	check_frame_rows(&image, "1020-1030 r7+8 = c-8;");
}
END_TEST

START_TEST(nothing_to_say)
{
	struct frame_image image;
	struct frame_text text;

	frame_image_init(&image);
	check_frame_rows(&image, "");
	put_eh_cie(&image.eh, "zR");
	check_frame_rows(&image, "");
	put_u32(&image.eh, 0);
	check_frame_rows(&image, "");
	/* Code of another machine. */
	frame_image_init(&image);
	put_eh_fde(&image.eh, put_eh_cie(&image.eh, "zR"), 0x1000, 0x10, NULL, 0);
	image.header.e_machine = EM_RISCV;
	check_frame_rows(&image, "");
	/* The first entry is broken. */
	frame_image_init(&image);
	put_u32(&image.eh, 0x10000);
	ck_assert_int_eq(frame_image_rows(&image, &text), -EBADMSG);
	frame_image_init(&image);
	put_u32(&image.eh, UINT32_MAX);
	put_u64(&image.eh, UINT64_MAX - 8);
	ck_assert_int_eq(frame_image_rows(&image, &text), -EBADMSG);
	/* A later entry is broken. */
	frame_image_init(&image);
	put_eh_fde(&image.eh, put_eh_cie(&image.eh, "zR"), 0x1000, 0x10, NULL, 0);
	put_u32(&image.eh, 0x10000);
	check_frame_rows(&image, "1000-1010 r7+8 = c-8;");
}
END_TEST

struct order {
	uint64_t covered;
	size_t count;
};

static int check_order(const struct frame_row *row, void *ctx)
{
	struct order *order = ctx;

	ASSERT_OFTEN(order->covered <= row->start);
	ASSERT_OFTEN(row->start < row->end);
	order->covered = row->end;
	order->count++;
	return 0;
}

START_TEST(any_byte_and_any_length)
{
	struct frame_image image, damaged;
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1000, 0x20, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, cie, 0x1010, 0x40, to_24, sizeof(to_24));
	put_debug_fde(&image.debug, put_debug_cie(&image.debug), 0x1000, 0x80);
	frame_image_seal(&image);
	for (size_t at = 0; at < sizeof(image); at++) {
		_cleanup_(elf_freep) struct elf *elf = NULL;
		struct order order = {0};

		damaged = image;
		((uint8_t *)&damaged)[at] = values[(at + (size_t)_i) % sizeof(values)];
		size_t len = sizeof(image) - (_i ? 0 : at);
		if (elf_open_bytes(&damaged, len, &elf) == 0)
			ehframe_each_row(elf, check_order, &order);
	}
}
END_TEST

struct search {
	uint64_t address;
	struct frame_row found;
};

static int find_row(const struct frame_row *row, void *ctx)
{
	struct search *search = ctx;

	if (search->address < row->start || search->address >= row->end)
		return 0;
	search->found = *row;
	return 7;
}

extern const char __ehdr_start;

START_TEST(this_program)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct order order = {0};
	struct search search = {.address =
	                                (uint64_t)((const char *)this_program_fn - &__ehdr_start)};
	size_t count;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	/* The addresses of a program that is not position-independent do not begin at 0. */
	search.address += elf_segments(elf, &count)[0].address;
	ck_assert_int_eq(ehframe_each_row(elf, check_order, &order), 0);
	ck_assert_uint_gt(order.count, 1000);
	ck_assert_int_eq(ehframe_each_row(elf, find_row, &search), 7);
	/* At the beginning of a function the return address is on top of the stack. */
	ck_assert_uint_le(search.found.start, search.address);
	ck_assert_int_eq(search.found.cfa.kind, CFA_REGISTER);
	if (elf_machine(elf) == EM_X86_64) {
		ck_assert_int_eq(search.found.cfa.reg, 7);
		ck_assert_int_eq(search.found.cfa.offset, 8);
		ck_assert_int_eq(search.found.ra.kind, SAVE_AT_CFA);
		ck_assert_int_eq(search.found.ra.offset, -8);
	}
}
END_TEST

Suite *ehframe_suite(void)
{
	Suite *suite = suite_create("ehframe");
	TCase *tcase = tcase_create("ehframe");

	tcase_add_test(tcase, sorted_and_merged);
	tcase_add_test(tcase, overlaps);
	tcase_add_test(tcase, outside_the_code);
	tcase_add_test(tcase, debug_frame_fills);
	tcase_add_test(tcase, what_go_leaves_out);
	tcase_add_test(tcase, c_code_among_go);
	tcase_add_test(tcase, without_section_headers);
	tcase_add_test(tcase, nothing_to_say);
	tcase_add_loop_test(tcase, any_byte_and_any_length, 0, 5);
	tcase_add_test(tcase, this_program);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
