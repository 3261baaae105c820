/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct source - a kind of profile, its whole life long: configured before its programs are
 * loaded, attached, read before each drain, asked for its samples of each drained half and for what
 * is in use now, stopped. Each kind is one line of PROFILE_KINDS in bpf/tables.h; who goes through
 * them names none. All hooks but those that say otherwise run on the loop thread, and those that
 * may be NULL say so.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/growth_wanted.h"
#include "profile/builder.h"

#include <stdbool.h>

/* What a source is told to do. */
struct source_config {
	u32 sample_hz;
	struct growth_wanted growth;
};

struct bpf_program;
struct half;
struct source_state;

struct source {
	const char *name;  /* /profile?type=NAME */
	const char *title; /* for people: a word or two */
	const char *summary;
	/* What a sample's values are; a tally has two: how many, and how much. */
	struct {
		const char *type, *unit;
	} values[PROFILE_VALUES];
	u32 history_weight; /* its part of the memory for the past, of sources_weight() */
	bool is_required;   /* without it there is no profiler */
	bool has_idle;      /* its ticks may find a CPU idle, and are due at known times */
	bool has_dims;      /* grids and blocks */
	bool by_probes;     /* it is attached to programs' files, when there are some */
	bool by_events;     /* samples are told one by one, and not counted in the half */
	const char *fix;    /* where it cannot be attached: what a person can do */
	/* Before the start's programs are loaded: read-only data. */
	void (*configure)(struct bpf *bpf, const struct source_config *config,
	                  struct source_state *state);
	/* Loads parts that the start does not wait for; attach is called again afterwards. NULL
	 * where there are none. Why it could not, "" when it could. Not on the loop thread. */
	const char *(*load)(struct bpf *bpf, const struct source_state *state);
	/* Opens what is missing on the CPUs that are online, closes what is on others; called again
	 * when CPUs come and go. An error leaves this kind off and the daemon running. */
	int (*attach)(struct bpf *bpf, const bool *online, struct source_state *state);
	void (*detach)(struct source_state *state);
	/* When the loop is about to run, and when it is to end. Sources that work together do so in
	 * the hooks of one of them; NULL. 0, or why they go on without. */
	int (*start)(struct source_state *state);
	void (*stop)(struct source_state *state);
	/* Reads what its programs have told since the drain before; the next one follows. NULL
	 * where the half says it all. */
	void (*read)(struct source_state *state);
	/* Adds its samples of a drained half to a slice that has its types, and says how many they
	 * are. 0 or -ENOMEM. */
	int (*fill)(struct half *half, struct source_state *state, struct builder *into,
	            uint64_t *ret_samples);
	/* All slices of the half are made. NULL. */
	void (*filled)(struct source_state *state, uint64_t length_ns);
	/* Adds what all processes have in use now, as samples that have nothing but their last two
	 * values. NULL: it knows what happened only. 0 or -ENOMEM. */
	int (*in_use)(struct source_state *state, struct builder *into);
};

/* What a source keeps; one a source, in the collector. */
struct source_state {
	enum profile_kind kind;
	struct source_config config;
	void *own; /* what its hooks work with; NULL where this is all */
	bool on;
	char why[128];     /* it is off */
	const char *event; /* what ticks, for people */
	u64 period;        /* of the last value, from one sample to the next on average */
	u32 attached;
	struct bpf_link *links[MAX_CPUS][CPU_TIMERS];
	struct bpf_link *second; /* of a source that is two tracepoints, or timers and one */
	/* Of a timer that ticks for all of its CPU's until they have begun; fd 0: of none. */
	struct {
		int fd;
		u64 period_ns; /* that it has from then on */
	} first[MAX_CPUS];
	bool have_begun;
};

#define KIND(name, samples, lost) extern const struct source source_##name;
PROFILE_KINDS(KIND)
#undef KIND

extern const struct source *const sources[KIND_COUNT]; /* by enum profile_kind */

/* What the timelines of memory weigh, beside the kinds. */
enum { MEMORY_WEIGHT = 2 };
/* All of them together. */
u32 sources_weight(void);

/* Gives a profile of this kind its types and period. */
void source_describe(const struct source *source, uint64_t period, struct builder *into);

/* Why a source is off that somebody may switch on by growth = yes; the same for both kinds. */
void source_refuse_growth(struct source_state *state, const char *price);
/* For a source that is one raw tracepoint: attaches it once; `what` it is about is for people. */
int source_attach_one(struct bpf_program *program, const char *what, struct source_state *state);
void source_detach_one(struct source_state *state);
