/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct source - a kind of profile over its whole life: it is configured before its programs are
 * loaded, attached, read before each drain, asked for its samples of each drained half and for what
 * is in use now, and stopped. Each kind is one line of PROFILE_KINDS in bpf/tables.h; code that
 * handles all kinds names none. Hooks run on the loop thread and must not be NULL, unless they say
 * otherwise.
 */
#pragma once

#include "kernel/bpf_parts.h"
#include "kernel/growth_wanted.h"
#include "profile/builder.h"

#include <stdbool.h>

/* The settings of a source. */
struct source_config {
	u32 sample_hz;
	struct growth_wanted growth;
	bool waits, faults; /* the settings of these names */
};

struct bpf_program;
struct half;
struct source_state;

struct source {
	const char *name;  /* /profile?type=NAME */
	const char *title; /* for users: a word or two */
	const char *summary;
	/* The values of a sample. A tally has two: a count and an amount. */
	struct {
		const char *type, *unit;
	} values[PROFILE_VALUES];
	u32 history_weight; /* its share of the history's memory, of sources_weight() */
	bool is_required;   /* the daemon does not run without it */
	bool has_idle;      /* its ticks may find a CPU idle, and are due at known times */
	bool has_dims;      /* its samples have grids and blocks */
	bool by_probes;     /* attached to programs' files, when there are some */
	bool by_events;     /* samples come one by one, and are not counted in the half */
	const char *fix;    /* what a user can do if it cannot be attached */
	/* Sets read-only data. Called before the programs of the start are loaded. */
	void (*configure)(struct bpf *bpf, const struct source_config *config,
	                  struct source_state *state);
	/* Loads parts that the start does not wait for; attach() is called again afterwards.
	 * Returns why it failed, "" if it did not. NULL if there are no such parts. Not on the loop
	 * thread. */
	const char *(*load)(struct bpf *bpf, const struct source_state *state);
	/* Opens what is missing on online CPUs, and closes what is open on others. Called again
	 * when CPUs come and go. After an error this kind is off, and the daemon goes on unless it
	 * requires the kind. */
	int (*attach)(struct bpf *bpf, const bool *online, struct source_state *state);
	void (*detach)(struct source_state *state);
	/* Called when the loop is about to run, and when it is about to end. Sources that work
	 * together use the hooks of one of them. May be NULL. start() returns 0, or the negative
	 * errno of what it goes on without. */
	int (*start)(struct source_state *state);
	void (*stop)(struct source_state *state);
	/* The halves are about to be flipped: adds what is still going on to the active half.
	 * `is_cut`: a reader requested the boundary. May be NULL. */
	void (*eve_of_flip)(struct bpf *bpf, struct source_state *state, bool is_cut);
	/* Reads what its programs have reported since the last drain; a drain follows. NULL if the
	 * half has everything. */
	void (*read)(struct source_state *state);
	/* Adds its samples of a drained half to a slice that has its value types. `*ret_samples` is
	 * their number. 0 or -ENOMEM. */
	int (*fill)(struct half *half, struct source_state *state, struct builder *into,
	            uint64_t *ret_samples);
	/* Called when all slices of the half are made. May be NULL. */
	void (*filled)(struct source_state *state, uint64_t length_ns);
	/* Adds what all processes have in use now, as samples of which only the last two values are
	 * set. NULL for a kind that only knows what happened. 0 or -ENOMEM. */
	int (*in_use)(struct source_state *state, struct builder *into);
};

/* The state of a source. The collector has one for each source. */
struct source_state {
	enum profile_kind kind;
	struct source_config config;
	void *own; /* data of its hooks; NULL if this struct is all */
	bool on;
	char why[128];     /* why it is off */
	const char *event; /* what ticks, for users */
	u64 period;        /* of the last value: average from one sample to the next */
	u32 attached;
	struct bpf_link *links[MAX_CPUS][CPU_TIMERS];
	struct bpf_link *second; /* of a source that uses two programs of this kind */
	/* By CPU: the timer that ticks for all timers of its CPU until these have begun. fd 0:
	 * none. */
	struct {
		int fd;
		u64 period_ns; /* its period from then on */
	} first[MAX_CPUS];
	bool have_begun;
};

#define KIND(name, samples, lost) extern const struct source source_##name;
PROFILE_KINDS(KIND)
#undef KIND

struct profd_bpf;

extern const struct source *const sources[KIND_COUNT]; /* by enum profile_kind */

/* The share of the timelines of memory, in addition to those of the kinds. */
enum { MEMORY_WEIGHT = 2 };
/* The sum of all shares. */
u32 sources_weight(void);

/* Gives a profile of this kind its value types and period. */
void source_describe(const struct source *source, uint64_t period, struct builder *into);

/* Sets why a source of growth is off, of either kind. `price` says what it would cost, and `why`
 * then adds that growth = yes records it; NULL: the setting is growth = no. */
void source_refuse_growth(struct source_state *state, const char *price);
/* For load() of a source whose programs are a part of their own. */
const char *source_load_part(struct bpf *bpf, enum bpf_part part, bool is_wanted);
/* For attach() of such a source: the part; NULL while it is switched off or not loaded, as
 * `state->why` then says. `off`: which setting switches it off; NULL: none does. */
const struct profd_bpf *source_part(const struct bpf *bpf, enum bpf_part part, const char *off,
                                    struct source_state *state);
/* The same for sources of waits. */
const struct profd_bpf *source_waits_part(const struct bpf *bpf, struct source_state *state);

typedef int source_attach_cpu_fn(struct bpf *bpf, struct source_state *state, u32 cpu);
typedef void source_detach_cpu_fn(struct source_state *state, u32 cpu);
/* For attach() of a source with events on each CPU, of which links[cpu][0] is one: attaches what is
 * missing on online CPUs, and detaches from others. Returns the first error. */
int source_attach_cpus(struct bpf *bpf, const bool *online, struct source_state *state,
                       source_attach_cpu_fn *attach, source_detach_cpu_fn *detach);
/* For a source that is one raw tracepoint: attaches it once. `what` names it for users. */
int source_attach_one(struct bpf_program *program, const char *what, struct source_state *state);
void source_detach_one(struct source_state *state);
