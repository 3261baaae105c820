/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small ELF file built section by section. A section that is loaded is also a segment.
 */
#pragma once

#include "base/buf.h"
#include "elf/elf.h"

#include <elf.h>

enum { SECTION_IMAGE_MOST = 16 };

struct section_image {
	uint16_t machine; /* x86-64 unless changed */
	struct buf out;
	struct buf names;
	Elf64_Shdr sections[SECTION_IMAGE_MOST];
	size_t section_count;
	Elf64_Phdr segments[SECTION_IMAGE_MOST];
	size_t segment_count;
};

void section_image_init(struct section_image *image);
void section_image_release(struct section_image *image);
/* The section is loaded at `address` if that is not 0. It is executable if its name is .text or
 * .plt. */
void section_image_add(struct section_image *image, const char *name, uint64_t address,
                       const void *bytes, size_t len);
/* Adds the headers; after that `out` holds the file. */
void section_image_seal(struct section_image *image);
/* Seals and opens the image, which must outlive the elf. */
struct elf *section_image_open(struct section_image *image);
