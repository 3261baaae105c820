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
#include "memory/control_group.h"
#include "memory/figures.h"

struct memory_reader;

#define MEMORY_NO_GROUP UINT32_MAX

struct memory_reading {
	uint32_t pid;
	struct memory_owner owner;     /* as of the first reading */
	uint32_t user;                 /* as in proc/owner.h; read with the figures */
	struct memory_figures figures; /* all unknown for a kernel thread */
	uint64_t read_ms;              /* when the figures were read */
	uint32_t group;                /* index in the readings' groups, or MEMORY_NO_GROUP */
};

struct memory_group_reading {
	const char *path;
	struct control_group_usage usage;
	uint32_t user; /* of the process through which the group became known */
};

/* The result of a reading; owned by the reader and valid until the next reading. */
struct memory_readings {
	const struct memory_reading *processes; /* sorted by pid */
	size_t process_count;
	const struct memory_group_reading *groups;
	size_t group_count;
	uint64_t groups_refused; /* how often the group of a process was not recorded for lack of
	                            room, since the reader was made */
	struct memory_host host;
};

struct memory_reader *memory_reader_new(void); /* NULL: out of memory */
void memory_reader_free(struct memory_reader *reader);
DEFINE_CLEANUP(struct memory_reader *, memory_reader_free)

enum {
	MEMORY_LOOK_MS = 4 * 1000,  /* interval of readings while no process is noted */
	MEMORY_REST_MS = 30 * 1000, /* the longest interval of readings of a process at rest */
};

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
