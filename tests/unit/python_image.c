/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Collects the names of symbols; sealing adds the symbols as the last sections.
 */
#include "tests/unit/python_image.h"

#include <check.h>
#include <string.h>

#define COOKIE 0x7970677562656478 /* "xdebugpy" */

const uint64_t python_words_313[PYTHON_WORDS_313] = {
	COOKIE, 0x30d12f0, 0,    283408, 608,  632,  194984, 7272, 7264, 7344, 7400, 7656, 7640,
	7648,   16,        7752, 0,      7768, 7760, 312,    0,    8,    16,   72,   152,  160,
	232,    32,        80,   8,      0,    56,   72,     70,   208,  112,  120,  128,  136,
	68,     52,        96,   104,    200,  16,   8,      416,  24,   88,   168,  32,   24,
	16,     40,        24,   16,     48,   32,   40,     24,   16,   32,   16,   24,   40,
	16,     32,        64,   32,     16,   40,   240,    200,
};

const uint64_t python_words_313t[PYTHON_WORDS_313] = {
	COOKIE, 0x30d12f0, 1,    328384, 608,  632,  215616, 7272, 7264, 7344, 7400, 7664, 7648,
	7656,   16,        7760, 0,      7784, 7776, 312,    0,    8,    16,   72,   152,  160,
	232,    32,        80,   8,      0,    56,   72,     70,   224,  128,  136,  144,  152,
	84,     68,        112,  120,    216,  32,   24,     432,  40,   104,  184,  48,   40,
	32,     56,        40,   32,     64,   48,   56,     40,   32,   48,   32,   40,   56,
	32,     48,        80,   48,     32,   56,   248,    200,
};

const uint64_t python_words_314[PYTHON_WORDS_314] = {
	COOKIE, 0x30e0af0, 0,    316616, 784,  808, 225864, 7280, 7272, 7344, 7360, 7408,
	7688,   7672,      7680, 16,     7784, 0,   7800,   7792, 7992, 0,    832,  0,
	8,      16,        72,   152,    160,  232, 32,     88,   8,    0,    56,   80,
	74,     64,        0,    216,    112,  120, 128,    136,  68,   52,   96,   104,
	208,    0,         16,   8,      416,  24,  88,     168,  40,   32,   16,   40,
	24,     16,        200,  24,     40,   32,  48,     32,   40,   24,   16,   32,
	16,     24,        40,   16,     32,   64,  32,     16,   40,   264,  192,  160,
	24,     72,        67,   0,      8,    24,  304,    8076, 0,    4,    512,
};

const uint64_t python_asyncio_314[PYTHON_ASYNCIO_WORDS] = {168,    136,   96,  108, 109, 128, 152,
                                                           225864, 10880, 936, 864, 872, 880};

const uint64_t python_words_314t[PYTHON_WORDS_314] = {
	COOKIE, 0x30e0af0, 1,    365624, 784,  808, 249976, 7280, 7272, 7344,  7360, 7408,
	7712,   7696,      7704, 16,     7808, 0,   7832,   7824, 8024, 17300, 832,  0,
	8,      16,        72,   152,    160,  232, 32,     88,   8,    0,     56,   80,
	78,     64,        72,   240,    128,  136, 144,    152,  84,   68,    112,  120,
	232,    224,       32,   24,     432,  40,  104,    184,  56,   48,    32,   56,
	40,     32,        216,  40,     56,   48,  64,     48,   56,   40,    32,   48,
	32,     40,        56,   32,     48,   80,  48,     32,   56,   288,   192,  176,
	40,     88,        83,   0,      8,    24,  304,    8108, 0,    4,     512,
};

void python_image_init(struct python_image *image)
{
	memset(image, 0, sizeof(*image));
	section_image_init(&image->file);
	buf_add(&image->names, "", 1);
	image->symbol_count = 1;
}

void python_image_release(struct python_image *image)
{
	section_image_release(&image->file);
	buf_release(&image->names);
}

void python_image_symbol(struct python_image *image, const char *name, int type, uint64_t address,
                         uint64_t size)
{
	ck_assert_uint_lt(image->symbol_count, PYTHON_SYMBOLS);
	image->symbols[image->symbol_count++] = (Elf64_Sym){
		.st_name = (uint32_t)image->names.len,
		.st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
	};
	buf_add(&image->names, name, strlen(name) + 1);
}

void python_image_seal(struct python_image *image)
{
	struct section_image *file = &image->file;
	Elf64_Shdr *symbols = &file->sections[file->section_count];

	section_image_add(file, ".symtab", 0, image->symbols,
	                  image->symbol_count * sizeof(*image->symbols));
	section_image_add(file, ".strtab", 0, image->names.data, image->names.len);
	symbols[0].sh_type = SHT_SYMTAB;
	symbols[0].sh_link = (uint32_t)file->section_count - 1;
	symbols[0].sh_entsize = sizeof(Elf64_Sym);
	symbols[1].sh_type = SHT_STRTAB;
	section_image_add(file, ".debug_frame", 0, image->frames.bytes, image->frames.len);
	section_image_seal(file);
}

struct elf *python_image_open(struct python_image *image)
{
	struct elf *elf = NULL;

	python_image_seal(image);
	ck_assert_int_eq(elf_open_bytes(image->file.out.data, image->file.out.len, &elf), 0);
	return elf;
}
