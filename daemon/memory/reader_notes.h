/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader_notes - processes that the next reading reads, whether they are due or not. Beyond
 * its limit it only records that there were more. Private to this folder; like the reader, for one
 * thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_READER_NOTES = 16384 };

struct reader_note {
	uint32_t pid;
	bool ended;
};

struct reader_notes {
	struct reader_note at[MAX_READER_NOTES];
	size_t count;
	bool all; /* all processes are noted */
};

void reader_notes_add(struct reader_notes *notes, uint32_t pid, bool ended);
void reader_notes_clear(struct reader_notes *notes);
/* Sorts by pid and removes duplicates; required before reader_notes_has(). */
void reader_notes_sort(struct reader_notes *notes);
bool reader_notes_has(const struct reader_notes *notes, uint32_t pid);
