/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtimes/runtimes.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define RUNTIME(name) [RUNTIME_##name] = &runtime_##name,
static const struct runtime *const all[RUNTIME_COUNT] = {RUNTIMES(RUNTIME)};
#undef RUNTIME

/* Runs what follows for each runtime that is open and has the hook. */
#define FOREACH_RUNTIME(runtimes, i, hook)         \
	for (size_t i = 0; i < RUNTIME_COUNT; i++) \
		if ((runtimes) && (runtimes)->at[i].runtime && (runtimes)->at[i].runtime->hook)

int runtimes_open(struct runtimes *runtimes, const struct runtime_config *config,
                  const char **ret_name)
{
	for (size_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++) {
		int err = all[i]->open(config, &runtimes->at[i].own);

		if (err < 0) {
			*ret_name = all[i]->name;
			return err;
		}
		runtimes->at[i].runtime = all[i];
	}
	return 0;
}

void runtimes_start(struct runtimes *runtimes, uv_loop_t *loop)
{
	FOREACH_RUNTIME (runtimes, i, start) {
		int err = runtimes->at[i].runtime->start(runtimes->at[i].own, loop);

		if (err)
			log_warning("cannot read what is reported of %s as it comes: %s; some "
			            "names may be lost",
			            runtimes->at[i].runtime->name, strerror(-err));
	}
}

void runtimes_stop(struct runtimes *runtimes)
{
	FOREACH_RUNTIME (runtimes, i, stop)
		runtimes->at[i].runtime->stop(runtimes->at[i].own);
}

void runtimes_free(struct runtimes *runtimes)
{
	FOREACH_RUNTIME (runtimes, i, free)
		runtimes->at[i].runtime->free(runtimes->at[i].own);
	*runtimes = (struct runtimes){0};
}

void runtimes_sync(struct runtimes *runtimes)
{
	FOREACH_RUNTIME (runtimes, i, sync)
		runtimes->at[i].runtime->sync(runtimes->at[i].own);
}

void runtimes_read(struct runtimes *runtimes)
{
	FOREACH_RUNTIME (runtimes, i, read)
		runtimes->at[i].runtime->read(runtimes->at[i].own);
}

static uint64_t number_of(uint64_t word)
{
	return word >> WORD_SHIFT < RUNTIME_COUNT ? word >> WORD_SHIFT : RUNTIME_NONE;
}

const char *runtimes_name(uint64_t word)
{
	const struct runtime *runtime = all[number_of(word)];

	return runtime ? runtime->name : NULL;
}

bool runtimes_find(struct runtimes *runtimes, uint64_t word, uint64_t offset_word,
                   struct runtime_frame *ret_frame, struct runtime_version *ret_version)
{
	uint64_t number = number_of(word);
	const struct runtime *runtime = runtimes ? runtimes->at[number].runtime : NULL;

	if (!runtime || !runtime->find(runtimes->at[number].own, word & WORD_VALUE,
	                               (uint32_t)(offset_word & WORD_VALUE), ret_frame))
		return false;
	*ret_version = (struct runtime_version){runtime, ret_frame->version};
	return true;
}

struct runtime_version runtimes_of(const struct runtimes *runtimes, uint32_t pid)
{
	FOREACH_RUNTIME (runtimes, i, version) {
		const struct runtime *runtime = runtimes->at[i].runtime;
		uint32_t version = runtime->version(runtimes->at[i].own, pid);

		if (version)
			return (struct runtime_version){runtime, version};
	}
	return (struct runtime_version){0};
}

uint64_t runtimes_began(const struct runtimes *runtimes, uint32_t pid, uint64_t image_mono_ns)
{
	FOREACH_RUNTIME (runtimes, i, began) {
		uint64_t began =
			runtimes->at[i].runtime->began(runtimes->at[i].own, pid, image_mono_ns);

		if (began)
			return began;
	}
	return 0;
}

const char *runtimes_thread_name(struct runtimes *runtimes, const struct runtime_thread *thread)
{
	FOREACH_RUNTIME (runtimes, i, thread_name) {
		const char *name =
			runtimes->at[i].runtime->thread_name(runtimes->at[i].own, thread);

		if (name)
			return name;
	}
	return NULL;
}

const char *runtimes_plan_tasks(const struct runtimes *runtimes, uint32_t pid,
                                struct runtime_tasks_plan *ret_plan)
{
	FOREACH_RUNTIME (runtimes, i, plan_tasks) {
		const struct runtime *runtime = runtimes->at[i].runtime;

		if (runtime->version(runtimes->at[i].own, pid))
			return runtime->plan_tasks(runtimes->at[i].own, pid, ret_plan);
	}
	return "it does not run Python, or profd does not know yet that it does";
}

void runtime_version_text(const struct runtime_version *version, char *ret_text)
{
	ret_text[0] = '\0';
	if (version->runtime)
		snprintf(ret_text, RUNTIME_VERSION_BYTES, "%u.%u", version->version >> 8,
		         version->version & 0xff);
}

void runtimes_figures(const struct runtimes *runtimes, figure_fn *fn, void *ctx)
{
	FOREACH_RUNTIME (runtimes, i, figures)
		runtimes->at[i].runtime->figures(runtimes->at[i].own, fn, ctx);
}

void runtimes_add_reader_stats(const struct runtimes *runtimes, struct reader_stats *stats)
{
	FOREACH_RUNTIME (runtimes, i, add_reader_stats)
		runtimes->at[i].runtime->add_reader_stats(runtimes->at[i].own, stats);
}
