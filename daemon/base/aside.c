/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One thread waits for the next call. A thread that is left behind frees its call and ends.
 */
#include "base/aside.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <utlist.h>

enum { STACK_BYTES = 256 * 1024, MAX_DEBTORS = 1024, PART = 20 };

/* A call that takes longer is slow, and its time is its user's debt, which wanes by 1/PART. */
static const uint64_t slow_ns = 10 * NSEC_PER_MSEC, max_debt_ns = NSEC_PER_SEC / 2;

struct debtor {
	uint32_t owner;
	uint64_t debt_ns, since_ns;
	UT_hash_handle hh;
};

struct aside {
	pthread_mutex_t lock;      /* everything but the debtors */
	pthread_cond_t begin, end; /* a call begins; it is over */
	struct aside_call *call;   /* that no thread has taken yet */
	struct aside_call *left;   /* behind */
	uint32_t threads, left_count;
	bool has_thread, is_closed; /* has_thread: one that is not left behind */
	struct debtor *debtors;     /* of the caller of aside_run() */
};

static void destroy(struct aside *aside)
{
	pthread_cond_destroy(&aside->begin);
	pthread_cond_destroy(&aside->end);
	pthread_mutex_destroy(&aside->lock);
	free(aside);
}

/* With the lock. Returns whether this thread was left behind. */
static bool end_call(struct aside *aside, struct aside_call *call)
{
	if (call->is_left) {
		DL_DELETE(aside->left, call);
		aside->left_count--;
		call->free(call);
		return true;
	}
	call->is_over = true;
	pthread_cond_signal(&aside->end);
	return false;
}

static void run(struct aside_call *call, int schedstat)
{
	uint64_t begun_ns = clock_mono_ns(), delay_ns = thread_wait_ns(schedstat), took_ns;

	call->run(call);
	took_ns = clock_mono_ns() - begun_ns;
	delay_ns = thread_wait_ns(schedstat) - delay_ns;
	call->took_ns = took_ns > delay_ns ? took_ns - delay_ns : 0;
}

static void *work(void *ctx)
{
	/* Opened once, because there is a call for each process of a list. */
	_cleanup_close_ int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	struct aside *aside = ctx;
	bool is_left = false, is_last;

	pthread_mutex_lock(&aside->lock);
	while (!is_left && !aside->is_closed) {
		struct aside_call *call = aside->call;

		if (!call) {
			pthread_cond_wait(&aside->begin, &aside->lock);
			continue;
		}
		aside->call = NULL;
		pthread_mutex_unlock(&aside->lock);
		run(call, schedstat);
		pthread_mutex_lock(&aside->lock);
		is_left = end_call(aside, call);
	}
	is_last = --aside->threads == 0 && aside->is_closed;
	pthread_mutex_unlock(&aside->lock);
	if (is_last)
		destroy(aside);
	return NULL;
}

struct aside *aside_new(void)
{
	struct aside *aside = calloc(1, sizeof(*aside));

	if (!aside || thread_cond_init(&aside->end)) {
		free(aside);
		return NULL;
	}
	pthread_mutex_init(&aside->lock, NULL);
	pthread_cond_init(&aside->begin, NULL);
	return aside;
}

void aside_free(struct aside *aside)
{
	struct debtor *debtor, *next;

	if (!aside)
		return;
	HASH_ITER (hh, aside->debtors, debtor, next) {
		HASH_DEL(aside->debtors, debtor);
		free(debtor);
	}
	pthread_mutex_lock(&aside->lock);
	aside->is_closed = true;
	pthread_cond_broadcast(&aside->begin);
	bool is_last = !aside->threads;
	pthread_mutex_unlock(&aside->lock);
	if (is_last)
		destroy(aside);
}

static struct debtor *find_debtor(struct aside *aside, uint32_t owner)
{
	struct debtor *debtor;

	HASH_FIND(hh, aside->debtors, &owner, sizeof(owner), debtor);
	return debtor;
}

/* What is left of a debt. */
static uint64_t debt_at(const struct debtor *debtor, uint64_t now_ns)
{
	uint64_t waned_ns = (now_ns - debtor->since_ns) / PART;

	return debtor->debt_ns > waned_ns ? debtor->debt_ns - waned_ns : 0;
}

static void forget_paid(struct aside *aside, uint64_t now_ns)
{
	struct debtor *debtor, *next;

	HASH_ITER (hh, aside->debtors, debtor, next) {
		if (debt_at(debtor, now_ns))
			continue;
		HASH_DEL(aside->debtors, debtor);
		free(debtor);
	}
}

/* NULL: there is no room, so the debt of this user is not known. */
static struct debtor *get_debtor(struct aside *aside, uint32_t owner, uint64_t now_ns)
{
	struct debtor *debtor = find_debtor(aside, owner);

	if (debtor)
		return debtor;
	if (HASH_COUNT(aside->debtors) >= MAX_DEBTORS)
		forget_paid(aside, now_ns);
	debtor = HASH_COUNT(aside->debtors) < MAX_DEBTORS ? calloc(1, sizeof(*debtor)) : NULL;
	if (!debtor)
		return NULL;
	debtor->owner = owner;
	debtor->since_ns = now_ns;
	HASH_ADD(hh, aside->debtors, owner, sizeof(debtor->owner), debtor);
	if (debtor->hh.tbl)
		return debtor;
	free(debtor);
	return NULL;
}

static void note_time(struct aside *aside, uint32_t owner, uint64_t took_ns)
{
	uint64_t now_ns = clock_mono_ns();
	struct debtor *debtor =
		owner && took_ns > slow_ns ? get_debtor(aside, owner, now_ns) : NULL;

	if (!debtor)
		return;
	debtor->debt_ns = debt_at(debtor, now_ns) + took_ns;
	debtor->since_ns = now_ns;
}

static bool is_in_debt(struct aside *aside, uint32_t owner)
{
	const struct debtor *debtor = find_debtor(aside, owner);

	return debtor && debt_at(debtor, clock_mono_ns()) > max_debt_ns;
}

/* With the lock. */
static bool is_refused(const struct aside *aside, const struct aside_call *call)
{
	uint32_t owner = account_of(call->owner), count = 0;
	const struct aside_call *left;

	for (left = aside->left; left; left = left->next) {
		if (left->pid == call->pid)
			return true;
		count += account_of(left->owner) == owner;
	}
	return count >= (owner ? 1 : ASIDE_LEFT_ROOT) || aside->left_count >= ASIDE_LEFT_MAX;
}

/* With the lock. */
static int begin(struct aside *aside, struct aside_call *call)
{
	if (is_refused(aside, call))
		return -EBUSY;
	if (!aside->has_thread) {
		if (thread_start_detached(STACK_BYTES, work, aside))
			return -EAGAIN;
		aside->threads++;
		aside->has_thread = true;
	}
	call->is_over = call->is_left = false;
	aside->call = call;
	pthread_cond_signal(&aside->begin);
	return 0;
}

/* With the lock. */
static int await(struct aside *aside, struct aside_call *call, uint64_t until_ns)
{
	while (!call->is_over && thread_cond_wait(&aside->end, &aside->lock, until_ns))
		;
	if (call->is_over)
		return 0;
	/* The CPUs are busy, and the thread has not run yet. It waits for the next call then. */
	if (aside->call == call) {
		aside->call = NULL;
		return -EAGAIN;
	}
	call->is_left = true;
	aside->has_thread = false;
	DL_APPEND(aside->left, call);
	aside->left_count++;
	return -ETIMEDOUT;
}

int aside_run(struct aside *aside, struct aside_call *call, uint64_t patience_ns)
{
	uint32_t owner = account_of(call->owner);
	uint64_t begun_ns = clock_mono_ns();
	int err;

	if (is_in_debt(aside, owner))
		return -EBUSY;
	pthread_mutex_lock(&aside->lock);
	err = begin(aside, call);
	if (!err)
		err = await(aside, call, begun_ns + patience_ns);
	pthread_mutex_unlock(&aside->lock);
	if (err != -EAGAIN && err != -EBUSY)
		note_time(aside, owner, err ? clock_mono_ns() - begun_ns : call->took_ns);
	return err;
}
