/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_reader - reads how much memory every process holds, again and again. It remembers
 * what it read, so that a second look is cheap: one in which nothing changes is looked at less and
 * less often, unless somebody noted it, and status is read only where statm has changed; nothing of
 * the kernel's threads is; the files of a control group once however many processes are in it; and
 * which group a process is in, and whose limit that has, only now and then. All of /proc is listed
 * only now and then as well: who begins and ends is noted. One thread at a time.
 */
#pragma once

#include "base/cleanup.h"
#include "memory/control_group.h"
#include "memory/figures.h"

struct memory_reader;

#define MEMORY_NO_GROUP UINT32_MAX

struct memory_reading {
	uint32_t pid;
	struct memory_owner owner;     /* as of when it was first read */
	uint32_t user;                 /* as of proc/owner.h, with the figures */
	struct memory_figures figures; /* nothing in it is known of a thread of the kernel */
	uint64_t read_ms;              /* when they were read */
	uint32_t group;                /* among those of the readings; MEMORY_NO_GROUP */
};

struct memory_group_reading {
	const char *path;
	struct control_group_usage usage;
	uint32_t user; /* of the process that brought it */
};

/* What is there now; the reader's, until the next reading. */
struct memory_readings {
	const struct memory_reading *processes; /* by pid */
	size_t process_count;
	const struct memory_group_reading *groups;
	size_t group_count;
	uint64_t groups_refused; /* times that a process was not told to be in one, for lack of
	                            room; since the reader began */
	struct memory_host host;
};

struct memory_reader *memory_reader_new(void); /* NULL: out of memory */
void memory_reader_free(struct memory_reader *reader);
DEFINE_CLEANUP(struct memory_reader *, memory_reader_free)

enum {
	MEMORY_LOOK_MS = 4 * 1000, /* a reading is due so often, if nobody is noted before */
	MEMORY_REST_MS =
		30 * 1000, /* for so long a process at rest is not looked at, at the most */
};

/* Before a reading: this process may have changed, or it `ended`. */
void memory_reader_note(struct memory_reader *reader, uint32_t pid, bool ended);
/* Before a reading: some that changed were not noted. */
void memory_reader_note_all(struct memory_reader *reader);
/* Whether those that grow are noted. Else, as while memory is short, none rests for longer than
 * MEMORY_LOOK_MS. */
void memory_reader_growth_noted(struct memory_reader *reader, bool noted);
/* 0 or what kept it from reading at all: that a process is gone is no error. `now_ms` by any clock
 * that does not go back. */
int memory_reader_read(struct memory_reader *reader, uint64_t now_ms,
                       struct memory_readings *ret_readings);
/* PSS of one process: walks all its mappings, which takes milliseconds a GiB. -ESRCH. */
int memory_read_pss(uint32_t pid, uint64_t *ret_bytes);
