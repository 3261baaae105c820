/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A kind of profile: how its programs are configured before load and attached after it. Each kind
 * is one file in collect/ and one in bpf/, and one line of PROFILE_KINDS in bpf/tables.h.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/growth_wanted.h"
#include "profile/builder.h"

#include <stdbool.h>

/* Of the memory for the past, kinds have all but what the timelines of memory take. */
enum { HISTORY_SHARES = 32, MEMORY_SHARES = 2 };

/* What a source is told to do. */
struct source_config {
	u32 sample_hz;
	struct growth_wanted growth;
};

struct bpf_program;
struct source_state;

struct source {
	const char *name; /* /profile?type=NAME */
	const char *summary;
	/* What a sample's values are; a tally has two: how many, and how much. */
	struct {
		const char *type, *unit;
	} values[PROFILE_VALUES];
	u32 history_share; /* of HISTORY_SHARES in the memory for the past */
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
};

/* What a source keeps; one a source, in the collector. */
struct source_state {
	struct source_config config;
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

/* Gives a profile of this kind its types and period. */
void source_describe(const struct source *source, uint64_t period, struct builder *into);

/* Why a source is off that somebody may switch on by growth = yes; the same for both kinds. */
void source_refuse_growth(struct source_state *state, const char *price);
/* For a source that is one raw tracepoint: attaches it once; `what` it is about is for people. */
int source_attach_one(struct bpf_program *program, const char *what, struct source_state *state);
void source_detach_one(struct source_state *state);
