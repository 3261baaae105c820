/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "reader/living.h"

#include "base/clock.h"
#include "reader/process_time.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct {
	pthread_mutex_t lock;
	size_t count;
	pid_t pids[MAX_READER_PROCESSES];
	uint64_t told_ns;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void living_add(pid_t pid)
{
	pthread_mutex_lock(&all.lock);
	if (all.count < MAX_READER_PROCESSES)
		all.pids[all.count++] = pid;
	pthread_mutex_unlock(&all.lock);
}

static void forget(pid_t pid)
{
	for (size_t i = 0; i < all.count; i++) {
		if (all.pids[i] == pid) {
			all.pids[i] = all.pids[--all.count];
			return;
		}
	}
}

pid_t living_reap(pid_t pid)
{
	pid_t dead;

	pthread_mutex_lock(&all.lock);
	dead = waitpid(pid, NULL, WNOHANG);
	if (dead)
		forget(pid);
	pthread_mutex_unlock(&all.lock);
	return dead;
}

size_t living_pids(pid_t ret_pids[MAX_READER_PROCESSES])
{
	size_t count;

	pthread_mutex_lock(&all.lock);
	count = all.count;
	memcpy(ret_pids, all.pids, count * sizeof(*ret_pids));
	pthread_mutex_unlock(&all.lock);
	return count;
}

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_usec * NSEC_PER_USEC;
}

static uint64_t ended_ns(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_CHILDREN, &usage);
	return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

/* The kernel reports the time of ended processes in whole microseconds, so the sum could
 * decrease. */
uint64_t living_cpu_ns(void)
{
	uint64_t ns;

	pthread_mutex_lock(&all.lock);
	ns = ended_ns();
	for (size_t i = 0; i < all.count; i++)
		ns += process_cpu_ns(all.pids[i]);
	if (all.told_ns < ns)
		all.told_ns = ns;
	ns = all.told_ns;
	pthread_mutex_unlock(&all.lock);
	return ns;
}
