/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small, correct ELF file as a struct. A test damages it by assigning to a field.
 */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_SYMBOLS = 6 };

struct elf_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3]; /* read-only, executable, note */
	struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[20];
	} note;
	Elf64_Sym symbols[IMAGE_SYMBOLS];
	char names[64];
	Elf64_Shdr sections[3]; /* null, symbols, names */
};

/* The image has the functions plain [0x401000, +0x40), _ZN3foo3barEi [0x401040, +0x20) and local
 * [0x401100, +0x10). File offset 0x1000 is mapped at 0x401000. The build ID's bytes are seed, seed
 * + 1, ... */
void elf_image_init(struct elf_image *image, uint8_t seed);
/* A descriptor of an unnamed file with these bytes. */
int elf_image_fd(const void *bytes, size_t len);
