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
	uint64_t looked_ns;   /* time of the last search; 0: the next call searches */
	bool has_dwarf;       /* the executable itself had DWARF then */
	/* The last search took too long, or was refused because others of the user did. */
	bool is_late;
	uint8_t late_times; /* how often it took too long, since it last did not */
	struct debug_checks checks;
};

#define DEBUG_FILES_NONE ((struct debug_files){.supplement = -1})

/* What a search needs. */
struct debug_search {
	struct reader *reader; /* reads where the files are */
	struct aside *aside;   /* opens them */
	struct fetch *fetch;   /* may be NULL */
	uint64_t *check_ns;    /* the time left for checksums, which is counted down */
};

void debug_files_release(struct debug_files *files);
/* Searches for the files. While there are none, later calls search again, because they may have
 * been installed meanwhile. The checksum of a large file is completed in later calls, and the file
 * is used then. A file whose file system hangs delays one call by a second, and is searched for
 * again after ten seconds, later after a minute. True when the files have changed. */
bool debug_files_refresh(struct debug_files *files, struct object *object,
                         const struct debug_search *search);
