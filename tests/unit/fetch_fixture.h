/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For tests of struct fetch: a separate cache, servers on loopback, and waiting for results.
 */
#pragma once

#include "fetch/fetch.h"

#include <pthread.h>

enum { ROOT = 0, ALICE = 1000, BOB = 1001 };

/* Creates the cache, and sets DEBUGINFOD_CACHE_PATH to it. */
void fetch_set_up(void);
void fetch_tear_down(void);
const char *fetch_cache_path(void);

/* A socket bound to loopback, and its URL. It does not listen. */
int listen_anywhere(char url[64]);
struct fetch *fetch_from(const char *url, uint64_t max_bytes);
/* Calls fetch_debug() for this owner until the file is no longer being fetched; returns the last
 * result. */
int settled(struct fetch *fetch, const char *build_id, uint32_t owner);

/* A server that runs in a thread. `digits` collects the first two digits of each requested build
 * ID; `answer` answers a request. */
struct file_server {
	int listener;
	char url[64];
	pthread_t thread;
	void (*answer)(struct file_server *server, int fd, const char *build_id);
	char digits[64];
	bool says_no_length;
};

void file_server_start(struct file_server *server);
void file_server_stop(struct file_server *server);
/* Answers with 404. */
void answer_nothing(struct file_server *server, int fd, const char *build_id);
