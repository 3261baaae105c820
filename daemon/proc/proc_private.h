/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of struct procs share.
 */
#pragma once

#include "proc/pid_set.h"
#include "proc/pid_table.h"
#include "proc/kin.h"
#include "proc/maps_reader.h"
#include "proc/proc.h"
#include "proc/scan.h"

struct program {
	struct image image;
	struct program *older;
	/* Who forked the process, and when; 0: not told. */
	uint32_t parent_pid;
	uint64_t forked_mono_ns;
	struct identity *identity; /* as far as known */
	uint64_t identity_ns;      /* when it was read, or tried to be; 0: not yet */
	bool own;                  /* it was read, and not taken over */
	bool settled;              /* since that time ancestors were asked */
	bool cut;                  /* the process ran others before, which are forgotten */
	/* Those that wait for files to be opened. */
	struct program *prev_waiting, *next_waiting;
	bool waits, opened; /* is in that list; one of its files has just been opened */
	uint32_t pid;
	uint32_t mapped; /* records of mappings so far */
};

struct process {
	uint32_t pid;
	bool alone;  /* has had one thread only, so that its exit is the process's */
	bool exited; /* its main thread has */
	bool forked; /* it started others, or may have before it was known */
	uint64_t exit_mono_ns;
	uint64_t forgotten_ns;  /* until then its programs that were replaced are forgotten */
	uint32_t parent;        /* pid of the process that started it; 0: not known */
	uint64_t rest_until_ns; /* its file of mappings is long: it is not read again before */
	uint64_t looked_ns;     /* when it was read as addresses were in no mapping */
	bool is_read;           /* that file is being read */
	uint32_t readings;      /* of it, in vain since the last one that was good */
	uint32_t mapped;        /* records of mappings that its program had when it was asked for */
	struct program *newest; /* never NULL */
	bool told;              /* who watches the table may know of it */
	/* Where it is until something of it is forgotten: procs_list(). */
	struct process **list; /* NULL: nowhere */
	struct process *prev, *next;
};

/* Reading /proc again, in pieces. */
struct rescan {
	bool wanted;
	uint32_t *pids; /* of the round under way; NULL: there is none */
	size_t count, next;
	uint64_t began_ns, rounds, rested;
	uint64_t lost_ns;   /* when it was wanted last */
	uint64_t new_ns;    /* since when programs that are new were asked for, */
	uint32_t new_asked; /* and how many */
};

struct procs {
	struct finder finder;
	struct found found;         /* the finder's */
	struct maps_reader *reader; /* NULL: files of mappings are read at once */
	uint64_t patience_ns;       /* that is left for waiting for it, until the next drain */
	struct mapping_room room;   /* of all mappings */
	struct program *waiting;
	uint32_t opened_round; /* of struct opened_batch */
	struct pid_set large;  /* with many mappings, which have changed and were not told of */
	struct rescan rescan;
	bool holds;             /* between procs_begin() and procs_end() */
	struct pid_set changed; /* those that are to be told of */
	struct pid_table by_pid;
	size_t programs;
	uint64_t forgotten_ns;    /* what ended before is of no use any more */
	struct process *ended;    /* in the order in which that was told */
	struct process *replaced; /* living ones that ran other programs before */
	struct kin kin;           /* who is no longer in it */
	uint64_t swept_ns;        /* when unmapped files were closed last, */
	uint32_t sweeps;          /* and how often they were */
	uint64_t dropped;
	struct watcher {
		procs_changed_fn *fn; /* NULL: none */
		void *ctx;
	} watchers[MAX_PROCS_WATCHERS];
};

/* What runs in `pid` now, as far as known; else what /proc says, later, or after a moment. */
struct image *procs_current(struct procs *procs, uint32_t pid);
struct image *procs_current_now(struct procs *procs, uint32_t pid);
void procs_be_patient(struct procs *procs); /* there was a drain */
/* Reads /proc about a process, known or not. */
void procs_scan_pid(struct procs *procs, uint32_t pid);
/* Has the mappings of a known one read. */
void procs_read(struct procs *procs, uint32_t pid);
/* Of one that is new, while records of mappings are lost: its own may be among them. */
void procs_read_new(struct procs *procs, uint32_t pid);
bool procs_is_read(const struct procs *procs, uint32_t pid); /* that is under way */
/* Starts a program in `pid`: with the mappings of `like` after a fork, with none after an exec. */
struct program *procs_start_program(struct procs *procs, uint32_t pid, const struct image *like,
                                    uint64_t mono_ns);
void procs_set_parent(struct procs *procs, uint32_t pid, uint32_t parent);
/* Between these two it is one moment: files stay what they were found to be. */
void procs_hold(struct procs *procs);
void procs_release(struct procs *procs);
/* Tells who watches the table; between procs_begin() and procs_end() it is held. */
void procs_tell(struct procs *procs, struct process *process);
void procs_tell_of_mappings(struct procs *procs, struct process *process);
void procs_tell_now(const struct procs *procs, uint32_t pid);
void procs_tell_of_large(struct procs *procs); /* once a drain */
void program_free(struct procs *procs, struct program *program);
/* It leaves the table. */
void process_free(struct procs *procs, struct process *process);
bool process_has_ended(const struct process *process);
/* It has ended, or runs another program. */
void procs_list(struct procs *procs, struct process *process);
/* Of what it ran before, forgets what nobody can ask for; all of it, where there is no room for
 * more programs: processes that come and go so fast that each pid is soon used again. */
void procs_forget_replaced(struct procs *procs, struct process *process);
/* The table is full: of those that ended the oldest gives way. */
void procs_make_room(struct procs *procs);
/* Whether it waits for files to be opened: its set has changed. */
void program_wait(struct procs *procs, struct program *program);
/* Closes files that nobody maps, every ten seconds. */
void procs_close_unmapped(struct procs *procs);
/* Those whose exit was never told. */
void procs_find_ended(struct procs *procs);
/* It has started another, or may have. */
void procs_note_fork(struct procs *procs, uint32_t pid);
/* Before a process that has ended is freed. */
void process_remember(struct procs *procs, const struct process *process);
/* Now and then. */
void procs_settle_kin(struct procs *procs, uint64_t mono_ns);
struct process *procs_find(const struct procs *procs, uint32_t pid); /* NULL when not known */
/* What it ran at a time; NULL: that is forgotten. */
struct program *process_program(const struct process *process, uint64_t mono_ns);
/* What it takes over, in whose it is, from the process that forked it, or from what it ran before.
 */
void program_forked(struct program *program, uint32_t parent_pid, const struct process *parent);
void program_execed(struct program *program);
