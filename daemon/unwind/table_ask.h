/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * table_build_part() in a reader process: what a file says is parsed, and its code is followed,
 * without any privilege. One lane's thread at a time.
 */
#pragma once

#include "object/object.h"
#include "reader/reader.h"
#include "unwind/table.h"

/* As table_build_part(), of the object, or of its separate debug file when it says nothing itself.
 * Other errors are reader_ask()'s. */
int table_ask(struct reader *reader, const struct object *object, bool follow, struct range part,
              size_t max_words, struct table **ret_table);
