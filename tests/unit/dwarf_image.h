/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An ELF file with DIEs written one by one, for DIEs that compilers do not generate. DWARF 4,
 * addresses of 8 bytes; the code is at CODE_START.
 */
#pragma once

#include "base/buf.h"

enum { CODE_START = 0x10000, CODE_BYTES = 0x10000 };

struct dwarf_image {
	struct buf info;
	size_t unit; /* offset of the last unit */
};

void dwarf_image_release(struct dwarf_image *image);

/* Each of these begins a DIE with children, which image_end() ends. */
void image_unit(struct dwarf_image *image, uint64_t start, uint64_t len); /* 0, 0: no ranges */
void image_function(struct dwarf_image *image, const char *name, uint64_t start, uint64_t len,
                    uint32_t line);
void image_inlined(struct dwarf_image *image, const char *name, uint64_t start, uint64_t len,
                   uint32_t call_line);
void image_block(struct dwarf_image *image);
void image_class(struct dwarf_image *image, const char *name);
void image_namespace(struct dwarf_image *image, const char *name);
/* A block that gives this offset in the unit as its sibling's. */
void image_sibling(struct dwarf_image *image, uint32_t offset);
size_t image_offset(const struct dwarf_image *image); /* in the unit, of the next DIE */
void image_end(struct dwarf_image *image);
void image_unit_end(struct dwarf_image *image);

/* Returns a descriptor of the whole file. */
int dwarf_image_fd(const struct dwarf_image *image);
