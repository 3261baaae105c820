/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: for each line of input it prints the CPU time used so far in seconds, by its own clocks:
 * that of all its threads, and the part within work(). Each thread calls work(), then rest(), then
 * waits:
 *
 *   timed sleep US [THREADS]   a random time of up to US microseconds
 *   timed every US [THREADS]   US microseconds
 *   timed timer HZ [THREADS]   until the next tick of a timer with absolute times
 *   timed pipe BYTES [THREADS] for another process, which returns the BYTES written to it
 *   timed never 0 [THREADS]    not at all
 */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORK = 60000, REST = 40000, MAX_THREADS = 16, MAX_BYTES = 4096, EMPTIES = 1000 };

struct wait {
	const char *name;
	void (*wait)(uint64_t *state);
};

static uint64_t number, work_ns;
static int to_other[2], from_other[2];

static __attribute__((noipa)) void work(void)
{
	WORK(WORK);
}

static __attribute__((noipa)) void rest(void)
{
	WORK(REST);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void wait_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1;
	struct timespec time = time_of((*state >> 33) % (number * 1000));

	nanosleep(&time, NULL);
}

static void wait_every(uint64_t *state)
{
	struct timespec time = time_of(number * 1000);

	(void)state;
	nanosleep(&time, NULL);
}

static void wait_timer(uint64_t *state)
{
	uint64_t period = 1000000000 / number;

	if (!*state)
		*state = now_ns(CLOCK_MONOTONIC);
	while (*state <= now_ns(CLOCK_MONOTONIC))
		*state += period;
	struct timespec time = time_of(*state);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void wait_pipe(uint64_t *state)
{
	char bytes[MAX_BYTES];

	memset(bytes, (int)*state, sizeof(bytes));
	if (write(to_other[1], bytes, number) != (ssize_t)number ||
	    read(from_other[0], bytes, number) != (ssize_t)number)
		exit(1);
}

static void wait_never(uint64_t *state)
{
	(void)state;
}

static const struct wait waits[] = {
	{"sleep", wait_random}, {"every", wait_every}, {"timer", wait_timer},
	{"pipe", wait_pipe},    {"never", wait_never},
};

/* The time between two readings of the clock, which is subtracted from that of work(). */
static uint64_t empty_ns(void)
{
	uint64_t sum = 0, begin;

	for (int i = 0; i < EMPTIES; i++) {
		begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		sum += now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	}
	return sum / EMPTIES;
}

static void *run(void *wait)
{
	uint64_t state = 0, empty = empty_ns(), begin, end;

	for (;;) {
		/* Discarded: the first reading after a sleep takes some us due to cold caches. */
		now_ns(CLOCK_THREAD_CPUTIME_ID);
		begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		work();
		end = now_ns(CLOCK_THREAD_CPUTIME_ID);
		__atomic_fetch_add(&work_ns, end - begin - empty, __ATOMIC_RELAXED);
		rest();
		((const struct wait *)wait)->wait(&state);
	}
	return NULL;
}

/* Starts the process that echoes what it receives. */
static void start_other(void)
{
	char bytes[MAX_BYTES];
	ssize_t got;

	if (pipe(to_other) || pipe(from_other))
		exit(1);
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((got = read(to_other[0], bytes, sizeof(bytes))) > 0)
		if (write(from_other[1], bytes, (size_t)got) != got)
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 1;
	const struct wait *wait = NULL;
	pthread_t thread;
	char line[64];

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (argc > 2 && !strcmp(argv[1], waits[i].name))
			wait = &waits[i];
	number = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	if (!wait || threads < 1 || threads > MAX_THREADS || number > 1000000)
		return 64;
	if (wait->wait == wait_pipe && number <= MAX_BYTES)
		start_other();
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, run, (void *)wait))
			return 1;
	say_ready();
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t within = __atomic_load_n(&work_ns, __ATOMIC_RELAXED);

		printf("%.9f %.9f\n", seconds_now(CLOCK_PROCESS_CPUTIME_ID), (double)within / 1e9);
		fflush(stdout);
	}
	return 0;
}
