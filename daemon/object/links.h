/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct links - what a file says about the separate files of its debug information:
 * .gnu_debuglink, .gnu_debugaltlink, and whether it has DWARF itself. Read in a reader process, of
 * descriptor 0 of the question; the answer is the struct's bytes. Formats: GDB manual, "Debugging
 * Information in Separate Files"; dwz(1).
 */
#pragma once

#include "base/bounds.h"
#include "object/object.h"
#include "reader/reader.h"
#include "reader/serve.h"

enum { MAX_LINK_NAME = 256 }; /* of a file in a folder, its NUL included */

/* No padding: it goes from one process to the other as it is. */
struct links {
	char debug_name[MAX_LINK_NAME];  /* of the debug file; "": none. Without a slash */
	uint32_t checksum;               /* CRC-32 of it */
	uint8_t has_checksum, has_dwarf; /* bool */
	uint8_t supplement_id_len;       /* 0: there is no supplement */
	uint8_t unused;
	uint8_t supplement_id[MAX_BUILD_ID_BYTES];
	char supplement[MAX_PATH_BYTES]; /* its path when it was made */
};
_Static_assert(sizeof(struct links) == MAX_LINK_NAME + 8 + MAX_BUILD_ID_BYTES + MAX_PATH_BYTES,
               "no padding");

/* What is broken is not there. */
void links_read(const struct elf *elf, struct links *ret_links);
/* The reader process's end: READER_LINKS. */
int links_answer(struct reading *reading, struct buf *out);
/* The daemon's, on the reader's thread; `number` is the file's for the reader. Errors are
 * reader_ask()'s. */
int links_ask(struct reader *reader, const struct object *object, uint64_t number,
              struct links *ret_links);
/* Whether bytes can be an answer: strings end, lengths are in bounds. 0 or -EBADMSG. */
int links_check(const uint8_t *bytes, size_t len);
