/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_reader - periodically reads how much memory every process holds. It keeps the
 * results, so that later readings are cheap:
 *
 * - A process that does not change is read less and less often, unless it is noted.
 * - status is read only when statm has changed. Kernel threads are not read again.
 * - The files of a control group are read once, however many processes are in it.
 * - The group of a process, and the group whose limit applies, are looked up only now and then.
 * - All of /proc is listed only now and then, because processes that start or end are noted.
 *
 * One thread at a time.
 */
#pragma once

#include "base/cleanup.h"
#include "memory/readings.h"

struct memory_reader;

struct memory_reader *memory_reader_new(void); /* NULL: out of memory */
void memory_reader_free(struct memory_reader *reader);
DEFINE_CLEANUP(struct memory_reader *, memory_reader_free)

/* Notes, before a reading, that this process may have changed, or has `ended`. */
void memory_reader_note(struct memory_reader *reader, uint32_t pid, bool ended);
/* Notes, before a reading, that any process may have changed. */
void memory_reader_note_all(struct memory_reader *reader);
/* Whether processes that grow are noted. If they are not, and while memory is short, no process is
 * left unread for longer than MEMORY_LOOK_MS. */
void memory_reader_growth_noted(struct memory_reader *reader, bool noted);
/* 0, or the error that prevented the reading; a process that is gone is no error. `now_ms` is of
 * any clock that does not go back. */
int memory_reader_read(struct memory_reader *reader, uint64_t now_ms,
                       struct memory_readings *ret_readings);
/* The PSS of one process. The kernel walks all its mappings, which takes milliseconds per GiB.
 * -ESRCH. */
int memory_read_pss(uint32_t pid, uint64_t *ret_bytes);
