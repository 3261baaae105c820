/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct runtimes - all runtimes, as one: each call goes to every runtime, or to the first one that
 * has an answer. To functions that ask, NULL stands for no runtimes. Loop thread only.
 */
#pragma once

#include "bpf/words.h"
#include "runtimes/runtime.h"

#define RUNTIME(name) extern const struct runtime runtime_##name;
RUNTIMES(RUNTIME)
#undef RUNTIME

/* Indexed by enum runtime_number. A runtime that is not open has no `runtime`, and knows nothing.
 */
struct runtimes {
	struct {
		const struct runtime *runtime;
		void *own;
	} at[RUNTIME_COUNT];
};

/* Which runtime a thread or a process runs. */
struct runtime_version {
	const struct runtime *runtime; /* NULL: none */
	uint32_t version;              /* as in struct runtime_frame */
};

/* `runtimes` is zero before. Call runtimes_free() even after a failure, of which `*ret_name` is the
 * runtime. */
int runtimes_open(struct runtimes *runtimes, const struct runtime_config *config,
                  const char **ret_name);
void runtimes_start(struct runtimes *runtimes, uv_loop_t *loop);
void runtimes_stop(struct runtimes *runtimes);
void runtimes_free(struct runtimes *runtimes);

void runtimes_sync(struct runtimes *runtimes);
void runtimes_read(struct runtimes *runtimes);

/* The name of the runtime to which a word belongs; NULL: the word is of another kind. */
const char *runtimes_name(uint64_t word);
/* Finds a frame by its two words. */
bool runtimes_find(struct runtimes *runtimes, uint64_t word, uint64_t offset_word,
                   struct runtime_frame *ret_frame, struct runtime_version *ret_version);
struct runtime_version runtimes_of(const struct runtimes *runtimes, uint32_t pid);
uint64_t runtimes_began(const struct runtimes *runtimes, uint32_t pid, uint64_t image_mono_ns);
const char *runtimes_thread_name(struct runtimes *runtimes, const struct runtime_thread *thread);
/* As of struct runtime; of the first runtime that the process runs. */
const char *runtimes_plan_tasks(const struct runtimes *runtimes, uint32_t pid,
                                struct runtime_tasks_plan *ret_plan);
/* "3.11", in a buffer that has at least RUNTIME_VERSION_BYTES; "" for no runtime. */
enum { RUNTIME_VERSION_BYTES = 24 };
void runtime_version_text(const struct runtime_version *version, char *ret_text);

void runtimes_figures(const struct runtimes *runtimes, figure_fn *fn, void *ctx);
void runtimes_add_reader_stats(const struct runtimes *runtimes, struct reader_stats *stats);
