/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The entries of a section of call frame information: .eh_frame or .debug_frame, which differ in
 * how an entry says what it is. Bytes are untrusted: everything is checked, and reading an entry
 * costs what is in it; what their CIEs cost is linear in the section's length.
 */
#pragma once

#include "object/cfi.h"
#include "object/frame_pages.h"

struct frame_section {
	const uint8_t *bytes;
	size_t len; /* at most MAX_FRAME_SECTION_BYTES */
	uint64_t address;
	bool debug;           /* .debug_frame's form */
	bool to_terminator;   /* ends at the first empty entry: the length is a guess */
	uint64_t fp_register; /* of the machine */
	/* NULL: all bytes are there; else an entry's are when it is read by its offset. */
	struct frame_pages *pages;
};

/* A frame description entry: code of [start, end). */
struct frame_entry {
	uint64_t start, end;
	const struct cfi_common *common; /* until the next one is read */
	struct cfi_code code;
};

enum { CIE_SLOTS = 16 };

/* CIEs read before. Files have few, but code in C++ alternates between two. */
struct cie_cache {
	uint64_t work; /* bytes of their instructions that were run, again where it was no help */
	struct cie {
		size_t offset; /* in the section, of one that was read; SIZE_MAX: none */
		int error;
		bool augmented; /* FDEs have augmentation data */
		struct cfi_common common;
	} cies[CIE_SLOTS];
};

void cie_cache_init(struct cie_cache *cache);

/* Calls fn with the offset of each FDE. 0; -EBADMSG when the first entry is broken; what fn
 * returned. */
typedef int frame_offset_fn(size_t offset, void *ctx);
int frame_section_each(const struct frame_section *section, frame_offset_fn *fn, void *ctx);
/* Reads the FDE at an offset. -EBADMSG when it, or its CIE, is broken. */
int frame_section_read(const struct frame_section *section, size_t offset, struct cie_cache *cache,
                       struct frame_entry *ret_entry);
