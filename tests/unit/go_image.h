/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A generated pclntab of two functions, in any version, and the file around it. main.main is at the
 * beginning of the code. main.inlined is inlined into it, and main.deeper into main.inlined. The 64
 * bytes of main.main are:
 *
 *  0x00 main.main a.go:10
 *  0x10 main.inlined a.go:50, called at a.go:10
 *  0x18 main.deeper b.go:90, called at a.go:50
 *  0x20 main.main a.go:11
 *
 * main.other follows, 64 bytes at b.go:7.
 */
#pragma once

#include "tests/unit/section_image.h"

enum {
	GO_TEXT = 0x10000,
	GO_TABLE = 0x20000,
	GO_DATA = 0x30000, /* moduledata */
	GO_CALLS = 0x40000,
};

#define GO_116 0xfffffffau
#define GO_118 0xfffffff0u
#define GO_120 0xfffffff1u

struct go_image {
	/* To be set before go_image_make(). */
	uint32_t magic;
	uint64_t text_start; /* in the header */
	bool relocated;      /* relocations fill in moduledata */
	const char *table_section, *module_section;
	size_t before; /* bytes before the table in its section */

	uint64_t table_offsets[5]; /* of names, units, files, values, functions */
	struct buf table, calls;
	struct section_image file;
};

/* The format of Go 1.26: the table in a section of its own, no text_start in its header, fixed
 * addresses. */
void go_image_init(struct go_image *image);
void go_image_release(struct go_image *image);
/* Fills in `table` and `calls`. */
void go_image_make(struct go_image *image);
/* Builds the file around the current contents of `table` and `calls`. */
struct elf *go_image_open(struct go_image *image);
