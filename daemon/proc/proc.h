/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct procs - the processes of the host, living and lately gone. It is told what the kernel's
 * side-band records say, in order of time, and answers the question that makes names right: which
 * program did pid P run at time T, and what was mapped there? An exec or a reused pid starts a new
 * image; the old one stays for as long as samples of it may still arrive. Loop thread only.
 */
#pragma once

#include "object/store.h"
#include "proc/few_pids.h"
#include "proc/identity.h"
#include "proc/mapping_set.h"

#include <stdbool.h>
#include <stdint.h>

enum { COMM_BYTES = 16 };

/* One program a process ran: from its exec (or fork) to the next. */
struct image {
	uint64_t start_mono_ns;
	char comm[COMM_BYTES]; /* the process's: its main thread's */
	/* Sorted, not overlapping. Shared with the parent after a fork, until one of them changes.
	 */
	struct mapping_set *set;
};

struct proc {
	uint32_t pid;
	const char *comm; /* of the newest image */
};

struct proc_stats {
	uint64_t processes, images, mappings;
	uint64_t dropped; /* processes or mappings over the limit */
	uint64_t mapping_bytes;
	uint64_t mappings_refused; /* because their user had no more of MAX_MAPPING_BYTES */
	uint64_t kin,
		kin_dropped; /* ended ones whose descendants are known; those forgotten early */
};

struct procs *procs_new(struct store *store); /* NULL when out of memory */
/* From now on files are opened without waiting: who has called this calls procs_opened() when they
 * have been. Until then whatever maps a file waits for it to be opened. */
void procs_open_by(struct procs *procs, struct opener *opener);
void procs_opened(struct procs *procs, const struct opened *opened, size_t count);
/* From now on /proc/PID/maps is read without waiting; whoever has called this hands on what was
 * read. NULL: at once again. */
struct maps_reader;
struct maps_reading;
void procs_read_by(struct procs *procs, struct maps_reader *reader);
void procs_take_maps(struct procs *procs, const struct maps_reading *reading);
void procs_free(struct procs *procs);
DEFINE_CLEANUP(struct procs *, procs_free)

/* Reads all of /proc: what runs at start-up. */
int procs_scan(struct procs *procs);
/* Side-band records were lost: /proc is to be read again. procs_rescan() does a piece of that, of a
 * few milliseconds; true: there is more to do, now or in some seconds. */
void procs_want_rescan(struct procs *procs);
bool procs_rescan(struct procs *procs);

/* An address of it is in none of its mappings. If records were lost lately, the mappings are read
 * again, and waited for a moment: what is known of `pid` may then be more. */
void procs_look_again(struct procs *procs, uint32_t pid);

/* What side-band records say, in order of `mono_ns`. Between the two of begin and end who watches
 * the table is not told yet: at the end once of each process that has changed, and not at all of
 * one that came and went meanwhile. */
void procs_begin(struct procs *procs);
void procs_end(struct procs *procs);
void procs_fork(struct procs *procs, uint32_t parent_pid, uint32_t pid, uint64_t mono_ns);
void procs_thread(struct procs *procs, uint32_t pid); /* it has more than one from now on */
void procs_exec(struct procs *procs, uint32_t pid, const char *comm, uint64_t mono_ns);
void procs_comm(struct procs *procs, uint32_t pid, uint32_t tid, const char *comm);
void procs_mmap(struct procs *procs, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const struct file_key *key, const char *path);
void procs_exit(struct procs *procs, uint32_t pid, uint32_t tid, uint64_t mono_ns);
/* Forgets what ended before `mono_ns`. */
void procs_expire(struct procs *procs, uint64_t mono_ns);

/* The image that `pid` ran at a time; reads /proc when the process is not known. NULL when it is
 * nowhere. */
const struct image *procs_image(struct procs *procs, uint32_t pid, uint64_t mono_ns);
/* Whose `pid` was at a time, valid until the next call; NULL when it is not known. Reads /proc when
 * it is first asked about a program, and again when that is a minute ago, sooner while the program
 * is young. */
const struct identity *procs_identity(struct procs *procs, uint32_t pid, uint64_t mono_ns);
/* The same of what it runs now, without reading anything: NULL also where procs_identity() would
 * read /proc, or take over what was read of an ancestor. */
struct identity *procs_identity_known(const struct procs *procs, uint32_t pid);
/* The mappings of what `pid` runs now; NULL when it is not known or has exited. Reads nothing but
 * the number of threads left when its main thread has ended. */
struct mapping_set *procs_mappings(struct procs *procs, uint32_t pid);
/* Who is told of each process whose mappings may have changed, or that ended. It must not call
 * back. -ENOSPC when there are MAX_PROCS_WATCHERS. */
enum { MAX_PROCS_WATCHERS = 5 };
typedef void procs_changed_fn(uint32_t pid, void *ctx);
int procs_watch(struct procs *procs, procs_changed_fn *fn, void *ctx);
void procs_unwatch(struct procs *procs, procs_changed_fn *fn, void *ctx);
bool procs_known(const struct procs *procs, uint32_t pid);
bool procs_ended(const struct procs *procs, uint32_t pid); /* it is gone as far as is known */
/* The process that started `pid`, though it may be gone and another one have its number; 0: not
 * known. */
uint32_t procs_parent(const struct procs *procs, uint32_t pid);
/* Takes out those that have started others and ended, and something of what they did may still be
 * kept. Goes through all of them. */
void procs_find_remembered(const struct procs *procs, struct few_pids *few);
/* Who started whom: of the living, and of those that have ended as long as something of what they
 * did may be kept. A parent of 0 is not known. */
typedef void kin_fn(uint32_t parent, uint32_t pid, void *ctx);
void procs_each_kin(const struct procs *procs, kin_fn *fn, void *ctx);
typedef void proc_fn(const struct proc *proc, void *ctx);
void procs_each(struct procs *procs, proc_fn *fn, void *ctx); /* living ones, by pid */
void procs_get_stats(const struct procs *procs, struct proc_stats *ret_stats);
