/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One thread serves the requests (asked.h). A downloaded file is there for all accounts that wait
 * for it. A failure holds for other accounts, too, unless the reason was that this account had no
 * bytes or room left.
 */
#include "fetch/fetch.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shares.h"
#include "base/thread.h"
#include "fetch/asked.h"
#include "fetch/budget.h"
#include "fetch/cache.h"
#include "fetch/download.h"
#include "fetch/library.h"
#include "fetch/room.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum {
	MAX_WAITING = 512, /* a single user may have half */
	/* For each user in an hour: more than the programs that a user builds, far fewer than would
	 * keep a server busy. Root's files are those of the host: a desktop maps a thousand. */
	MAX_QUESTIONS = 128,
	MAX_QUESTIONS_OF_ROOT = 4096,
};

/* When a file may be requested again: after no server had it, and after the download was lost. */
static const uint64_t missing_ns = 3600 * NSEC_PER_SEC, lost_ns = 60 * NSEC_PER_SEC;

/* The outcome of a download. */
struct outcome {
	int err;     /* 0: the file is in the cache */
	bool of_one; /* it may differ for another account */
};

struct fetch {
	struct downloads *downloads; /* used by the thread only */
	uint64_t max_file_bytes;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t changed;
	struct cache *cache;
	struct budget budget;
	struct shares places; /* in the queue */
	struct asked asked;
	struct fetch_stats stats;
	bool stopping, impossible;
};

bool fetch_possible(void)
{
	struct library library;

	return library_load(&library) == 0;
}

/* Releases the place in the queue. */
static void leave(struct fetch *fetch, const struct want *want)
{
	fetch->stats.waiting--;
	shares_give(&fetch->places, (uint32_t)want->key.account, 1);
}

/* Whether a download for another account has answered this request. */
static bool is_answered(struct fetch *fetch, const struct want *want)
{
	_cleanup_close_ int fd = cache_get(fetch->cache, want->key.build_id);

	return fd >= 0 ||
	       asked_is_missing(&fetch->asked, want->key.build_id, EVERYBODY, clock_mono_ns());
}

static bool is_no_room(int err)
{
	return err == -EDQUOT || err == -ENOSPC;
}

static void settle(struct fetch *fetch, struct want *want, struct outcome outcome)
{
	int err = outcome.err;
	bool lost = err == -EIO || err == -ECHILD || err == -ECANCELED;

	leave(fetch, want);
	fetch->stats.fetched += !err;
	fetch->stats.not_kept += is_no_room(err);
	fetch->stats.lost += lost;
	fetch->stats.over_budget += err == -EAGAIN;
	fetch->stats.missing += err && !lost && err != -EAGAIN && !is_no_room(err);
	if (err)
		asked_miss(&fetch->asked, want, outcome.of_one ? want->key.account : EVERYBODY,
		           clock_mono_ns() + (lost ? lost_ns : missing_ns));
	else
		asked_forget(&fetch->asked, want);
}

/* What is left of the user's budget; the bytes of a download are charged when their number is
 * known. */
static uint64_t max_bytes(struct fetch *fetch, uint32_t owner)
{
	uint64_t left = budget_bytes(&fetch->budget, owner, clock_mono_ns());

	return left < fetch->max_file_bytes ? left : fetch->max_file_bytes;
}

/* Called with the lock held; releases it while servers are queried. */
static int download(struct fetch *fetch, const struct want *want, struct downloaded *got)
{
	uint32_t account = (uint32_t)want->key.account;
	int fd = cache_begin(fetch->cache), err;

	if (fd < 0)
		return fd;
	pthread_mutex_unlock(&fetch->lock);
	err = downloads_run(fetch->downloads, want->key.build_id, fd, got);
	pthread_mutex_lock(&fetch->lock);
	fetch->stats.received_bytes += got->received;
	budget_charge(&fetch->budget, account, got->received, clock_mono_ns());
	if (err == 0)
		return cache_keep(fetch->cache, want->key.build_id, account, got->written);
	cache_drop(fetch->cache);
	return err;
}

/* Likewise. -EAGAIN: the account's budget is used up. */
static struct outcome serve(struct fetch *fetch, const struct want *want)
{
	struct downloaded got = {.max_bytes = max_bytes(fetch, (uint32_t)want->key.account)};
	bool is_less = got.max_bytes < fetch->max_file_bytes;
	int err = got.max_bytes ? download(fetch, want, &got) : -EAGAIN;

	if (err == -EFBIG && is_less)
		err = -EAGAIN;
	/* If a server does not announce the size, a file larger than what is left of the budget
	 * breaks off like any failed download: then only -ENOENT is certain to hold for other
	 * accounts. */
	return (struct outcome){err, is_no_room(err) || (is_less && err != -ENOENT)};
}

static bool check_possible(struct fetch *fetch)
{
	int err = downloads_try(fetch->downloads);

	/* Any other error may not recur. */
	if (err != -ELIBACC)
		return true;
	log_warning("libdebuginfod was not found: debug files are not downloaded");
	return false;
}

static void *run(void *arg)
{
	struct fetch *fetch = arg;
	bool possible = check_possible(fetch);

	pthread_mutex_lock(&fetch->lock);
	fetch->impossible = !possible;
	while (!fetch->stopping) {
		struct want *want = possible ? asked_next(&fetch->asked) : NULL;

		if (!want) {
			pthread_cond_wait(&fetch->changed, &fetch->lock);
		} else if (is_answered(fetch, want)) {
			leave(fetch, want);
			asked_forget(&fetch->asked, want);
		} else {
			settle(fetch, want, serve(fetch, want));
		}
	}
	pthread_mutex_unlock(&fetch->lock);
	return NULL;
}

static int start(struct fetch *fetch)
{
	int err = thread_start(&fetch->thread, run, fetch);

	fetch->started = !err;
	return err;
}

static int set_up(struct fetch *fetch, const struct fetch_config *config)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH");
	uint64_t half = config->max_bytes / 2;

	/* Set by systemd. */
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
	asked_release(&fetch->asked);
	downloads_free(fetch->downloads);
	cache_free(fetch->cache);
	budget_release(&fetch->budget);
	shares_clear(&fetch->places);
	pthread_mutex_destroy(&fetch->lock);
	pthread_cond_destroy(&fetch->changed);
	free(fetch);
}

static int ask(struct fetch *fetch, const char *build_id, uint32_t account)
{
	if (!shares_take(&fetch->places, account, 1)) {
		fetch->stats.refused++;
		return -EAGAIN;
	}
	if (!budget_ask(&fetch->budget, account, clock_mono_ns())) {
		shares_give(&fetch->places, account, 1);
		fetch->stats.over_budget++;
		return -EDQUOT;
	}
	if (!asked_add(&fetch->asked, build_id, account)) {
		shares_give(&fetch->places, account, 1);
		return -ENOMEM;
	}
	fetch->stats.waiting++;
	pthread_cond_signal(&fetch->changed);
	return -EINPROGRESS;
}

static int look_up(struct fetch *fetch, const char *build_id, uint32_t account)
{
	uint64_t now_ns = clock_mono_ns();
	int fd = cache_get(fetch->cache, build_id);

	if (fd >= 0)
		return fd;
	if (fetch->impossible || asked_is_missing(&fetch->asked, build_id, EVERYBODY, now_ns) ||
	    asked_is_missing(&fetch->asked, build_id, account, now_ns))
		return -ENOENT;
	if (asked_find(&fetch->asked, build_id, account))
		return -EINPROGRESS;
	return ask(fetch, build_id, account);
}

int fetch_debug(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	size_t len = strspn(build_id, "0123456789abcdef");
	int result;

	/* The build ID becomes part of a file name. */
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
