/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files behind elf.h share. A libelf handle is made for each walk and ended after it:
 * handles are not thread-safe, and what they read in between would stay in memory.
 */
#pragma once

#include "base/bounds.h"
#include "object/elf.h"

#include <gelf.h>

struct elf {
	int fd; /* -1: the bytes */
	const void *bytes;
	uint64_t file_bytes;
	uint16_t machine;
	uint64_t entry;
	struct segment *segments;
	size_t segment_count;
	bool has_sections;           /* else there is no handle */
	struct segment frame_header; /* PT_GNU_EH_FRAME; all zero when there is none */
	uint8_t build_id[MAX_BUILD_ID_BYTES];
	size_t build_id_len;
};

static inline void elf_endp(Elf **handle)
{
	elf_end(*handle);
}

static inline bool elf_in_file(const struct elf *elf, uint64_t offset, uint64_t len)
{
	return offset <= elf->file_bytes && len <= elf->file_bytes - offset;
}

/* Of the file header: numbers of headers are such as an executable has, for libelf allocates for as
 * many, also where the file is nothing but a hole. */
struct elf_header {
	bool is_64;
	uint16_t machine;
	uint64_t entry, segments_at;
	uint64_t sections_at; /* 0: none, or more of them, or not all in the file */
	size_t segments, sections;
};

/* -ENOEXEC when it is none of this machine's byte order; a file in the other one cannot run here.
 */
int elf_read_header(const struct elf *elf, struct elf_header *ret_header);
/* Fills in what the file says of itself: `elf` has its bytes only. -ENOEXEC, -ENOMEM. */
int elf_read_headers(struct elf *elf);

/* false when the file does not hold all of it. */
bool elf_read_raw(const struct elf *elf, uint64_t offset, void *into, size_t len);
/* For sections. NULL: it has none, is no ELF file any more, or out of memory. */
Elf *elf_handle(const struct elf *elf);
