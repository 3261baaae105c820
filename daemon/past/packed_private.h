/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What packing and unpacking share: the columns of proto/slice.proto.
 */
#pragma once

#include "past/packed.h"

/* The columns of all tables: members of 32 and of 64 bits. Entry 0 of a table is not packed. */
#define LABEL_COLUMN(name) COLUMN_32(task, name)
#define COLUMNS                          \
	COLUMN_32(mapping, path)         \
	COLUMN_32(mapping, build_id)     \
	COLUMN_64(mapping, start)        \
	COLUMN_64(mapping, limit)        \
	COLUMN_64(mapping, offset)       \
	COLUMN_32(mapping, kind)         \
	COLUMN_64(location, address)     \
	COLUMN_32(location, mapping)     \
	COLUMN_32(location, first_line)  \
	COLUMN_32(location, line_count)  \
	COLUMN_32(line, function)        \
	COLUMN_32(line, number)          \
	COLUMN_32(function, name)        \
	COLUMN_32(function, system_name) \
	COLUMN_32(function, filename)    \
	COLUMN_32(function, start_line)  \
	COLUMN_32(node, parent)          \
	COLUMN_32(node, location)        \
	COLUMN_32(task, pid)             \
	COLUMN_32(task, tid)             \
	COLUMN_32(task, parent)          \
	COLUMN_32(task, account)         \
	COLUMN_64(task, began_boot_ns)   \
	TASK_LABELS(LABEL_COLUMN)        \
	COLUMN_32(sample, node)          \
	COLUMN_32(sample, task)

/* The tables, and the column that says how many rows each has. */
#define TABLES(TABLE)            \
	TABLE(mapping, path)     \
	TABLE(location, address) \
	TABLE(line, function)    \
	TABLE(function, name)    \
	TABLE(node, location)    \
	TABLE(task, pid)         \
	TABLE(sample, node)
