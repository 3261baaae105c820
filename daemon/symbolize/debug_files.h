/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The separate debug files of one executable: those that exist by now. Render lane only.
 */
#pragma once

#include "object/debugfile.h"
#include "object/object.h"
#include "reader/reader.h"
#include "fetch/fetch.h"

#include <stdbool.h>

struct debug_files {
	struct object *debug; /* what was stripped from the executable; NULL: none known */
	int supplement;       /* descriptor of what is shared with other debug files, or -1 */
	uint64_t looked_ns;   /* time of the last search; 0: never */
	bool has_dwarf;       /* the executable itself had DWARF then */
	struct debug_checks checks;
};

#define DEBUG_FILES_NONE ((struct debug_files){.supplement = -1})

void debug_files_release(struct debug_files *files);
/* Searches for the files. While there are none, later calls search again, because they may have
 * been installed meanwhile. The reader process reads where they are; `fetch` may be NULL.
 * `check_ns` is the time left for checksums and is counted down: the checksum of a large file is
 * completed in later calls, and the file is used then. True when the files have changed. */
bool debug_files_refresh(struct debug_files *files, const struct object *object,
                         struct reader *reader, struct fetch *fetch, uint64_t *check_ns);
