/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct procs - the processes of the host, living and recently ended. It is fed with the kernel's
 * side-band records, in order of time, and answers the question on which correct names depend:
 * which program did pid P run at time T, and what was mapped there? An exec or a reused pid starts
 * a new image; the old one stays for as long as samples of it may still arrive. Loop thread only.
 */
#pragma once

#include "object/store.h"
#include "proc/few_pids.h"
#include "proc/identity.h"
#include "proc/image.h"

#include <stdbool.h>
#include <stdint.h>

struct proc {
	uint32_t pid;
	const char *comm; /* of the newest image */
};

struct proc_stats {
	uint64_t processes, images, mappings;
	uint64_t dropped; /* processes or mappings over the limit */
	uint64_t mapping_bytes;
	uint64_t mappings_refused; /* because the user's share of MAX_MAPPING_BYTES was used up */
	uint64_t put_off;    /* readings of maps files that could not be had or used at once */
	uint64_t kin,        /* ended processes that are remembered for their descendants */
		kin_dropped; /* those that were forgotten early */
};

struct procs *procs_new(struct store *store); /* NULL when out of memory */
/* From now on files are opened asynchronously: the caller must call procs_opened() when files have
 * been opened. Without an opener, a function that adds a mapping opens its file itself, and
 * waits. */
void procs_open_by(struct procs *procs, struct opener *opener);
void procs_opened(struct procs *procs, const struct opened *opened, size_t count);
/* From now on /proc/PID/maps is read asynchronously: the caller must pass each reading to
 * procs_take_maps(). NULL: the file is read synchronously again. */
struct maps_reader;
struct maps_reading;
void procs_read_by(struct procs *procs, struct maps_reader *reader);
void procs_take_maps(struct procs *procs, const struct maps_reading *reading);
void procs_free(struct procs *procs);
DEFINE_CLEANUP(struct procs *, procs_free)

/* Reads all of /proc, for the processes that run at start-up. */
int procs_scan(struct procs *procs);
/* Side-band records were lost: /proc must be read again. procs_rescan() does a piece of that, which
 * takes a few milliseconds; true: there is more to do, now or in some seconds. */
void procs_want_rescan(struct procs *procs);
bool procs_rescan(struct procs *procs);

/* To be called when an address of `pid` is in none of its mappings. If records were lost lately, or
 * the mappings could not be read before, this reads them again and waits for them for a moment;
 * afterwards more may be known. */
void procs_look_again(struct procs *procs, uint32_t pid);
/* To be called when a process was sampled in a file that the store has closed: its user has too
 * many files, or the user has that mapped the file first. The mappings are read again, which opens
 * the file for the user of this process: of each process at most every ten seconds, and of a few
 * processes in a second, of which each user has a share. */
void procs_open_again(struct procs *procs, uint32_t pid);

/* The events of side-band records, in order of `mono_ns`. Between procs_begin() and procs_end() the
 * watchers of the table are not notified; procs_end() notifies them once of each process that has
 * changed, and not at all of one that came and went meanwhile. */
void procs_begin(struct procs *procs);
void procs_end(struct procs *procs);
void procs_fork(struct procs *procs, uint32_t parent_pid, uint32_t pid, uint64_t mono_ns);
void procs_thread(struct procs *procs, uint32_t pid); /* it has more than one from now on */
void procs_exec(struct procs *procs, uint32_t pid, const char *comm, uint64_t mono_ns);
void procs_comm(struct procs *procs, uint32_t pid, uint32_t tid, const char *comm);
void procs_mmap(struct procs *procs, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const struct file_key *key, const char *path);
void procs_exit(struct procs *procs, uint32_t pid, uint32_t tid, uint64_t mono_ns);
/* Forgets the programs and processes that ended before `mono_ns`. */
void procs_expire(struct procs *procs, uint64_t mono_ns);

/* The image that `pid` ran at a time; reads /proc when the process is not known. NULL when /proc
 * does not have it either, or when the image is forgotten. */
const struct image *procs_image(struct procs *procs, uint32_t pid, uint64_t mono_ns);
/* The identity of `pid` at a time, valid until the next call; NULL when it is not known. Reads
 * /proc at the first call for a program, and again when that was a minute ago, or sooner while the
 * program is young. */
const struct identity *procs_identity(struct procs *procs, uint32_t pid, uint64_t mono_ns);
/* The same for the program that it runs now, without reading anything: NULL also when
 * procs_identity() would read /proc or use the identity of an ancestor. */
struct identity *procs_identity_known(const struct procs *procs, uint32_t pid);
/* The mappings of the program that `pid` runs now; NULL when `pid` is not known or has exited.
 * Reads nothing, except the number of remaining threads when the main thread has ended. */
struct mapping_set *procs_mappings(struct procs *procs, uint32_t pid);
/* Watches the table until procs_unwatch(), or until both are freed: fn() is called for each process
 * whose mappings may have changed, or that ended. It must not call back into the table. */
struct procs_watcher {
	void (*fn)(uint32_t pid, void *ctx); /* NULL: does not watch */
	void *ctx;
	struct procs_watcher *prev, *next;
};
void procs_watch(struct procs *procs, struct procs_watcher *watcher);
void procs_unwatch(struct procs *procs, struct procs_watcher *watcher);
/* The name of the program that it runs; NULL: it is not known. Unlike procs_image(), this does not
 * count as asking for the process. */
const char *procs_comm_of(const struct procs *procs, uint32_t pid);
bool procs_known(const struct procs *procs, uint32_t pid);
bool procs_ended(const struct procs *procs, uint32_t pid); /* has ended, or is not known */
/* The process that started `pid`; 0: not known. That process may be gone, and its number may be in
 * use again. */
uint32_t procs_parent(const struct procs *procs, uint32_t pid);
/* Removes from `few` the ended processes that are remembered (proc/kin.h). Goes through all that
 * are remembered. */
void procs_find_remembered(const struct procs *procs, struct few_pids *few);
/* Calls fn() with each process of the table and each ended process that is remembered, and its
 * parent; 0: the parent is not known. */
typedef void kin_fn(uint32_t parent, uint32_t pid, void *ctx);
void procs_each_kin(const struct procs *procs, kin_fn *fn, void *ctx);
typedef void proc_fn(const struct proc *proc, void *ctx);
void procs_each(struct procs *procs, proc_fn *fn, void *ctx); /* living processes, by pid */
void procs_get_stats(const struct procs *procs, struct proc_stats *ret_stats);
