/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A bounded array, sorted once before a reading.
 */
#include "memory/reader_notes.h"

#include <stdlib.h>

void reader_notes_add(struct reader_notes *notes, uint32_t pid, bool ended)
{
	if (notes->count < MAX_READER_NOTES)
		notes->at[notes->count++] = (struct reader_note){pid, ended};
	else
		notes->all = true;
}

void reader_notes_clear(struct reader_notes *notes)
{
	notes->count = 0;
	notes->all = false;
}

static int compare(const void *a, const void *b)
{
	const struct reader_note *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

void reader_notes_sort(struct reader_notes *notes)
{
	size_t kept = 0;

	qsort(notes->at, notes->count, sizeof(notes->at[0]), compare);
	for (size_t i = 0; i < notes->count; i++) {
		const struct reader_note *note = &notes->at[i];

		if (kept && notes->at[kept - 1].pid == note->pid)
			/* It counts as ended only when all its notes say so. */
			notes->at[kept - 1].ended &= note->ended;
		else
			notes->at[kept++] = *note;
	}
	notes->count = kept;
}

bool reader_notes_has(const struct reader_notes *notes, uint32_t pid)
{
	const struct reader_note key = {.pid = pid};

	return bsearch(&key, notes->at, notes->count, sizeof(key), compare);
}
