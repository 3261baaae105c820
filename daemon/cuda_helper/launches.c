/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A launch by CUDA's runtime is also one by its driver, with the same correlation number: the inner
 * launch is ignored. The per-thread state is reached by pthread_getspecific() and not by a
 * thread-local variable, for which a library that is loaded late may find no room.
 */
#include "cuda_helper/launches.h"

#include "cuda_helper/chooser.h"
#include "cuda_helper/counters.h"
#include "cuda_helper/tell.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct correlations launches_chosen;

struct launcher {
	uint32_t recording; /* the recording to which the rest belongs */
	uint32_t outer;     /* correlation number of the runtime's call that the thread is in */
	bool is_inside;
	struct chooser chooser;
};

static pthread_key_t launchers;
static uint32_t recording; /* the number of the current recording; 0: none */

bool launches_init(void)
{
	return pthread_key_create(&launchers, free) == 0;
}

void launches_record(bool on)
{
	static uint32_t last;

	if (on) {
		correlations_clear(&launches_chosen);
		last = last + 1 ?: 1;
	}
	__atomic_store_n(&recording, on ? last : 0, __ATOMIC_RELEASE);
}

/* Has the resolution of a kernel tick, which is enough to see half a second pass, at a third of the
 * cost. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Called at a thread's first launch. Keeps errno, which the program may look at after the
 * launch. */
static struct launcher *launcher_new(void)
{
	int saved = errno;
	struct launcher *launcher = calloc(1, sizeof(*launcher));

	if (launcher && pthread_setspecific(launchers, launcher)) {
		free(launcher);
		launcher = NULL;
	}
	errno = saved;
	return launcher;
}

/* A thread's state from an earlier recording is not valid for the current one. */
static struct launcher *launcher_get(uint32_t now)
{
	struct launcher *launcher = pthread_getspecific(launchers);

	if (!launcher)
		launcher = launcher_new();
	if (launcher && launcher->recording != now) {
		launcher->recording = now;
		launcher->is_inside = false;
		chooser_init(&launcher->chooser, KERNELS_A_SECOND, GRAPHS_A_SECOND,
		             now_ns() ^ (uint64_t)(uintptr_t)launcher);
	}
	return launcher;
}

/* Which word of the parameters of a function that launches is the kernel; -1: the function launches
 * nothing. */
static int kernel_word(uint32_t domain, uint32_t number, bool *ret_graph)
{
#define LAUNCH(in, of, word, graph)                   \
	if (domain == CUPTI_##in && number == (of)) { \
		*ret_graph = graph;                   \
		return word;                          \
	}
	CUPTI_LAUNCHES(LAUNCH)
#undef LAUNCH
	return -1;
}

static void launched(struct launcher *launcher, const struct cupti_call *call, uint64_t kernel,
                     bool is_graph)
{
	uint32_t weight = chooser_take(&launcher->chooser, kernel, is_graph, now_ns());

	count(&profd_cuda_counters.launches, 1);
	if (!weight)
		return;
	count(&profd_cuda_counters.chosen, 1);
	correlations_add(&launches_chosen, call->correlation, weight);
	tell_launched(call->correlation);
}

/* The launch is reported when the call begins, because the kernel may be over before the call ends.
 * It is not known then whether the call fails; a call that fails has no kernel to report. */
void launches_called(void *ctx, uint32_t domain, uint32_t number, const struct cupti_call *call)
{
	uint32_t now = __atomic_load_n(&recording, __ATOMIC_ACQUIRE);
	struct launcher *launcher;
	bool is_graph = false;
	int word;

	(void)ctx;
	if (!now || !tell_heard())
		return;
	word = kernel_word(domain, number, &is_graph);
	launcher = word >= 0 ? launcher_get(now) : NULL;
	if (!launcher)
		return;
	if (domain == CUPTI_RUNTIME) {
		launcher->outer = call->correlation;
		launcher->is_inside = call->site == CUPTI_ENTER;
	} else if (launcher->is_inside && launcher->outer == call->correlation) {
		return;
	}
	if (call->site == CUPTI_ENTER && call->parameters)
		launched(launcher, call, ((const uint64_t *)call->parameters)[word], is_graph);
}
