/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small ELF file with call frame information, built entry by entry.
 */
#pragma once

#include "tests/unit/frame_text.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IMAGE_TEXT = 0x1000, /* the code's own address and size; its bytes are not in the image */
	IMAGE_TEXT_BYTES = 0x1000,
	IMAGE_FRAMES = 0x3000, /* own address of .eh_frame */
	IMAGE_SECTIONS = 5,    /* null, .eh_frame, .debug_frame, names, .go.buildinfo */
};

struct frame_bytes {
	uint8_t bytes[1024];
	size_t len;
};

struct frame_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3]; /* code, data, PT_GNU_EH_FRAME */
	char names[64];
	bool of_go; /* has a section .go.buildinfo */
	struct frame_bytes eh, debug;
	struct {
		uint8_t version, pointer_encoding, count_encoding, table_encoding;
		int32_t to_frames;
	} eh_header;
	Elf64_Shdr sections[IMAGE_SECTIONS];
};

void frame_image_init(struct frame_image *image);
/* Called once all entries are in place. */
void frame_image_seal(struct frame_image *image);

void put_u8(struct frame_bytes *into, uint8_t value);
void put_u32(struct frame_bytes *into, uint32_t value);
void put_u64(struct frame_bytes *into, uint64_t value);
void put_bytes(struct frame_bytes *into, const void *bytes, size_t len);
/* begin_entry() returns the entry's offset; end_entry() writes the length of what was put after
 * it. */
size_t begin_entry(struct frame_bytes *into);
void end_entry(struct frame_bytes *into, size_t entry);

/* The usual CIE of x86-64; returns its offset. `augmentation` consists of z, R and S. */
size_t put_eh_cie(struct frame_bytes *into, const char *augmentation);
/* An FDE of a "zR" CIE. */
void put_eh_fde(struct frame_bytes *into, size_t cie, uint64_t start, uint32_t len,
                const void *instructions, size_t instructions_len);
/* The same for .debug_frame, version 4. put_debug_fde() gives no instructions; the CFA is then at
 * offset 64. */
size_t put_debug_cie(struct frame_bytes *into);
void put_debug_fde(struct frame_bytes *into, size_t cie, uint64_t start, uint64_t len);
void put_debug_fde_of(struct frame_bytes *into, size_t cie, uint64_t start, uint64_t len,
                      const void *instructions, size_t instructions_len);

/* Seals the file and collects its rows; returns the result of ehframe_each_row(). */
int frame_image_rows(struct frame_image *image, struct frame_text *ret_text);
/* Seals the file and checks that its rows are `rows`; "" if there is nothing to report. */
void check_frame_rows(struct frame_image *image, const char *rows);
