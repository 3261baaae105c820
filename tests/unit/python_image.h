/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small ELF file with the parts of a CPython that are searched for: its variables, its evaluation
 * loop, its texts.
 */
#pragma once

#include "tests/unit/frame_image.h"
#include "tests/unit/section_image.h"

enum {
	PYTHON_TEXT = 0x1000,  /* code */
	PYTHON_DATA = 0x20000, /* _PyRuntime and the variables after it */
	PYTHON_RODATA = 0x30000,
	PYTHON_SYMBOLS = 8,
};

struct python_image {
	struct section_image file;
	struct frame_bytes frames; /* .debug_frame */
	Elf64_Sym symbols[PYTHON_SYMBOLS];
	size_t symbol_count;
	struct buf names;
};

void python_image_init(struct python_image *image);
void python_image_release(struct python_image *image);
void python_image_symbol(struct python_image *image, const char *name, int type, uint64_t address,
                         uint64_t size);
/* Code, data and texts are sections, added with section_image_add(&image->file, ...). */
struct elf *python_image_open(struct python_image *image);
/* The same without opening; the bytes are then in image->file.out. */
void python_image_seal(struct python_image *image);

/* The tables of offsets that 3.13.18 and 3.14.10 contain, also those of free-threaded builds. */
enum { PYTHON_WORDS_313 = 73, PYTHON_WORDS_314 = 95 };
extern const uint64_t python_words_313[PYTHON_WORDS_313], python_words_313t[PYTHON_WORDS_313];
extern const uint64_t python_words_314[PYTHON_WORDS_314], python_words_314t[PYTHON_WORDS_314];
/* What the module _asyncio of Debian's 3.14.10 says of itself, and where it is put. */
enum { PYTHON_ASYNCIO_WORDS = 13, PYTHON_ASYNCIO = PYTHON_DATA + 0x100000 };
extern const uint64_t python_asyncio_314[PYTHON_ASYNCIO_WORDS];
