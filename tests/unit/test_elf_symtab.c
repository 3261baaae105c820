/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * elf_symtab_at(): for the requested addresses it finds the same symbols as a table of all symbols,
 * although it leaves out others.
 */
#include "elf/elf_symtab.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 80, SPACE = 400, PER_FILE = MANY / 2 };

static uint32_t draw(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* A third of the symbols have no size, and some cover many others. Names are "aa", "ab" and so
 * on. */
static void draw_symbols(Elf64_Sym *symbols, char *names, uint32_t *random)
{
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t size = draw(random) % 3 ? 1 + draw(random) % 40 : 0;

		symbols[i] = (Elf64_Sym){
			.st_name = 1 + 3 * i,
			.st_info =
				ELF64_ST_INFO(draw(random) % 2 ? STB_GLOBAL : STB_LOCAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = draw(random) % SPACE,
			.st_size = size,
		};
		snprintf(names + 1 + 3 * i, 3, "%c%c", 'a' + i / 26, 'a' + i % 26);
	}
}

static struct elf *make_file(struct section_image *file, const Elf64_Sym *symbols,
                             const char *names)
{
	section_image_init(file);
	Elf64_Shdr *sections = &file->sections[file->section_count];
	section_image_add(file, ".symtab", 0, symbols, PER_FILE * sizeof(*symbols));
	section_image_add(file, ".strtab", 0, names, 2 + 3 * MANY);
	sections[0].sh_type = SHT_SYMTAB;
	sections[0].sh_link = (uint32_t)file->section_count - 1;
	sections[0].sh_entsize = sizeof(Elf64_Sym);
	sections[1].sh_type = SHT_STRTAB;
	return section_image_open(file);
}

static struct symtab *all_symbols(const Elf64_Sym *symbols, const char *names)
{
	struct symtab *symtab = symtab_new();

	for (size_t i = 0; i < MANY; i++)
		ck_assert_int_eq(symtab_add(symtab, names + symbols[i].st_name, symbols[i].st_value,
		                            symbols[i].st_size,
		                            ELF64_ST_BIND(symbols[i].st_info) == STB_GLOBAL, NULL),
		                 0);
	ck_assert_int_eq(symtab_seal(symtab), 0);
	return symtab;
}

static void check_same(const struct symtab *some, const struct symtab *all, uint64_t address)
{
	struct symbol found = {0}, wanted = {0};

	ck_assert_int_eq(symtab_find(some, address, &found), symtab_find(all, address, &wanted));
	ck_assert_uint_eq(found.address, wanted.address);
	ck_assert_uint_eq(found.size, wanted.size);
	ck_assert_int_eq(found.sized, wanted.sized);
	ck_assert_str_eq(found.name ? found.name : "-", wanted.name ? wanted.name : "-");
}

START_TEST(as_of_all)
{
	uint32_t random = (uint32_t)_i * 7919 + 1;
	char names[2 + 3 * MANY] = {0};
	Elf64_Sym symbols[MANY];
	_cleanup_(section_image_release) struct section_image one, other;
	uint64_t addresses[SPACE];
	size_t count = 0, one_in = 1 + (size_t)_i % 40;

	draw_symbols(symbols, names, &random);
	_cleanup_(elf_freep) struct elf *first = make_file(&one, symbols, names);
	_cleanup_(elf_freep) struct elf *second = make_file(&other, symbols + PER_FILE, names);
	const struct elf *const files[] = {first, NULL, second};
	_cleanup_(symtab_freep) struct symtab *all = all_symbols(symbols, names);
	_cleanup_(symtab_freep) struct symtab *some = NULL;

	for (uint64_t address = 0; address < SPACE; address++)
		if (draw(&random) % one_in == 0)
			addresses[count++] = address;
	ck_assert_int_eq(elf_symtab_at(files, 3, addresses, count, &some), 0);
	for (size_t i = 0; i < count; i++)
		check_same(some, all, addresses[i]);
}
END_TEST

/* From a file with many symbols, only those next to an address and those that cover it are kept. */
START_TEST(few_of_many)
{
	static Elf64_Sym symbols[PER_FILE];
	_cleanup_(section_image_release) struct section_image file;
	_cleanup_(symtab_freep) struct symtab *some = NULL, *none = NULL;
	const uint64_t addresses[] = {105, 105, 201};
	char names[2 + 3 * MANY] = "\0f";
	struct symbol symbol;

	for (size_t i = 0; i < PER_FILE; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1,
		                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		                         .st_shndx = 1,
		                         .st_value = 10 * i,
		                         .st_size = 10};
	_cleanup_(elf_freep) struct elf *elf = make_file(&file, symbols, names);
	const struct elf *const files[] = {elf};

	ck_assert_int_eq(elf_symtab_at(files, 1, addresses, 3, &some), 0);
	ck_assert_uint_eq(symtab_count(some), 4); /* two symbols, and the one after each */
	ck_assert(symtab_find(some, 105, &symbol));
	ck_assert_uint_eq(symbol.address, 100);
	ck_assert_int_eq(elf_symtab_at(files, 1, NULL, 0, &none), 0);
	ck_assert_uint_eq(symtab_count(none), 0);
}
END_TEST

/* Of this program. */
static char variable[64];

static uint64_t own_address(const void *address)
{
	extern const char __executable_start;
	uint64_t begin = (uintptr_t)&__executable_start, at = (uintptr_t)address;

	/* A position-independent program begins at its own address 0. */
	return begin < 1 << 24 ? at : at - begin;
}

START_TEST(functions_of_code_and_variables_of_data)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(symtab_freep) struct symtab *both = NULL, *only = NULL;
	uint64_t addresses[] = {own_address((const void *)(uintptr_t)draw) + 1,
	                        own_address(variable + 40)};
	struct symbol symbol;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(elf_symtab_at(&(const struct elf *){elf}, 1, addresses, 2, &both), 0);
	ck_assert(symtab_find(both, addresses[0], &symbol));
	ck_assert_uint_eq(symbol.address, addresses[0] - 1);
	ck_assert(symtab_find(both, addresses[1], &symbol));
	ck_assert_uint_eq(symbol.address, addresses[1] - 40);
	ck_assert_uint_eq(symbol.size, sizeof(variable));
	ck_assert_int_eq(elf_symtab_at(&(const struct elf *){elf}, 1, addresses + 1, 1, &only), 0);
	ck_assert(symtab_find(only, addresses[1], &symbol));
	ck_assert_str_eq(symbol.name, "variable");
	ck_assert(!symtab_find(only, addresses[0], &symbol));
}
END_TEST

Suite *elf_symtab_suite(void)
{
	Suite *suite = suite_create("elf_symtab");
	TCase *tcase = tcase_create("elf_symtab");

	tcase_add_loop_test(tcase, as_of_all, 0, 200);
	tcase_add_test(tcase, few_of_many);
	tcase_add_test(tcase, functions_of_code_and_variables_of_data);
	suite_add_tcase(suite, tcase);
	return suite;
}
