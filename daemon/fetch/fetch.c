/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One thread, one queue, one table of what was asked for. An entry lives from the first question
 * until its file is in the cache, or until it is time to ask the servers again.
 */
#include "fetch/fetch.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shares.h"
#include "fetch/budget.h"
#include "fetch/cache.h"
#include "fetch/download.h"
#include "fetch/library.h"
#include "fetch/room.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

enum {
	MAX_ENTRIES = 4096, /* files that are waited for, or that no server has */
	MAX_WAITING = 512,  /* a user alone may have half */
	/* Of a user in an hour: more than the programs that he builds himself, far less than keeps
	 * a server busy. Root's are those of the host: a desktop maps a thousand. */
	MAX_QUESTIONS = 128,
	MAX_QUESTIONS_OF_ROOT = 4096,
};

/* When to ask for the same again: for what no server has, and for what was lost on the way. */
static const uint64_t missing_ns = 3600 * NSEC_PER_SEC, lost_ns = 60 * NSEC_PER_SEC;

struct entry {
	char build_id[2 * MAX_BUILD_ID_BYTES + 1];
	uint32_t owner;
	bool waiting;
	uint64_t again_ns;         /* else: when it may be asked for again */
	struct entry *prev, *next; /* in the queue */
	UT_hash_handle hh;
};

struct fetch {
	struct downloads *downloads; /* the thread's */
	uint64_t max_file_bytes;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* everything below */
	pthread_cond_t changed;
	struct cache *cache;
	struct budget budget;
	struct shares places; /* in the queue */
	struct entry *entries, *queue;
	struct fetch_stats stats;
	bool stopping, impossible;
};

bool fetch_possible(void)
{
	struct library library;

	return library_load(&library) == 0;
}

/* Users take turns: what he has left who has this one goes behind what others have. */
static struct entry *take_next(struct fetch *fetch)
{
	struct entry *taken = fetch->queue, *entry, *next, *kept = NULL;

	if (!taken)
		return NULL;
	DL_DELETE(fetch->queue, taken);
	for (entry = fetch->queue; entry; entry = next) {
		next = entry->next;
		if (entry->owner != taken->owner)
			continue;
		DL_DELETE(fetch->queue, entry);
		DL_APPEND(kept, entry);
	}
	DL_CONCAT(fetch->queue, kept);
	return taken;
}

static void forget(struct fetch *fetch, struct entry *entry)
{
	HASH_DEL(fetch->entries, entry);
	free(entry);
}

/* `err` is 0 where the file is in the cache. */
static void settle(struct fetch *fetch, struct entry *entry, int err)
{
	bool lost = err == -EIO || err == -ECHILD || err == -ECANCELED;

	fetch->stats.waiting--;
	shares_give(&fetch->places, entry->owner, 1);
	fetch->stats.fetched += !err;
	fetch->stats.not_kept += err == -EDQUOT || err == -ENOSPC;
	fetch->stats.lost += lost;
	fetch->stats.over_budget += err == -EAGAIN;
	fetch->stats.missing += err && !lost && err != -EAGAIN && err != -EDQUOT && err != -ENOSPC;
	entry->waiting = false;
	entry->again_ns = clock_mono_ns() + (lost ? lost_ns : missing_ns);
	if (!err)
		forget(fetch, entry);
}

/* What is left of the user's budget: what he receives now is taken off when it is known. */
static uint64_t max_bytes(struct fetch *fetch, uint32_t owner)
{
	uint64_t left = budget_bytes(&fetch->budget, owner, clock_mono_ns());

	return left < fetch->max_file_bytes ? left : fetch->max_file_bytes;
}

/* With the lock, which is given up while the servers are asked. -EAGAIN: it was enough for the
 * user.
 */
static int serve(struct fetch *fetch, const struct entry *entry)
{
	struct downloaded got = {.max_bytes = max_bytes(fetch, entry->owner)};
	int fd = got.max_bytes ? cache_begin(fetch->cache) : -EAGAIN, err;

	if (fd < 0)
		return fd;
	pthread_mutex_unlock(&fetch->lock);
	err = downloads_run(fetch->downloads, entry->build_id, fd, &got);
	pthread_mutex_lock(&fetch->lock);
	fetch->stats.received_bytes += got.received;
	budget_charge(&fetch->budget, entry->owner, got.received, clock_mono_ns());
	if (err == 0)
		return cache_keep(fetch->cache, entry->build_id, entry->owner, got.written);
	cache_drop(fetch->cache);
	if (err == -EFBIG && got.max_bytes < fetch->max_file_bytes)
		return -EAGAIN;
	return err;
}

static bool check_possible(struct fetch *fetch)
{
	int err = downloads_try(fetch->downloads);

	/* Anything else may be better the next time. */
	if (err != -ELIBACC)
		return true;
	log_warning("no libdebuginfod here: debug files are not fetched, going on");
	return false;
}

static void *run(void *arg)
{
	struct fetch *fetch = arg;
	bool possible = check_possible(fetch);

	pthread_mutex_lock(&fetch->lock);
	fetch->impossible = !possible;
	while (!fetch->stopping) {
		struct entry *entry = possible ? take_next(fetch) : NULL;

		if (entry)
			settle(fetch, entry, serve(fetch, entry));
		else
			pthread_cond_wait(&fetch->changed, &fetch->lock);
	}
	pthread_mutex_unlock(&fetch->lock);
	return NULL;
}

static int start(struct fetch *fetch)
{
	sigset_t all, before;

	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(&fetch->thread, NULL, run, fetch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	fetch->started = !err;
	return -err;
}

static int set_up(struct fetch *fetch, const struct fetch_config *config)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH");
	uint64_t half = config->max_bytes / 2;

	/* Of systemd. */
	if (!path)
		path = getenv("CACHE_DIRECTORY");
	int err = cache_open(path ? path : "/var/cache/profd", config->max_bytes, &fetch->cache);
	if (err)
		return err;
	int room = room_open(cache_folder(fetch->cache));
	if (room < 0)
		return room;
	fetch->max_file_bytes = half < MAX_DEBUG_FILE_BYTES ? half : MAX_DEBUG_FILE_BYTES;
	fetch->budget.bytes = fetch->max_file_bytes;
	fetch->budget.questions = MAX_QUESTIONS;
	fetch->budget.root_questions = MAX_QUESTIONS_OF_ROOT;
	fetch->places.whole = MAX_WAITING;
	fetch->downloads = downloads_new(config->program, config->servers, room);
	return fetch->downloads ? start(fetch) : -ENOMEM;
}

int fetch_new(const struct fetch_config *config, struct fetch **ret_fetch)
{
	_cleanup_(fetch_freep) struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		return -ENOMEM;
	pthread_cond_init(&fetch->changed, NULL);
	pthread_mutex_init(&fetch->lock, NULL);
	int err = set_up(fetch, config);
	if (err)
		return err;
	*ret_fetch = TAKE_PTR(fetch);
	return 0;
}

void fetch_free(struct fetch *fetch)
{
	if (!fetch)
		return;
	if (fetch->started) {
		pthread_mutex_lock(&fetch->lock);
		fetch->stopping = true;
		pthread_cond_signal(&fetch->changed);
		pthread_mutex_unlock(&fetch->lock);
		downloads_cancel(fetch->downloads);
		pthread_join(fetch->thread, NULL);
	}
	while (fetch->entries)
		forget(fetch, fetch->entries);
	downloads_free(fetch->downloads);
	cache_free(fetch->cache);
	budget_release(&fetch->budget);
	shares_clear(&fetch->places);
	pthread_mutex_destroy(&fetch->lock);
	pthread_cond_destroy(&fetch->changed);
	free(fetch);
}

static void make_room(struct fetch *fetch)
{
	struct entry *entry, *next;

	if (HASH_COUNT(fetch->entries) < MAX_ENTRIES)
		return;
	/* In the order in which they were asked for. */
	HASH_ITER (hh, fetch->entries, entry, next) {
		if (entry->waiting)
			continue;
		forget(fetch, entry);
		return;
	}
}

static struct entry *add_entry(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	snprintf(entry->build_id, sizeof(entry->build_id), "%s", build_id);
	entry->owner = owner;
	entry->waiting = true;
	HASH_ADD_STR(fetch->entries, build_id, entry);
	if (entry->hh.tbl)
		return entry;
	free(entry);
	return NULL;
}

static int ask(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	struct entry *entry;

	if (!shares_take(&fetch->places, owner, 1)) {
		fetch->stats.refused++;
		return -EAGAIN;
	}
	if (!budget_ask(&fetch->budget, owner, clock_mono_ns())) {
		shares_give(&fetch->places, owner, 1);
		fetch->stats.over_budget++;
		return -EDQUOT;
	}
	make_room(fetch);
	entry = add_entry(fetch, build_id, owner);
	if (!entry) {
		shares_give(&fetch->places, owner, 1);
		return -ENOMEM;
	}
	DL_APPEND(fetch->queue, entry);
	fetch->stats.waiting++;
	pthread_cond_signal(&fetch->changed);
	return -EINPROGRESS;
}

static int look_up(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	struct entry *entry;
	int fd = cache_get(fetch->cache, build_id);

	if (fd >= 0)
		return fd;
	HASH_FIND_STR(fetch->entries, build_id, entry);
	if (entry && entry->waiting)
		return -EINPROGRESS;
	if (fetch->impossible || (entry && clock_mono_ns() < entry->again_ns))
		return -ENOENT;
	if (entry)
		forget(fetch, entry);
	return ask(fetch, build_id, owner);
}

int fetch_debug(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	size_t len = strspn(build_id, "0123456789abcdef");
	int result;

	/* It becomes the name of a file. */
	if (!len || build_id[len] || len > 2 * (size_t)MAX_BUILD_ID_BYTES)
		return -EINVAL;
	pthread_mutex_lock(&fetch->lock);
	result = look_up(fetch, build_id, account_of(owner));
	pthread_mutex_unlock(&fetch->lock);
	return result;
}

void fetch_get_stats(struct fetch *fetch, struct fetch_stats *ret_stats)
{
	struct cache_stats cache;

	pthread_mutex_lock(&fetch->lock);
	*ret_stats = fetch->stats;
	cache_get_stats(fetch->cache, &cache);
	pthread_mutex_unlock(&fetch->lock);
	ret_stats->cache_files = cache.files;
	ret_stats->cache_bytes = cache.bytes;
	ret_stats->cache_evicted = cache.evicted;
}
