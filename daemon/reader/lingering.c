/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "reader/lingering.h"

#include "reader/living.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct lingerer {
	pid_t pid;
	uint64_t user;
	char name[16];
};

static struct {
	pthread_mutex_t lock;
	size_t running; /* places taken by processes that were not killed yet */
	size_t count;
	struct lingerer processes[MAX_READER_PROCESSES];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void reap(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < all.count; i++)
		if (living_reap(all.processes[i].pid) == 0)
			all.processes[kept++] = all.processes[i];
	all.count = kept;
}

static void name_it(struct lingerer *lingerer, const char *name)
{
	snprintf(lingerer->name, sizeof(lingerer->name), "%s", name);
}

/* `user` 0: of any user. */
static size_t count_of(const char *name, uint64_t user)
{
	struct lingerer like;
	size_t count = 0;

	name_it(&like, name);
	for (size_t i = 0; i < all.count; i++)
		count += !strcmp(all.processes[i].name, like.name) &&
		         (!user || all.processes[i].user == user);
	return count;
}

int lingering_begin(const char *name)
{
	int err = 0;

	pthread_mutex_lock(&all.lock);
	reap();
	if (all.running + all.count >= MAX_READER_PROCESSES ||
	    count_of(name, 0) >= MAX_LINGERING_OF_NAME)
		err = -EBUSY;
	else
		all.running++;
	pthread_mutex_unlock(&all.lock);
	return err;
}

void lingering_end(const char *name, pid_t pid, uint64_t user)
{
	pthread_mutex_lock(&all.lock);
	all.running--;
	if (pid) {
		all.processes[all.count].pid = pid;
		all.processes[all.count].user = user;
		name_it(&all.processes[all.count++], name);
	}
	reap();
	pthread_mutex_unlock(&all.lock);
}

bool lingering_over(const char *name, uint64_t user)
{
	if (!user)
		return false;
	pthread_mutex_lock(&all.lock);
	reap();
	bool over = count_of(name, user) >= MAX_LINGERING_OF_USER;
	pthread_mutex_unlock(&all.lock);
	return over;
}

size_t lingering_reap(void)
{
	pthread_mutex_lock(&all.lock);
	reap();
	size_t count = all.count;
	pthread_mutex_unlock(&all.lock);
	return count;
}
