/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct procs.
 */
#pragma once

#include "base/pid_set.h"
#include "base/pid_table.h"
#include "base/shares.h"
#include "proc/kin.h"
#include "proc/maps_reader.h"
#include "proc/proc.h"
#include "proc/scan.h"

struct program {
	struct image image;
	struct program *older;
	/* The process that forked this one, and when; 0: not known. */
	uint32_t parent_pid;
	uint64_t forked_mono_ns;
	struct identity *identity; /* NULL: not known */
	uint64_t identity_ns;      /* time of the last attempt to read it; 0: none yet */
	bool own;                  /* the identity was read, not inherited */
	bool settled;              /* ancestors were asked since identity_ns */
	bool cut;                  /* the process ran older programs, which are forgotten */
	/* Links of the list of programs that wait for files to be opened. */
	struct program *prev_waiting, *next_waiting;
	bool waits, opened; /* is in that list; one of its files has just been opened */
	uint32_t mapped;    /* number of mmap records so far */
};

struct process {
	uint32_t pid;
	bool alone;  /* has only had one thread, so that thread's exit ends the process */
	bool exited; /* the main thread has exited */
	bool forked; /* it started others, or may have before it was known */
	uint64_t exit_mono_ns;
	uint64_t forgotten_ns;  /* programs replaced before this time are forgotten */
	uint32_t parent;        /* pid of the process that started it; 0: not known */
	uint64_t rest_until_ns; /* maps file is not read again before, because reading took long */
	uint64_t looked_ns;     /* last reading because of an address that is in no mapping */
	uint64_t reopened_ns;   /* last reading because of a file that was closed */
	uint32_t used;          /* procs->drains when it was added, or its image was asked for */
	uint32_t owner;         /* read when the table is full; OWNER_UNKNOWN: not yet */
	bool is_read;           /* the maps file is being read */
	bool incomplete;        /* it could not be read, and is when an address is in no mapping */
	uint32_t readings;      /* stale readings since the last good one */
	uint32_t mapped;        /* newest->mapped when the reading was requested */
	struct program *newest; /* never NULL */
	bool told;              /* watchers may know of it */
	/* The list of processes with something to forget that it is in: procs_list(). */
	struct process **list; /* NULL: none */
	struct process *prev, *next;
};

/* Readings requested in the current second. */
struct read_quota {
	uint64_t began_ns;
	uint32_t count;
};

/* Reading /proc again, in pieces. */
struct rescan {
	bool wanted;
	uint32_t *pids; /* of the current round; NULL: there is none */
	size_t count, next;
	uint64_t began_ns, rounds, rested;
	uint64_t lost_ns;        /* when records were last lost */
	struct read_quota fresh; /* for new programs */
};

struct procs {
	struct finder finder;
	struct found found;         /* used by the finder */
	struct maps_reader *reader; /* NULL: maps files are read synchronously */
	uint64_t patience_ns;       /* time left for waiting for the reader until the next drain */
	struct mapping_room room;   /* of all mappings */
	struct program *waiting;    /* programs that wait for files to be opened */
	uint32_t opened_round;      /* of struct opened_batch */
	struct pid_set large;       /* changed processes with many mappings, not reported yet */
	struct rescan rescan;
	/* Readings of known processes; nanoseconds of the loop, for readings that take long. */
	struct shares_of_second again, applying;
	uint64_t put_off;       /* readings that could not be had or used */
	bool holds;             /* between procs_begin() and procs_end() */
	struct pid_set changed; /* processes that watchers are to be notified of */
	struct pid_table by_pid;
	size_t programs;
	uint64_t forgotten_ns;    /* no request can refer to what ended before */
	uint32_t drains;          /* how often procs_expire() was called */
	bool searched_in_vain;    /* since the last drain, none was found that may give way */
	uint32_t hand;            /* the pid from which on a living process gives way next */
	struct shares owners;     /* of processes whose owner is known; bounds nothing */
	struct process *ended;    /* in the order of their exit records */
	struct process *replaced; /* living processes that ran other programs before */
	struct kin kin;           /* parents that are no longer in the table */
	uint64_t swept_ns;        /* when unmapped files were last closed */
	uint32_t sweeps;          /* how often they were closed */
	uint64_t dropped;
	struct procs_watcher *watchers;
};

/* The image that `pid` runs now. For a process that is not known, the image is filled from /proc
 * later; procs_current_now() waits for that for a moment. */
struct image *procs_current(struct procs *procs, uint32_t pid);
struct image *procs_current_now(struct procs *procs, uint32_t pid);
void procs_be_patient(struct procs *procs); /* called once a drain; renews patience_ns */
/* Reads /proc about a process, known or not. */
void procs_scan_pid(struct procs *procs, uint32_t pid);
/* Requests a reading of the mappings of a known process. */
void procs_read(struct procs *procs, uint32_t pid);
/* A process was forked while its parent's maps file is being read: it has a part of the mappings,
 * and is read as well. */
void procs_read_forked(struct procs *procs, struct process *child, const struct process *parent);
/* The same for a new program while records are being lost, because its own may be among them. */
void procs_read_new(struct procs *procs, uint32_t pid);
bool procs_is_read(const struct procs *procs, uint32_t pid); /* a reading is in progress */
/* Starts a program in `pid`: with the mappings of `like` after a fork, with none after an exec. */
struct program *procs_start_program(struct procs *procs, uint32_t pid, const struct image *like,
                                    uint64_t mono_ns);
void procs_set_parent(struct procs *procs, uint32_t pid, uint32_t parent);
/* Between these two calls the store's time stands still, and the result of the last file lookup is
 * reused. */
void procs_hold(struct procs *procs);
void procs_release(struct procs *procs);
/* Notifies the watchers of the table; between procs_begin() and procs_end() this is deferred. */
void procs_tell(struct procs *procs, struct process *process);
void procs_tell_of_mappings(struct procs *procs, struct process *process);
void procs_tell_now(const struct procs *procs, uint32_t pid);
void procs_tell_of_large(struct procs *procs); /* called once a drain */
void program_free(struct procs *procs, struct program *program);
/* Removes the process from the table and frees it. */
void process_free(struct procs *procs, struct process *process);
bool process_has_ended(const struct process *process);
/* Puts the process into the list that it belongs to; called when it has ended or runs another
 * program. */
void procs_list(struct procs *procs, struct process *process);
/* Forgets the replaced programs of a process that no request can refer to any more. Forgets all
 * replaced programs when there is no room for more, which happens when processes come and go so
 * fast that each pid is soon reused. */
void procs_forget_replaced(struct procs *procs, struct process *process);
/* The table is full: drops the process that ended first, else a living one that was not asked for
 * lately, one of the user that has most if possible. Most of what is known of a living process is
 * read from /proc when it is asked for again: not when it started, nor which programs it ran
 * before. */
void procs_make_room(struct procs *procs);
/* Updates whether the program waits for files to be opened; called when its set has changed. */
void program_wait(struct procs *procs, struct program *program);
/* Closes files that no process maps, every ten seconds. */
void procs_close_unmapped(struct procs *procs);
/* Finds processes that have ended without an exit record. */
void procs_find_ended(struct procs *procs);
/* The process has started another, or may have. */
void procs_note_fork(struct procs *procs, uint32_t pid);
/* Called before a process that has ended is freed. */
void process_remember(struct procs *procs, const struct process *process);
/* Called once a drain; calls kin_settle() when that is due. */
void procs_settle_kin(struct procs *procs, uint64_t mono_ns);
struct process *procs_find(const struct procs *procs, uint32_t pid); /* NULL when not known */
/* The program that it ran at a time; NULL: that program is forgotten. */
struct program *process_program(const struct process *process, uint64_t mono_ns);
/* These two let a new program inherit the identity of the process that forked it, and that of the
 * program that the process ran before. */
void program_forked(struct program *program, uint32_t parent_pid, const struct process *parent);
void program_execed(struct program *program);
