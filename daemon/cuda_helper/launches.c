/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A launch by CUDA's runtime is one by its driver, too, of the same correlation number: the inner
 * one is passed over. What each thread keeps is reached by pthread_getspecific() and not by a
 * thread-local variable, for which a library that is loaded late may find no room.
 */
#include "cuda_helper/launches.h"

#include "cuda_helper/chooser.h"
#include "cuda_helper/counters.h"
#include "cuda_helper/tell.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct correlations launches_chosen;

struct launcher {
	uint32_t outer; /* the runtime's call that the thread is in */
	bool is_inside;
	struct chooser chooser;
};

static pthread_key_t launchers;
static bool recording;

bool launches_init(void)
{
	return pthread_key_create(&launchers, free) == 0;
}

void launches_record(bool on)
{
	__atomic_store_n(&recording, on, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct launcher *launcher_get(void)
{
	struct launcher *launcher = pthread_getspecific(launchers);

	if (launcher)
		return launcher;
	launcher = calloc(1, sizeof(*launcher));
	if (!launcher)
		return NULL;
	chooser_init(&launcher->chooser, KERNELS_A_SECOND, GRAPHS_A_SECOND,
	             now_ns() ^ (uint64_t)(uintptr_t)launcher);
	if (pthread_setspecific(launchers, launcher)) {
		free(launcher);
		return NULL;
	}
	return launcher;
}

/* Where the kernel is among the parameters of a function that launches; -1: it is none. */
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

void launches_called(void *ctx, uint32_t domain, uint32_t number, const struct cupti_call *call)
{
	struct launcher *launcher;
	bool is_graph = false;
	int word;

	(void)ctx;
	if (!__atomic_load_n(&recording, __ATOMIC_ACQUIRE) || !tell_heard())
		return;
	word = kernel_word(domain, number, &is_graph);
	launcher = word >= 0 ? launcher_get() : NULL;
	if (!launcher)
		return;
	if (domain == CUPTI_RUNTIME) {
		launcher->outer = call->correlation;
		launcher->is_inside = call->site == CUPTI_ENTER;
	} else if (launcher->is_inside && launcher->outer == call->correlation) {
		return;
	}
	/* One that failed has no kernel. */
	if (call->site != CUPTI_EXIT || (call->result && *(const int *)call->result != 0))
		return;
	launched(launcher, call, ((const uint64_t *)call->parameters)[word], is_graph);
}
