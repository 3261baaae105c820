/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names for the stubs of a procedure linkage table, in the forms in which linkers write them, and
 * as part of a file's symbols.
 */
#include "elf/elf_symtab.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

enum { PLT = 0x1000, SEC = 0x2000, PLT_GOT = 0x3000, GOT = 0x5000, SLOTS = 4 };

static const char names[] = "\0puts\0free\0qsort";

struct plt_image {
	Elf64_Sym symbols[SLOTS];
	Elf64_Rela jump_slots[3], others[2];
	uint8_t plt[48], sec[32], got[16];
};

/* Puts jmp *slot(%rip), preceded by the bytes in `before`. */
static void put_jump(uint8_t *code, const char *before, size_t before_len, uint64_t address,
                     uint64_t slot)
{
	uint8_t *jump = code + before_len;
	int32_t distance = (int32_t)(slot - (address + before_len + 6));

	memcpy(code, before, before_len);
	memcpy(jump, "\xff\x25", 2);
	memcpy(jump + 2, &distance, sizeof(distance));
}

/* Slot 0 is puts, 1 is free, 2 is qsort, 3 has no name. */
static void init_plt(struct plt_image *image)
{
	static const uint32_t offsets[SLOTS] = {0, 1, 6, 11};

	*image = (struct plt_image){0};
	for (size_t i = 0; i < SLOTS; i++)
		image->symbols[i].st_name = offsets[i];
	for (size_t i = 0; i < 2; i++)
		image->jump_slots[i] = (Elf64_Rela){
			.r_offset = GOT + 8 * i,
			.r_info = ELF64_R_INFO(i + 1, R_X86_64_JUMP_SLOT),
		};
	image->jump_slots[2] =
		(Elf64_Rela){.r_offset = GOT + 24, .r_info = ELF64_R_INFO(999, R_X86_64_JUMP_SLOT)};
	image->others[0] =
		(Elf64_Rela){.r_offset = GOT + 16, .r_info = ELF64_R_INFO(3, R_X86_64_GLOB_DAT)};
	image->others[1] = (Elf64_Rela){.r_offset = GOT, .r_info = R_X86_64_RELATIVE};
	/* The first stub of a lazy table pushes and jumps to the loader. */
	put_jump(image->plt, "\xff\x35\1\2\3\4", 6, PLT, GOT - 8);
	put_jump(image->plt + 16, "", 0, PLT + 16, GOT + 8);
	put_jump(image->plt + 32, "", 0, PLT + 32, GOT + 24);
	put_jump(image->sec, "\xf3\x0f\x1e\xfa\xf2", 5, SEC, GOT);
	put_jump(image->sec + 16, "\xf3\x0f\x1e\xfa", 4, SEC + 16, 0x123456);
	put_jump(image->got, "", 0, PLT_GOT, GOT + 16);
	put_jump(image->got + 8, "", 0, PLT_GOT + 8, GOT + 8);
}

static void add_sections(struct section_image *file, const struct plt_image *image)
{
	section_image_add(file, ".dynsym", 0, image->symbols, sizeof(image->symbols));
	section_image_add(file, ".dynstr", 0, names, sizeof(names));
	section_image_add(file, ".rela.plt", 0, image->jump_slots, sizeof(image->jump_slots));
	section_image_add(file, ".rela.dyn", 0, image->others, sizeof(image->others));
	section_image_add(file, ".plt", PLT, image->plt, sizeof(image->plt));
	section_image_add(file, ".plt.sec", SEC, image->sec, sizeof(image->sec));
	section_image_add(file, ".plt.got", PLT_GOT, image->got, sizeof(image->got));
}

static int add_text(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	ck_assert(!global);
	buf_printf(ctx, "%lx+%lx %s\n", address, size, name);
	return 0;
}

static void check_stubs(struct section_image *file, const char *wanted)
{
	_cleanup_(buf_release) struct buf text = {0};
	_cleanup_(elf_freep) struct elf *elf = section_image_open(file);

	ck_assert_int_eq(elf_each_stub(elf, add_text, &text), 0);
	ck_assert_str_eq(buf_text(&text), wanted);
}

START_TEST(x86)
{
	_cleanup_(section_image_release) struct section_image file;
	struct plt_image image;

	init_plt(&image);
	section_image_init(&file);
	add_sections(&file, &image);
	check_stubs(&file, "1010+10 free@plt\n"
	                   "2000+10 puts@plt\n"
	                   "3000+8 qsort@plt\n"
	                   "3008+8 free@plt\n");
}
END_TEST

START_TEST(arm64)
{
	/* The header; adrp x16, +4 pages; ldr x17, [x16, #8]; add; br x17; with bti c, -1 page. */
	static const uint32_t plt[] = {
		0xa9bf7bf0, 0x90000030, 0xf9400611, 0x91002210, 0xd61f0220, 0xd503201f,
		0x90000030, 0xf9400611, 0x91002210, 0xd61f0220, 0xd503245f, 0xf0fffff0,
		0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f,
	};
	static const Elf64_Rela slots[] = {
		{.r_offset = 0x5008, .r_info = ELF64_R_INFO(1, R_AARCH64_JUMP_SLOT)},
		{.r_offset = 0, .r_info = ELF64_R_INFO(2, R_AARCH64_JUMP_SLOT)},
	};
	_cleanup_(section_image_release) struct section_image file;
	struct plt_image image;

	init_plt(&image);
	section_image_init(&file);
	file.machine = EM_AARCH64;
	section_image_add(&file, ".dynsym", 0, image.symbols, sizeof(image.symbols));
	section_image_add(&file, ".dynstr", 0, names, sizeof(names));
	section_image_add(&file, ".rela.plt", 0, slots, sizeof(slots));
	section_image_add(&file, ".plt", PLT, plt, sizeof(plt));
	/* The header also loads a slot; here that slot has a name. */
	check_stubs(&file, "1004+10 puts@plt\n"
	                   "1018+10 puts@plt\n"
	                   "1028+18 free@plt\n");
}
END_TEST

START_TEST(with_the_symbols)
{
	_cleanup_(section_image_release) struct section_image file;
	static const uint64_t addresses[] = {SEC + 15, SEC + 16};
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	struct plt_image image;
	struct symbol symbol;

	init_plt(&image);
	section_image_init(&file);
	add_sections(&file, &image);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&file);
	const struct elf *const files[] = {elf};
	ck_assert_int_eq(elf_symtab_at(files, 1, addresses, 2, &symtab), 0);
	ck_assert(symtab_find(symtab, SEC + 15, &symbol));
	ck_assert_str_eq(symbol.name, "puts@plt");
	ck_assert(symbol.sized);
	ck_assert(!symtab_find(symtab, SEC + 16, &symbol));
}
END_TEST

START_TEST(damaged)
{
	struct plt_image image;
	struct {
		void *bytes;
		size_t len;
	} parts[] = {
		{image.symbols, sizeof(image.symbols)},
		{image.jump_slots, sizeof(image.jump_slots)},
		{image.plt, sizeof(image.plt)},
		{image.got, sizeof(image.got)},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		for (size_t at = 0; at < parts[i].len; at++) {
			_cleanup_(section_image_release) struct section_image file;
			_cleanup_(buf_release) struct buf text = {0};

			init_plt(&image);
			((uint8_t *)parts[i].bytes)[at] ^= 0xff;
			section_image_init(&file);
			add_sections(&file, &image);
			_cleanup_(elf_freep) struct elf *elf = section_image_open(&file);
			ck_assert_int_eq(elf_each_stub(elf, add_text, &text), 0);
		}
	}
}
END_TEST

/* A section is empty, or only its first bytes exist. */
START_TEST(cut)
{
	static const char *const sections[] = {".dynsym", ".dynstr", ".rela.plt", ".plt"};
	struct plt_image image;

	init_plt(&image);
	for (size_t missing = 0; missing < 4; missing++) {
		for (size_t len = 0; len < 8; len++) {
			_cleanup_(section_image_release) struct section_image file;

			section_image_init(&file);
			for (size_t i = 0; i < 4; i++)
				section_image_add(&file, sections[i], i == 3 ? PLT : 0,
				                  image.symbols,
				                  i == missing ? len : sizeof(image.symbols));
			check_stubs(&file, "");
		}
	}
}
END_TEST

Suite *elf_plt_suite(void)
{
	Suite *suite = suite_create("elf_plt");
	TCase *tcase = tcase_create("elf_plt");

	tcase_add_test(tcase, x86);
	tcase_add_test(tcase, arm64);
	tcase_add_test(tcase, with_the_symbols);
	tcase_add_test(tcase, damaged);
	tcase_add_test(tcase, cut);
	suite_add_tcase(suite, tcase);
	return suite;
}
