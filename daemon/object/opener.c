/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tickets are found by key, so that a file that many processes map at once is opened once. There
 * are two kinds of jobs: opening and closing.
 */
#include "object/opener.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/shares.h"
#include "base/table.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <utlist.h>

/* A busy disk answers within this time; a server that is gone does not. */
static const uint64_t deadline_ns = 2 * NSEC_PER_SEC;

/* What was given up because other jobs hang, because there are too many, or because descriptors or
 * memory were short, is tried again: after this time, then after twice as long each time. */
static const uint64_t first_rest_ns = 2 * NSEC_PER_SEC, longest_rest_ns = 10 * NSEC_PER_SEC;

/* The user is part of the key: with shared tickets one user could delay the files of another. So is
 * a hash of the path, for files that have the same numbers: kernel_file_has_doubles(). Hashed as
 * bytes. */
struct opening_key {
	struct file_key file;
	uint64_t user, path;
};

struct opening {
	struct crew_job job;
	struct opener *opener;
	uint32_t ticket, id;
	int err; /* of store_open() */
	struct opening_key key;
	struct place place; /* its path points to `path` below */
	char *path;
	UT_hash_handle hh; /* by key, where the file has an inode */
	/* While it is put off. */
	struct opening *prev, *next;
	uint64_t due_ns, rest_ns;
	uint64_t asked_boot_ns; /* the process of `place` existed then; CLOCK_BOOTTIME */
};

struct closing {
	struct crew_job job;
	struct object *object;
};

struct opener {
	struct opener_config config;
	struct crew *crew;
	struct opening *by_key;
	uint32_t last_ticket;
	struct buf opened;     /* struct opened, reported together */
	struct opening *later; /* those that are put off */
	struct shares later_shares;
	uv_timer_t timer;  /* for the next one that is due */
	uint64_t timer_ns; /* when it fires; 0: it is not armed */
};

static void opening_free(struct opening *opening)
{
	free(opening->path);
	free(opening);
}

static void open_one(struct crew_job *job)
{
	struct opening *opening = (struct opening *)job;

	/* Later the pid may be that of another process, with another root. Others hold the ticket,
	 * too, so the file is opened by its path then. */
	if (opening->rest_ns && reach_began_boot_ns(opening->place.pid) > opening->asked_boot_ns)
		opening->place.pid = 0;
	opening->err = store_open(opening->opener->config.store, &opening->key.file,
	                          &opening->place, &opening->id);
}

static void on_timer(uv_timer_t *timer);

static void arm(struct opener *opener, uint64_t due_ns, uint64_t now_ns)
{
	if (opener->timer_ns && opener->timer_ns <= due_ns)
		return;
	opener->timer_ns = due_ns;
	uv_timer_start(&opener->timer, on_timer,
	               due_ns > now_ns ? (due_ns - now_ns) / NSEC_PER_MSEC + 1 : 1, 0);
}

/* Keeps the ticket for another try. False: there are too many, or the opener was stopped. */
static bool put_off(struct opening *opening)
{
	struct opener *opener = opening->opener;
	uint64_t now_ns = clock_mono_ns();

	if (uv_is_closing((uv_handle_t *)&opener->timer))
		return false;
	if (!shares_take_beside_root(&opener->later_shares, opening->place.user, 1))
		return false;
	opening->rest_ns = opening->rest_ns ? 2 * opening->rest_ns : first_rest_ns;
	if (opening->rest_ns > longest_rest_ns)
		opening->rest_ns = longest_rest_ns;
	opening->due_ns = now_ns + opening->rest_ns;
	DL_APPEND(opener->later, opening);
	arm(opener, opening->due_ns, now_ns);
	return true;
}

static void opened_one(struct crew_job *job, int err)
{
	struct opening *opening = (struct opening *)job;
	struct opener *opener = opening->opener;
	const struct opened opened = {opening->ticket, err ? 0 : opening->id};

	if ((err == -ETIMEDOUT || (!err && opening->err == -EAGAIN)) && put_off(opening))
		return;
	if (opening->hh.tbl)
		HASH_DEL(opener->by_key, opening);
	store_redeem_ticket(opener->config.store, opened.ticket, opened.id);
	buf_add(&opener->opened, &opened, sizeof(opened));
	opening_free(opening);
}

static void close_one(struct crew_job *job)
{
	object_free(((struct closing *)job)->object);
}

static void closed_one(struct crew_job *job, int err)
{
	struct closing *closing = (struct closing *)job;

	/* The file system hangs, or the daemon is ending: the kernel closes the file when the
	 * daemon has ended. */
	if (err)
		object_abandon(closing->object);
	free(closing);
}

static void close_dead(struct opener *opener)
{
	struct object *object = object_take_dead(), *next;

	for (; object; object = next) {
		struct closing *closing = calloc(1, sizeof(*closing));

		next = object->next_dead;
		if (!closing) {
			object_abandon(object);
			continue;
		}
		closing->job = (struct crew_job){.owner = object->user,
		                                 .device = object->device,
		                                 .gives_back = true,
		                                 .run = close_one,
		                                 .done = closed_one};
		closing->object = object;
		if (crew_submit(opener->crew, &closing->job))
			closed_one(&closing->job, -EAGAIN);
	}
}

/* Reports all finished tickets at once, because a holder goes through all of its tickets. */
static void tell(void *ctx)
{
	struct opener *opener = ctx;
	struct buf opened = opener->opened;
	size_t count = opened.len / sizeof(struct opened);

	close_dead(opener);
	opener->opened = BUF_INIT;
	if (count) {
		qsort(opened.data, count, sizeof(struct opened), opened_compare);
		opener->config.opened((const struct opened *)opened.data, count,
		                      opener->config.ctx);
	}
	buf_release(&opened);
}

/* Tries again what is due. */
static void on_timer(uv_timer_t *timer)
{
	struct opener *opener = timer->data;
	uint64_t now_ns = clock_mono_ns();
	struct opening *opening, *next;

	opener->timer_ns = 0;
	for (opening = opener->later; opening; opening = next) {
		next = opening->next;
		if (opening->due_ns > now_ns) {
			arm(opener, opening->due_ns, now_ns);
			continue;
		}
		DL_DELETE(opener->later, opening);
		shares_give(&opener->later_shares, opening->place.user, 1);
		if (crew_submit(opener->crew, &opening->job))
			opened_one(&opening->job, -ETIMEDOUT);
	}
	tell(opener);
}

int opener_new(const struct opener_config *config, struct opener **ret_opener)
{
	_cleanup_free_ struct opener *opener = calloc(1, sizeof(*opener));
	int err;

	if (!opener)
		return -ENOMEM;
	opener->config = *config;
	err = crew_new(&(struct crew_config){.loop = config->loop,
	                                     .deadline_ns = deadline_ns,
	                                     .delivered = tell,
	                                     .ctx = opener},
	               &opener->crew);
	if (err)
		return err;
	uv_timer_init(config->loop, &opener->timer);
	opener->timer.data = opener;
	opener->later_shares.whole = OPENER_LATER;
	object_keep_dead(true);
	*ret_opener = TAKE_PTR(opener);
	return 0;
}

void opener_stop(struct opener *opener)
{
	uv_close((uv_handle_t *)&opener->timer, NULL);
	crew_stop(opener->crew);
}

void opener_free(struct opener *opener)
{
	struct object *object, *next;
	struct opening *opening, *next_opening;

	if (!opener)
		return;
	for (opening = opener->later; opening; opening = next_opening) {
		next_opening = opening->next;
		if (opening->hh.tbl)
			HASH_DEL(opener->by_key, opening);
		opening_free(opening);
	}
	shares_clear(&opener->later_shares);
	object_keep_dead(false);
	for (object = object_take_dead(); object; object = next) {
		next = object->next_dead;
		object_free(object);
	}
	buf_release(&opener->opened);
	crew_free(opener->crew);
	free(opener);
}

static struct opening *opening_new(struct opener *opener, const struct opening_key *key,
                                   const struct place *place)
{
	struct opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return NULL;
	*opening = (struct opening){
		.job = {.owner = place->user,
	                .device = makedev(key->file.major, key->file.minor),
	                .run = open_one,
	                .done = opened_one},
		.opener = opener,
		.key = *key,
		.place = *place,
	};
	opening->asked_boot_ns = clock_boot_ns();
	opening->place.path = opening->path = strdup(place->path);
	if (opening->path)
		return opening;
	free(opening);
	return NULL;
}

static uint32_t next_ticket(struct opener *opener)
{
	opener->last_ticket = (opener->last_ticket + 1) | 1U << 31;
	return opener->last_ticket;
}

uint32_t opener_open(struct opener *opener, const struct file_key *key, const struct place *place)
{
	const struct opening_key wanted = {
		.file = *key,
		.user = place->user,
		.path = XXH3_64bits_withSeed(place->path, strlen(place->path), hash_seed()),
	};
	struct opening *opening = NULL;
	uint32_t id;

	if (store_knows(opener->config.store, key, place->path, &id))
		return id;
	if (key->inode)
		HASH_FIND(hh, opener->by_key, &wanted, sizeof(wanted), opening);
	if (opening)
		return opening->ticket;
	opening = opening_new(opener, &wanted, place);
	if (!opening)
		return 0;
	opening->ticket = next_ticket(opener);
	if (crew_submit(opener->crew, &opening->job) && !put_off(opening)) {
		opening_free(opening);
		return 0;
	}
	store_begin_ticket(opener->config.store, opening->ticket, place->user);
	if (key->inode)
		HASH_ADD(hh, opener->by_key, key, sizeof(opening->key), opening);
	return opening->ticket;
}

void opener_settle(struct opener *opener)
{
	crew_settle(opener->crew, OPENER_PATIENCE_NS);
}

struct crew *opener_crew(struct opener *opener)
{
	return opener->crew;
}

void opener_get_stats(struct opener *opener, struct crew_stats *ret_stats)
{
	crew_get_stats(opener->crew, ret_stats);
}
