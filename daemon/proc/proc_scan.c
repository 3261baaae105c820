/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the table takes from /proc: processes that started before the daemon, what lost records
 * would have reported, and a process without a fork record. Maps files are read on other threads
 * (proc/maps_reader.h), so records of the same process may arrive meanwhile. The text is then older
 * than what is known, and the file is read again.
 */
#include "base/bounds.h"
#include "base/clock.h"
#include "proc/owner.h"
#include "proc/parent.h"
#include "proc/proc_private.h"

enum {
	MAX_READINGS = 3, /* for a process that maps all the time; the last one is used as it is */
	REST = 200,       /* times the duration of a reading: half a percent of a thread's time */
	ASKED_TOGETHER = 256,
	LONG_BYTES = 64 * 1024, /* a text that may take some milliseconds of the loop */
};

/* A reading that takes longer than this delays the next one of the process; not for ever, because
 * what takes long may be the host. */
static const uint64_t long_ns = 5 * NSEC_PER_MSEC, longest_rest_ns = 10 * NSEC_PER_SEC;
/* How long the daemon waits, in total between two drains, for readings of processes that a drain
 * finds unknown. */
static const uint64_t patience_ns = 20 * NSEC_PER_MSEC;
/* The mappings of a process with an address in no mapping are read again for lately_ns after the
 * last loss of records, at most once every looks_ns. */
static const uint64_t lately_ns = 15 * NSEC_PER_SEC, looks_ns = NSEC_PER_SEC;
/* The mappings of new programs are read for news_ns after the last loss of records, of at most
 * MAX_NEW programs in a second. */
static const uint64_t news_ns = NSEC_PER_SEC;
enum { MAX_NEW = 50 };
/* Those of a process with files that were closed are read again at most once every reopen_ns. */
static const uint64_t reopen_ns = 10 * NSEC_PER_SEC;
/* In a second: readings of processes that are known, unless records were lost; and the time of the
 * loop that readings of over long_ns take. Each user has a share of both. */
enum { MAX_AGAIN = 16 };
static const uint64_t max_applying_ns = 200 * NSEC_PER_MSEC;
/* At start-up, for all running processes together. */
static const uint64_t start_patience_ns = NSEC_PER_SEC;

void procs_read_by(struct procs *procs, struct maps_reader *reader)
{
	procs->reader = reader;
}

static void apply(struct procs *procs, struct process *process, const struct scan_text *text)
{
	struct program *program = process->newest;

	scan_apply(&procs->finder, program->image.pid, text, &program->image);
	program_wait(procs, program);
	procs_tell_of_mappings(procs, process);
}

/* Until the process is sampled where no mapping is known. */
static void put_off(struct procs *procs, struct process *process)
{
	process->incomplete = true;
	procs->put_off++;
}

static void read_now(struct procs *procs, struct process *process)
{
	_cleanup_(scan_text_release) struct scan_text text = {.maps = BUF_INIT};

	if (!scan_read(process->pid, &text))
		apply(procs, process, &text);
}

void procs_read(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (!process || process->is_read)
		return;
	if (!procs->reader) {
		read_now(procs, process);
		return;
	}
	process->mapped = process->newest->mapped;
	process->is_read =
		!maps_reader_ask(procs->reader, pid, process->newest->image.start_mono_ns);
	if (!process->is_read)
		put_off(procs, process);
}

static bool may_read_again(struct procs *procs, uint32_t user, uint64_t now_ns)
{
	return shares_take_beside_root(shares_now(&procs->again, MAX_AGAIN, now_ns), user, 1);
}

void procs_read_forked(struct procs *procs, struct process *child, const struct process *parent)
{
	uint64_t now_ns = clock_mono_ns();

	child->incomplete = true;
	child->rest_until_ns = parent->rest_until_ns;
	if (now_ns >= child->rest_until_ns && may_read_again(procs, owner_read(child->pid), now_ns))
		procs_read(procs, child->pid);
}

static bool may_read_new(struct read_quota *quota, uint64_t now_ns)
{
	if (now_ns - quota->began_ns > NSEC_PER_SEC)
		*quota = (struct read_quota){.began_ns = now_ns};
	return quota->count++ < MAX_NEW;
}

void procs_read_new(struct procs *procs, uint32_t pid)
{
	struct rescan *rescan = &procs->rescan;
	uint64_t now_ns = clock_mono_ns();

	if (!rescan->lost_ns || now_ns - rescan->lost_ns > news_ns)
		return;
	if (may_read_new(&rescan->fresh, now_ns))
		procs_read(procs, pid);
}

bool procs_is_read(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	return process && process->is_read;
}

/* Waits for the requested readings for as long as patience_ns allows. */
static void settle(struct procs *procs)
{
	uint64_t begun_ns = clock_mono_ns(), took_ns;

	if (!procs->reader || !procs->patience_ns)
		return;
	maps_reader_settle(procs->reader, procs->patience_ns);
	took_ns = clock_mono_ns() - begun_ns;
	procs->patience_ns -= took_ns < procs->patience_ns ? took_ns : procs->patience_ns;
}

static bool has_lost_lately(const struct procs *procs, uint64_t now_ns)
{
	return procs->rescan.lost_ns && now_ns - procs->rescan.lost_ns <= lately_ns;
}

void procs_look_again(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);
	uint64_t now_ns = clock_mono_ns();

	if (!process || process->exited || now_ns < process->rest_until_ns ||
	    now_ns - process->looked_ns < looks_ns)
		return;
	if (!has_lost_lately(procs, now_ns) &&
	    !(process->incomplete && may_read_again(procs, owner_read(pid), now_ns)))
		return;
	process->looked_ns = now_ns;
	procs_read(procs, pid);
	if (process->is_read)
		settle(procs);
}

/* Whether the reading is of an earlier program, or records arrived that may be newer. */
static bool is_stale(const struct process *process, const struct maps_reading *reading)
{
	return process->newest->image.start_mono_ns != reading->tag ||
	       process->newest->mapped != process->mapped;
}

/* Whether the user's readings have taken less than their share of this second. Root's always may
 * be used. */
static bool may_apply(struct procs *procs, uint32_t user, uint64_t now_ns)
{
	return user == 0 ||
	       !shares_exceeded(shares_now(&procs->applying, max_applying_ns, now_ns), user);
}

void procs_take_maps(struct procs *procs, const struct maps_reading *reading)
{
	struct process *process = procs_find(procs, reading->pid);
	uint64_t now_ns = clock_mono_ns(), took_ns;

	if (!process || !process->is_read)
		return;
	process->is_read = false;
	if (reading->err) {
		if (reading->err != -ESRCH && reading->err != -ECANCELED)
			put_off(procs, process);
		return;
	}
	if (is_stale(process, reading) && ++process->readings < MAX_READINGS) {
		procs_read(procs, reading->pid);
		return;
	}
	process->readings = 0;
	if (process->newest->image.start_mono_ns != reading->tag)
		return;
	if (reading->text.maps.len > LONG_BYTES && !may_apply(procs, reading->owner, now_ns)) {
		put_off(procs, process);
		return;
	}
	procs_hold(procs);
	apply(procs, process, &reading->text);
	procs_release(procs);
	process->incomplete = false;
	took_ns = clock_mono_ns() - now_ns;
	if (took_ns > long_ns)
		shares_add(&procs->applying.shares, reading->owner, took_ns);
	took_ns += reading->took_ns;
	if (took_ns > long_ns)
		process->rest_until_ns =
			now_ns +
			(took_ns < longest_rest_ns / REST ? REST * took_ns : longest_rest_ns);
}

struct image *procs_current(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);
	struct program *program;

	if (process)
		return &process->newest->image;
	if (!scan_exists(pid))
		return NULL;
	program = procs_start_program(procs, pid, NULL, 0);
	if (!program)
		return NULL;
	procs_set_parent(procs, pid, parent_read(pid));
	procs_note_fork(procs, pid);
	procs_read(procs, pid);
	return &program->image;
}

void procs_be_patient(struct procs *procs)
{
	procs->patience_ns = patience_ns;
}

struct image *procs_current_now(struct procs *procs, uint32_t pid)
{
	struct image *image = procs_current(procs, pid);

	if (image && procs_is_read(procs, pid))
		settle(procs);
	return image;
}

void procs_scan_pid(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (!process) {
		/* A full table has what was asked for; the others can wait until they are. */
		if (procs->by_pid.count < MAX_PROCESSES || procs->ended)
			procs_current(procs, pid);
		return;
	}
	if (!process->parent)
		process->parent = parent_read(pid);
	procs_read(procs, pid);
}

void procs_find_ended(struct procs *procs)
{
	struct process *process;
	uint32_t at = 0;

	while ((process = pid_table_next(&procs->by_pid, &at))) {
		if (process->exited || scan_exists(process->pid))
			continue;
		process->exited = true;
		process->exit_mono_ns = clock_mono_ns();
		procs_list(procs, process);
		procs_tell(procs, process);
	}
}

/* Waits whenever ASKED_TOGETHER readings are requested, because the queue is bounded. */
static int scan_one(uint32_t pid, void *ctx)
{
	struct procs *procs = ctx;

	procs_scan_pid(procs, pid);
	if (procs->reader && maps_reader_waiting(procs->reader) >= ASKED_TOGETHER)
		settle(procs);
	return 0;
}

int procs_scan(struct procs *procs)
{
	int err;

	procs->patience_ns = start_patience_ns;
	err = scan_all(scan_one, procs);
	settle(procs);
	procs_find_ended(procs);
	return err;
}

void procs_open_again(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);
	uint64_t now_ns = clock_mono_ns();

	if (!process || process->exited || now_ns < process->rest_until_ns ||
	    (process->reopened_ns && now_ns - process->reopened_ns < reopen_ns))
		return;
	process->reopened_ns = now_ns;
	if (!may_read_again(procs, owner_read(pid), now_ns))
		return;
	procs_read(procs, pid);
}
