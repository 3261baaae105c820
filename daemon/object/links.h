/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct links - what a file says about the separate files with its debug information
 * (.gnu_debuglink and .gnu_debugaltlink), and whether it has DWARF itself. A reader process reads
 * this from descriptor 0 of the question; the answer is the bytes of the struct. Formats: GDB
 * manual, "Debugging Information in Separate Files"; dwz(1).
 */
#pragma once

#include "base/bounds.h"
#include "object/object.h"
#include "reader/reader.h"
#include "reader/serve.h"

enum { MAX_LINK_NAME = 256 }; /* of a file name without folder, the NUL included */

/* No padding: the bytes are sent from one process to the other. */
struct links {
	char debug_name[MAX_LINK_NAME];  /* name of the debug file, without a slash; "": none */
	uint32_t checksum;               /* CRC-32 of the debug file */
	uint8_t has_checksum, has_dwarf; /* bool */
	uint8_t supplement_id_len;       /* 0: the file names no supplement */
	uint8_t unused;
	uint8_t supplement_id[MAX_BUILD_ID_BYTES];
	char supplement[MAX_PATH_BYTES]; /* path of the supplement when it was made */
};
_Static_assert(sizeof(struct links) == MAX_LINK_NAME + 8 + MAX_BUILD_ID_BYTES + MAX_PATH_BYTES,
               "no padding");

/* Broken sections count as missing. */
void links_read(const struct elf *elf, struct links *ret_links);
/* Answers READER_LINKS in the reader process. */
int links_answer(struct reading *reading, struct buf *out);
/* Asks from the daemon, on the reader's thread. `number` stands for the file in requests to the
 * reader. Returns the errors of reader_ask(). */
int links_ask(struct reader *reader, const struct object *object, uint64_t number,
              struct links *ret_links);
/* Whether the bytes are a valid answer: strings are terminated, lengths are in bounds. 0 or
 * -EBADMSG. */
int links_check(const uint8_t *bytes, size_t len);
