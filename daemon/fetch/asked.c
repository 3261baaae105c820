/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One table by build ID and account, in the order in which entries were added or their downloads
 * failed.
 */
#include "fetch/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

enum { MAX_WANTS = 4096 /* files that are waited for, or could not be had */ };

static struct want_key key_of(const char *build_id, uint64_t account)
{
	struct want_key key = {.account = account};

	snprintf(key.build_id, sizeof(key.build_id), "%s", build_id);
	return key;
}

/* False: out of memory; the entry is freed. */
static bool insert(struct asked *asked, struct want *want)
{
	HASH_ADD(hh, asked->wants, key, sizeof(want->key), want);
	if (want->hh.tbl)
		return true;
	free(want);
	return false;
}

void asked_forget(struct asked *asked, struct want *want)
{
	HASH_DEL(asked->wants, want);
	free(want);
}

struct want *asked_find(const struct asked *asked, const char *build_id, uint64_t account)
{
	struct want_key key = key_of(build_id, account);
	struct want *want;

	HASH_FIND(hh, asked->wants, &key, sizeof(key), want);
	return want;
}

static void make_room(struct asked *asked)
{
	struct want *want, *next;

	if (HASH_COUNT(asked->wants) < MAX_WANTS)
		return;
	HASH_ITER (hh, asked->wants, want, next) {
		if (want->waiting)
			continue;
		asked_forget(asked, want);
		return;
	}
}

struct want *asked_add(struct asked *asked, const char *build_id, uint64_t account)
{
	struct want *want;

	make_room(asked);
	want = calloc(1, sizeof(*want));
	if (!want)
		return NULL;
	want->key = key_of(build_id, account);
	want->waiting = true;
	if (!insert(asked, want))
		return NULL;
	DL_APPEND(asked->queue, want);
	return want;
}

/* The account's other entries move behind those of other accounts. */
struct want *asked_next(struct asked *asked)
{
	struct want *taken = asked->queue, *want, *next, *kept = NULL;

	if (!taken)
		return NULL;
	DL_DELETE(asked->queue, taken);
	for (want = asked->queue; want; want = next) {
		next = want->next;
		if (want->key.account != taken->key.account)
			continue;
		DL_DELETE(asked->queue, want);
		DL_APPEND(kept, want);
	}
	DL_CONCAT(asked->queue, kept);
	return taken;
}

void asked_miss(struct asked *asked, struct want *want, uint64_t account, uint64_t again_ns)
{
	struct want *before;

	want->waiting = false;
	want->again_ns = again_ns;
	HASH_DEL(asked->wants, want);
	want->key.account = account;
	before = asked_find(asked, want->key.build_id, account);
	if (before)
		asked_forget(asked, before);
	insert(asked, want);
}

bool asked_is_missing(struct asked *asked, const char *build_id, uint64_t account, uint64_t now_ns)
{
	struct want *want = asked_find(asked, build_id, account);

	if (!want || want->waiting)
		return false;
	if (now_ns < want->again_ns)
		return true;
	asked_forget(asked, want);
	return false;
}

void asked_release(struct asked *asked)
{
	while (asked->wants)
		asked_forget(asked, asked->wants);
	asked->queue = NULL;
}
