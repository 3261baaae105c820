/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * table_build_part() in a reader process: the file is parsed, and its code is followed, without any
 * privilege. One lane's thread at a time.
 */
#pragma once

#include "object/debugfile.h"
#include "object/object.h"
#include "reader/reader.h"
#include "unwind/table.h"

struct table_asker {
	struct reader *reader;
	struct aside *aside; /* opens debug files */
	struct debug_checks checks;
};

/* Like table_build_part(), for the object, or for its debug file when the object has no call frame
 * information. Other errors are those of reader_ask(); -ECHILD also when the debug file could not
 * be opened yet. */
int table_ask(struct table_asker *asker, struct object *object, bool follow, struct range part,
              size_t max_words, struct table **ret_table);
