/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The separate files of one executable's debug information: which of them there are by now. Render
 * lane only.
 */
#pragma once

#include "object/debugfile.h"
#include "object/object.h"
#include "reader/reader.h"
#include "fetch/fetch.h"

#include <stdbool.h>

struct debug_files {
	struct object *debug; /* holds what was stripped from the executable; NULL: none known */
	int supplement;       /* descriptor of what is shared with other debug files, or -1 */
	uint64_t looked_ns;   /* when they were last looked for; 0: never */
	bool has_dwarf;       /* the executable had some itself then */
	struct debug_checks checks;
};

#define DEBUG_FILES_NONE ((struct debug_files){.supplement = -1})

void debug_files_release(struct debug_files *files);
/* Looks for them, and again later while there are none: somebody may install them. The reader reads
 * where they are; `fetch` may be NULL. `check_ns` is how long checksums may take, counted down: a
 * large file is believed when somebody asks again. True when there are others than before. */
bool debug_files_refresh(struct debug_files *files, const struct object *object,
                         struct reader *reader, struct fetch *fetch, uint64_t *check_ns);
