/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files behind elf.h share. A libelf handle is made for each walk and ended after it:
 * handles are not thread-safe, and would keep in memory what they have read.
 */
#pragma once

#include "base/bounds.h"
#include "elf/elf.h"

#include <gelf.h>

struct elf {
	int fd; /* -1: the file is `bytes` */
	const void *bytes;
	uint64_t file_bytes;
	uint16_t machine;
	uint64_t entry;
	struct segment *segments;
	size_t segment_count;
	bool has_sections;             /* false: no libelf handle can be made */
	uint64_t code_start, code_end; /* see elf_code(); both 0 when it says false */
	struct segment frame_header;   /* PT_GNU_EH_FRAME; all zero when there is none */
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

/* From the file header. The numbers of headers are checked to be ones that an executable can have,
 * because libelf allocates memory for that many even if the file is only a hole. */
struct elf_header {
	bool is_64;
	uint16_t machine;
	uint64_t entry, segments_at;
	uint64_t sections_at; /* 0: none, too many, or not completely in the file */
	size_t segments, sections;
};

/* -ENOEXEC when it is not an ELF file of this machine's byte order. A file of the other byte order
 * cannot run here. */
int elf_read_header(const struct elf *elf, struct elf_header *ret_header);
/* Fills in everything else; on entry `elf` has only the descriptor or the bytes. -ENOEXEC,
 * -ENOMEM. */
int elf_read_headers(struct elf *elf);

/* False: the file does not hold the whole range. */
bool elf_read_raw(const struct elf *elf, uint64_t offset, void *into, size_t len);
/* A libelf handle for reading sections. NULL: the file has no sections, or is no ELF file any more;
 * errno is ENOMEM if memory is short. */
Elf *elf_handle(const struct elf *elf);
