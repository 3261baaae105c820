/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The entries of a section of call frame information: .eh_frame or .debug_frame, which differ in
 * how an entry states its kind. The bytes are untrusted and everything is checked. The work of
 * reading an entry is linear in the entry's length; the work for CIEs is linear in the section's
 * length.
 */
#pragma once

#include "cfi/cfi.h"
#include "cfi/frame_pages.h"

struct frame_section {
	const uint8_t *bytes;
	size_t len; /* at most MAX_FRAME_SECTION_BYTES */
	uint64_t address;
	bool debug;           /* the section has the form of .debug_frame */
	bool to_terminator;   /* the section ends at the first empty entry; its length is a guess */
	uint64_t fp_register; /* DWARF number of the machine's frame pointer */
	/* NULL: all bytes are in memory. Otherwise an entry's bytes are loaded when the entry is
	 * read by its offset. */
	struct frame_pages *pages;
};

/* A frame description entry: code of [start, end). */
struct frame_entry {
	uint64_t start, end;
	const struct cfi_common *common; /* valid until the next entry is read */
	struct cfi_code code;
};

enum { CIE_SLOTS = 16 };

/* CIEs that were read before. A file has few CIEs, but C++ code alternates between two. */
struct cie_cache {
	uint64_t work; /* bytes of CIE instructions run, repeats after a cache miss included */
	struct cie {
		size_t offset; /* offset of the CIE in the section; SIZE_MAX: the slot is empty */
		int error;
		bool augmented; /* FDEs have augmentation data */
		struct cfi_common common;
	} cies[CIE_SLOTS];
};

void cie_cache_init(struct cie_cache *cache);

/* Calls fn with the offset of each FDE. Returns 0; -EBADMSG when the first entry is broken; or what
 * fn returned. */
typedef int frame_offset_fn(size_t offset, void *ctx);
int frame_section_each(const struct frame_section *section, frame_offset_fn *fn, void *ctx);
/* Reads the FDE at an offset. -EBADMSG when the FDE or its CIE is broken. */
int frame_section_read(const struct frame_section *section, size_t offset, struct cie_cache *cache,
                       struct frame_entry *ret_entry);
