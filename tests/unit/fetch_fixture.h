/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For tests of struct fetch: a cache of their own, servers on loopback, and waiting for what came.
 */
#pragma once

#include "fetch/fetch.h"

#include <pthread.h>

enum { ROOT = 0, ALICE = 1000, BOB = 1001 };

/* The cache, for DEBUGINFOD_CACHE_PATH. */
void fetch_set_up(void);
void fetch_tear_down(void);
const char *fetch_cache_path(void);

/* A socket on loopback and its URL; nobody accepts there. */
int listen_anywhere(char url[64]);
struct fetch *fetch_from(const char *url, uint64_t max_bytes);
/* What is said to him when it is on its way no longer. */
int settled(struct fetch *fetch, const char *build_id, uint32_t owner);

/* A server in a thread: what it was asked for, as the first two digits of each, and how it answers
 * that. */
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
/* It does not have it. */
void answer_nothing(struct file_server *server, int fd, const char *build_id);
