/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Entries of call frame information in all their forms: augmentations, pointer encodings, 64-bit
 * lengths, and a broken entry among correct ones.
 */
#include "elf/dwarf.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/suites.h"

#include <string.h>

START_TEST(forms_of_common_entries)
{
	struct frame_image image;
	size_t entry;

	/* Without an augmentation, addresses are absolute. */
	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "");
	entry = begin_entry(&image.eh);
	put_u32(&image.eh, (uint32_t)(image.eh.len - cie));
	put_u64(&image.eh, 0x1000);
	put_u64(&image.eh, 0x10);
	end_entry(&image.eh, entry);
	/* An unknown letter without z: nothing after the augmentation can be found. */
	cie = put_eh_cie(&image.eh, "armcc+");
	put_eh_fde(&image.eh, cie, 0x1100, 0x10, NULL, 0);
	/* An unknown letter after z is skipped by its length. */
	cie = put_eh_cie(&image.eh, "zRx");
	put_eh_fde(&image.eh, cie, 0x1200, 0x10, NULL, 0);
	/* A personality, an LSDA encoding and a B. */
	cie = begin_entry(&image.eh);
	const uint8_t plus[] = {0,
	                        0,
	                        0,
	                        0,
	                        1,
	                        'z',
	                        'P',
	                        'L',
	                        'R',
	                        'B',
	                        0,
	                        1,
	                        0x78,
	                        16,
	                        7,
	                        0x9b,
	                        1,
	                        2,
	                        3,
	                        4,
	                        0x1b,
	                        0x1b,
	                        DW_CFA_def_cfa,
	                        7,
	                        40};
	put_bytes(&image.eh, plus, sizeof(plus));
	end_entry(&image.eh, cie);
	put_eh_fde(&image.eh, cie, 0x1300, 0x10, NULL, 0);
	/* The form of GCC 2. */
	cie = begin_entry(&image.eh);
	const uint8_t old[] = {0, 0, 0, 0, 1, 'e', 'h', 0,    9,  9,
	                       9, 9, 9, 9, 9, 9,   1,   0x78, 16, DW_CFA_def_cfa,
	                       7, 48};
	put_bytes(&image.eh, old, sizeof(old));
	end_entry(&image.eh, cie);
	entry = begin_entry(&image.eh);
	put_u32(&image.eh, (uint32_t)(image.eh.len - cie));
	put_u64(&image.eh, 0x1400);
	put_u64(&image.eh, 0x10);
	end_entry(&image.eh, entry);
	check_frame_rows(&image, "1000-1010 r7+8 = c-8;1200-1210 r7+8 = c-8;1300-1310 r7+40 = =;"
	                         "1400-1410 r7+48 = =;");
}
END_TEST

START_TEST(pointer_encodings)
{
	static const struct {
		uint8_t encoding;
		uint8_t bytes[16];
		size_t len;
		bool known;
	} cases[] = {
		{DW_EH_PE_udata2, {0, 0x10, 0x10, 0}, 4, true},
		{DW_EH_PE_sdata2, {0, 0x10, 0x10, 0}, 4, true},
		{DW_EH_PE_udata4, {0, 0x10, 0, 0, 0x10}, 8, true},
		{DW_EH_PE_udata8, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x10}, 16, true},
		{DW_EH_PE_sdata8, {0, 0x10, 0, 0, 0, 0, 0, 0, 0x10}, 16, true},
		{DW_EH_PE_uleb128, {0x80, 0x20, 0x10}, 3, true},
		{DW_EH_PE_sleb128, {0x80, 0x20, 0x10}, 3, true},
		{DW_EH_PE_datarel | DW_EH_PE_udata4, {0, 0x10, 0, 0, 0x10}, 8, false},
		{DW_EH_PE_indirect | DW_EH_PE_udata4, {0, 0x10, 0, 0, 0x10}, 8, false},
		{DW_EH_PE_aligned, {0, 0x10, 0, 0, 0x10}, 8, false},
		{DW_EH_PE_omit, {0, 0x10, 0, 0, 0x10}, 8, false},
		{0x07, {0, 0x10, 0, 0, 0x10}, 8, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_image image;

		frame_image_init(&image);
		size_t cie = put_eh_cie(&image.eh, "zR");
		image.eh.bytes[cie + 16] = cases[i].encoding;
		size_t entry = begin_entry(&image.eh);
		put_u32(&image.eh, (uint32_t)(image.eh.len - cie));
		put_bytes(&image.eh, cases[i].bytes, cases[i].len);
		put_u8(&image.eh, 0);
		end_entry(&image.eh, entry);
		check_frame_rows(&image, cases[i].known ? "1000-1010 r7+8 = c-8;" : "");
	}
}
END_TEST

START_TEST(long_form)
{
	struct frame_image image;

	/* In .eh_frame identifiers stay short; in .debug_frame they do not. */
	frame_image_init(&image);
	const uint8_t cie[] = {0, 0, 0, 0, 1, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 8};
	put_u32(&image.eh, UINT32_MAX);
	put_u64(&image.eh, sizeof(cie));
	put_bytes(&image.eh, cie, sizeof(cie));
	put_u32(&image.eh, UINT32_MAX);
	put_u64(&image.eh, 20);
	put_u32(&image.eh, (uint32_t)image.eh.len);
	put_u64(&image.eh, 0x1000);
	put_u64(&image.eh, 0x10);
	const uint8_t debug_cie[] = {3, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 16};
	put_u32(&image.debug, UINT32_MAX);
	put_u64(&image.debug, 8 + sizeof(debug_cie));
	put_u64(&image.debug, UINT64_MAX);
	put_bytes(&image.debug, debug_cie, sizeof(debug_cie));
	put_u32(&image.debug, UINT32_MAX);
	put_u64(&image.debug, 24);
	put_u64(&image.debug, 0);
	put_u64(&image.debug, 0x1100);
	put_u64(&image.debug, 0x10);
	check_frame_rows(&image, "1000-1010 r7+8 = =;1100-1110 r7+16 = =;");
}
END_TEST

START_TEST(one_bad_entry)
{
	struct frame_image image;
	const uint8_t bad[] = {DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 4, 0x17};

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1000, 0x10, bad, sizeof(bad));
	put_eh_fde(&image.eh, cie, 0x1010, 0x10, NULL, 0);
	check_frame_rows(&image, "1000-1004 r7+16 = c-8;1010-1020 r7+8 = c-8;");
	/* An entry that is too short for its contents. */
	size_t entry = begin_entry(&image.eh);
	put_u8(&image.eh, 1);
	end_entry(&image.eh, entry);
	put_eh_fde(&image.eh, cie, 0x1020, 0x10, NULL, 0);
	check_frame_rows(&image, "1000-1004 r7+16 = c-8;1010-1030 r7+8 = c-8;");
}
END_TEST

Suite *frame_section_suite(void)
{
	Suite *suite = suite_create("frame_section");
	TCase *tcase = tcase_create("frame_section");

	tcase_add_test(tcase, forms_of_common_entries);
	tcase_add_test(tcase, pointer_encodings);
	tcase_add_test(tcase, long_form);
	tcase_add_test(tcase, one_bad_entry);
	suite_add_tcase(suite, tcase);
	return suite;
}
