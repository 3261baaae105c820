/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables of whole files: of this program, and of small files with a function to which another
 * function may be made to return.
 */
#include "unwind/table.h"

#include "elf/dwarf.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/rows.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>

#define STOP OP_OF_NAME(OP_STOP)

START_TEST(of_this_program)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(table_freep) struct table *table = NULL;
	struct elf_image image;
	size_t count;
	uint64_t own = 0;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(table_build(elf, true, 1 << 24, &table), 0);
	ck_assert_uint_gt(table->row_count, 1000);
	ck_assert_uint_ge(table->word_count, table->blocks + table->row_count);
	/* At a function's first byte only the return address is on the stack. */
	const struct segment *segments = elf_segments(elf, &count);
	for (size_t i = 0; i < count; i++)
		own = segments[i].offset == 0 ? segments[i].address : own;
	extern const char __executable_start[];
	own += (uint64_t)(uintptr_t)table_find - (uint64_t)(uintptr_t)__executable_start;
	if (elf_machine(elf) == 62)
		ck_assert_uint_eq(table_find(table, own), PLAIN(1));
	ck_assert_int_eq(table_build(elf, true, 100, &table), -E2BIG);

	_cleanup_(elf_freep) struct elf *bare = NULL;
	_cleanup_(table_freep) struct table *none = NULL;
	elf_image_init(&image, 1);
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &bare), 0);
	int err = table_build(bare, true, 1 << 20, &none);
	ck_assert(err == 0 || err == -ENODATA);
}
END_TEST

static const uint8_t to_16[] = {DW_CFA_def_cfa_offset, 16};
static const uint8_t to_16_later[] = {DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16};
static const uint8_t saves_fp[] = {DW_CFA_offset | X86_REG_FP, 2};

static struct table *build(struct frame_image *image)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct table *table = NULL;

	frame_image_seal(image);
	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	ck_assert_int_eq(table_build(elf, false, 1 << 20, &table), 0);
	return table;
}

START_TEST(returns_to_a_first_byte)
{
	static const struct {
		uint64_t at;
		uint32_t op;
	} finds[] = {
		{0x10fe, NONE},
		{0x10ff, STOP},
		{0x1100, PLAIN(1)},
		{0x111f, PLAIN(1)},
		{0x1120, NONE},
		/* Directly after another function, whose call may be its last instruction. */
		{0x120f, PLAIN(2)},
		{0x1210, PLAIN(1)},
		/* The function makes a frame. */
		{0x12ff, NONE},
		{0x1300, PLAIN(1)},
		{0x1304, PLAIN(2)},
		/* The function makes a frame of another kind. */
		{0x137f, NONE},
		{0x1380, PLAIN(1) | 2},
		{0x13bf, NONE},
		{0x13c0, PLAIN(2)},
		/* The kernel's signal frame, and the code after it. */
		{0x13ff, NONE},
		{0x1400, OP_OF_NAME(OP_SIGNAL)},
		{0x141f, OP_OF_NAME(OP_SIGNAL)},
		{0x1420, PLAIN(1)},
		{0x147f, NONE},
		{0x1480, OP_OF_NAME(OP_SIGNAL)},
		/* After padding, which otherwise gets the row before it. */
		{0x150e, PLAIN(2)},
		{0x150f, STOP},
		{0x1510, PLAIN(1)},
		/* The last row. */
		{0x1eff, STOP},
		{0x1f00, PLAIN(1)},
		{0x1f0f, PLAIN(1)},
		{0x1f10, NONE},
	};
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR"), signal = put_eh_cie(&image.eh, "zRS");
	put_eh_fde(&image.eh, cie, 0x1100, 0x20, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1200, 0x10, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, cie, 0x1210, 0x10, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1300, 0x20, to_16_later, sizeof(to_16_later));
	put_eh_fde(&image.eh, cie, 0x1380, 0x10, saves_fp, sizeof(saves_fp));
	put_eh_fde(&image.eh, cie, 0x13c0, 0x10, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, signal, 0x1400, 0x20, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1420, 0x10, NULL, 0);
	put_eh_fde(&image.eh, signal, 0x1480, 0x20, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1500, 0x05, to_16, sizeof(to_16));
	put_eh_fde(&image.eh, cie, 0x1510, 0x10, NULL, 0);
	put_eh_fde(&image.eh, cie, 0x1f00, 0x10, NULL, 0);
	_cleanup_(table_freep) struct table *table = build(&image);
	for (size_t i = 0; i < sizeof(finds) / sizeof(*finds); i++)
		ck_assert_msg(table_find(table, finds[i].at) == finds[i].op, "%#lx is %#x",
		              (unsigned long)finds[i].at, table_find(table, finds[i].at));
}
END_TEST

/* There is no byte before the function, or none that is code. */
START_TEST(nothing_before_the_first)
{
	struct frame_image image;

	frame_image_init(&image);
	put_eh_fde(&image.eh, put_eh_cie(&image.eh, "zR"), IMAGE_TEXT, 0x10, NULL, 0);
	_cleanup_(table_freep) struct table *table = build(&image);
	ck_assert_uint_eq(table_find(table, IMAGE_TEXT), PLAIN(1));
	ck_assert_uint_eq(table_find(table, IMAGE_TEXT - 1), NONE);
}
END_TEST

START_TEST(machines)
{
	struct frame_image image;
	struct table *table = NULL;

	frame_image_init(&image);
	put_eh_fde(&image.eh, put_eh_cie(&image.eh, "zR"), 0x1100, 0x10, NULL, 0);
	frame_image_seal(&image);
	image.header.e_machine = EM_RISCV;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &elf), 0);
	ck_assert_int_eq(table_build(elf, true, 1 << 20, &table), -ENODATA);
	/* No segment is executable. */
	image.header.e_machine = EM_X86_64;
	image.segments[0].p_flags = PF_R;
	_cleanup_(elf_freep) struct elf *data = NULL;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &data), 0);
	ck_assert_int_eq(table_build(data, true, 1 << 20, &table), -ENODATA);
	ck_assert_ptr_null(table);
}
END_TEST

Suite *table_build_suite(void)
{
	Suite *suite = suite_create("table_build");
	TCase *tcase = tcase_create("table_build");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, of_this_program);
	tcase_add_test(tcase, returns_to_a_first_byte);
	tcase_add_test(tcase, nothing_before_the_first);
	tcase_add_test(tcase, machines);
	suite_add_tcase(suite, tcase);
	return suite;
}
