/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One thread, one queue, one table of what was asked for. An entry lives from the first question
 * until its descriptor is handed over, or until it is time to ask the servers again.
 */
#include "symbolize/fetch.h"

#include "base/bounds.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

enum {
	MAX_ENTRIES = 4096, /* files without an answer of the servers, or with one not taken */
	MAX_WAITING = 256,
	MAX_TRIES = 3,
};

#define ASK_AGAIN_NS (3600 * NSEC_PER_SEC)
/* How long ending waits for the library to notice. */
#define PATIENCE_NS (200 * NSEC_PER_MSEC)

enum state { STATE_WAITING, STATE_FETCHED, STATE_MISSING };

struct entry {
	char build_id[2 * MAX_BUILD_ID_BYTES + 1];
	enum state state;
	int fd;                    /* STATE_FETCHED */
	uint64_t settled_ns;       /* STATE_MISSING: since when */
	struct entry *prev, *next; /* in the queue */
	UT_hash_handle hh;
};

struct library {
	void *handle;
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_set_verbose_fd) *set_verbose_fd;
};

struct fetch {
	struct library library;
	debuginfod_client *client; /* the thread's */
	int nowhere;               /* what it would tell people */
	pthread_t thread;
	pthread_mutex_t lock; /* everything below */
	pthread_cond_t changed;
	struct entry *entries, *queue;
	struct fetch_stats stats;
	bool stopping; /* also read without the lock */
	bool ended;
};

static int load(struct library *library)
{
	static const char soname[] = DEBUGINFOD_SONAME;

	library->handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ENOENT;
#define FUNCTION(name)                                                          \
	*(void **)&library->name = dlsym(library->handle, "debuginfod_" #name); \
	if (!library->name)                                                     \
		return -ENOENT;
	FUNCTION(begin)
	FUNCTION(end)
	FUNCTION(find_debuginfo)
	FUNCTION(set_progressfn)
	FUNCTION(set_verbose_fd)
#undef FUNCTION
	return 0;
}

bool fetch_possible(void)
{
	struct library library = {0};
	int err = load(&library);

	if (library.handle)
		dlclose(library.handle);
	return !err;
}

/* What the operator has set stays, but for the library's own further tries: after a download that
 * broke off they read what it has freed, and write behind what it has written (0.188 and later,
 * debuginfod-client.c, query_in_parallel). */
static void configure(const char *servers)
{
	const char *cache = getenv("CACHE_DIRECTORY"); /* of systemd */

	setenv(DEBUGINFOD_URLS_ENV_VAR, servers, 1);
	setenv(DEBUGINFOD_CACHE_PATH_ENV_VAR, cache ? cache : "/var/cache/profd", 0);
	setenv(DEBUGINFOD_MAXTIME_ENV_VAR, "600", 0);
	setenv(DEBUGINFOD_MAXSIZE_ENV_VAR, "2147483648", 0);
	setenv(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0", 1);
	unsetenv(DEBUGINFOD_PROGRESS_ENV_VAR);
}

/* The library hands its callback nothing that leads here without another call to it. */
static _Thread_local const bool *stop;

/* Called while the library waits; anything but 0 breaks off. */
static int keep_going(debuginfod_client *client, long done, long total)
{
	(void)client;
	(void)done;
	(void)total;
	return __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Whether another try may help: that no server has it, or that it is too large, stays so. */
static bool may_come_yet(int fd)
{
	return fd < 0 && fd != -ENOENT && fd != -EFBIG && !__atomic_load_n(stop, __ATOMIC_RELAXED);
}

static int download(struct fetch *fetch, const char *build_id)
{
	int fd = -EIO;

	/* A length of 0 says that it is text. */
	for (int i = 0; i < MAX_TRIES && may_come_yet(fd); i++)
		fd = fetch->library.find_debuginfo(fetch->client, (const unsigned char *)build_id,
		                                   0, NULL);
	return fd;
}

static void settle(struct fetch *fetch, struct entry *entry, int fd)
{
	entry->fd = fd;
	entry->state = fd >= 0 ? STATE_FETCHED : STATE_MISSING;
	entry->settled_ns = clock_mono_ns();
	fetch->stats.waiting--;
	if (fd >= 0)
		fetch->stats.fetched++;
	else
		fetch->stats.missing++;
}

static void *run(void *arg)
{
	struct fetch *fetch = arg;

	stop = &fetch->stopping;
	fetch->library.set_progressfn(fetch->client, keep_going);
	pthread_mutex_lock(&fetch->lock);
	while (!fetch->stopping) {
		struct entry *entry = fetch->queue;

		if (!entry) {
			pthread_cond_wait(&fetch->changed, &fetch->lock);
			continue;
		}
		DL_DELETE(fetch->queue, entry);
		pthread_mutex_unlock(&fetch->lock);
		int fd = download(fetch, entry->build_id);
		pthread_mutex_lock(&fetch->lock);
		settle(fetch, entry, fd);
	}
	fetch->ended = true;
	pthread_cond_signal(&fetch->changed);
	pthread_mutex_unlock(&fetch->lock);
	return NULL;
}

static int start(struct fetch *fetch)
{
	pthread_condattr_t attributes;
	sigset_t all, before;

	fetch->client = fetch->library.begin();
	if (!fetch->client)
		return -ENOMEM;
	/* Version 0.188 prints, told to or not, that there is a limit of size. Printing to no file
	 * at all costs 8 KiB, which glibc does not give back, each time. */
	fetch->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fetch->nowhere >= 0)
		fetch->library.set_verbose_fd(fetch->client, fetch->nowhere);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&fetch->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&fetch->lock, NULL);
	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(&fetch->thread, NULL, run, fetch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void release(struct fetch *fetch)
{
	struct entry *entry, *next;

	HASH_ITER (hh, fetch->entries, entry, next) {
		HASH_DEL(fetch->entries, entry);
		if (entry->state == STATE_FETCHED)
			close(entry->fd);
		free(entry);
	}
	if (fetch->client)
		fetch->library.end(fetch->client);
	closep(&fetch->nowhere);
	/* The library stays: what it is made of was never meant to be unloaded. */
	free(fetch);
}

int fetch_new(const char *servers, struct fetch **ret_fetch)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	int err;

	if (!fetch)
		return -ENOMEM;
	fetch->nowhere = -1;
	configure(servers);
	err = load(&fetch->library);
	if (!err)
		err = start(fetch);
	if (err) {
		release(fetch);
		return err;
	}
	*ret_fetch = fetch;
	return 0;
}

/* Whether the thread has ended, after a moment. */
static bool wait_ended(struct fetch *fetch)
{
	uint64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
	                         .tv_nsec = (long)(until_ns % NSEC_PER_SEC)};

	while (!fetch->ended)
		if (pthread_cond_timedwait(&fetch->changed, &fetch->lock, &until))
			break;
	return fetch->ended;
}

void fetch_free(struct fetch *fetch)
{
	bool ended;

	if (!fetch)
		return;
	pthread_mutex_lock(&fetch->lock);
	__atomic_store_n(&fetch->stopping, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&fetch->changed);
	ended = wait_ended(fetch);
	pthread_mutex_unlock(&fetch->lock);
	/* A library that is waiting for a silent server looks up once a second. Nobody waits for
	 * that: the thread holds nothing that the end of the process does not give back. */
	if (!ended) {
		pthread_detach(fetch->thread);
		return;
	}
	pthread_join(fetch->thread, NULL);
	release(fetch);
}

static bool is_old(const struct entry *entry)
{
	return entry->state == STATE_MISSING && clock_mono_ns() - entry->settled_ns > ASK_AGAIN_NS;
}

static void make_room(struct fetch *fetch)
{
	struct entry *entry, *next;

	if (HASH_COUNT(fetch->entries) < MAX_ENTRIES)
		return;
	/* In the order in which they were asked for. */
	HASH_ITER (hh, fetch->entries, entry, next) {
		if (entry->state == STATE_WAITING)
			continue;
		if (entry->state == STATE_FETCHED)
			close(entry->fd);
		HASH_DEL(fetch->entries, entry);
		free(entry);
		return;
	}
}

static int ask(struct fetch *fetch, const char *build_id)
{
	struct entry *entry;

	if (fetch->stats.waiting >= MAX_WAITING) {
		fetch->stats.refused++;
		return -EAGAIN;
	}
	make_room(fetch);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	snprintf(entry->build_id, sizeof(entry->build_id), "%s", build_id);
	HASH_ADD_STR(fetch->entries, build_id, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return -ENOMEM;
	}
	DL_APPEND(fetch->queue, entry);
	fetch->stats.waiting++;
	pthread_cond_signal(&fetch->changed);
	return -EINPROGRESS;
}

static int look_up(struct fetch *fetch, const char *build_id)
{
	struct entry *entry;
	int fd;

	HASH_FIND_STR(fetch->entries, build_id, entry);
	if (entry && entry->state == STATE_WAITING)
		return -EINPROGRESS;
	if (entry && entry->state == STATE_MISSING && !is_old(entry))
		return -ENOENT;
	if (!entry)
		return ask(fetch, build_id);
	fd = entry->state == STATE_FETCHED ? entry->fd : -1;
	HASH_DEL(fetch->entries, entry);
	free(entry);
	return fd >= 0 ? fd : ask(fetch, build_id);
}

int fetch_debug(struct fetch *fetch, const char *build_id)
{
	int result;

	pthread_mutex_lock(&fetch->lock);
	result = look_up(fetch, build_id);
	pthread_mutex_unlock(&fetch->lock);
	return result;
}

void fetch_get_stats(struct fetch *fetch, struct fetch_stats *ret_stats)
{
	pthread_mutex_lock(&fetch->lock);
	*ret_stats = fetch->stats;
	pthread_mutex_unlock(&fetch->lock);
}
