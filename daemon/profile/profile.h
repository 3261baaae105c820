/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct profile - samples as flat tables: which task ran which call path how often. It is pprof's
 * model, except that call paths are a tree, so that frames that stacks share are stored once.
 *
 * Ids are indices; entry 0 of every table is "none" (string 0 is ""). A profile is built by one
 * struct builder on one thread and then sealed. From then on it is constant and reference counted,
 * and any thread may read it.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROFILE_VALUES = 4, /* values of one sample; heap profiles need four */
};

/* What a sample's value is, e.g. "cpu" in "nanoseconds". String ids. */
struct value_type {
	uint32_t type, unit;
};

enum mapping_kind {
	MAPPING_FILE,   /* an ELF file; addresses are the file's own virtual addresses, the same in
	                   each process */
	MAPPING_KERNEL, /* the kernel, its modules and BPF programs; addresses as the kernel has
	                   them */
	MAPPING_PSEUDO, /* code without a file: [jit], [unknown: reason]; never looked up */
	MAPPING_LOOP,   /* as MAPPING_FILE: native code of an interpreter's loop */
	MAPPING_INTERPRETED, /* interpreted code, named when it was recorded: [python 3.11] */
	MAPPING_LOCK, /* for what a thread waits: variables of an ELF file, addresses as above; or
	                 any memory of a process, without object */
	MAPPING_JIT,  /* code that a program has generated, named when it was recorded; or else an
	                 address of a process, and `object` and `offset` are for jit_find_later() */
	MAPPING_KINDS
};

/* A binary. It is in a profile once, however many processes map it. */
struct mapping {
	uint32_t path;     /* string: as the process sees it, or a name in brackets */
	uint32_t build_id; /* string: lower-case hex, or none */
	uint64_t start, limit,
		offset; /* of its executable segment; address - start + offset is the file offset */
	uint32_t object; /* id in object/store.h, 0 for none; opaque here */
	enum mapping_kind kind;
};

/* A place in code. Named by lines[first_line ... + line_count], the innermost inlined call first;
 * without a line it is not symbolized yet. */
struct location {
	uint64_t address;
	uint32_t mapping;
	uint32_t first_line, line_count;
};

struct line {
	uint32_t function;
	uint32_t number; /* 0: not known */
};

struct function {
	uint32_t name;        /* string, as users read it; mangled if it is not symbolized yet */
	uint32_t system_name; /* string, as the linker has it; 0 for interpreted code and for
	                       * profd's own names */
	uint32_t filename;    /* string */
	uint32_t start_line;
};

/* A call path: `location`, called from the path `parent`; 0 is the empty path, above every root. A
 * parent's id is smaller than its children's. */
struct node {
	uint32_t parent, location;
};

/* The string labels of a sample. They have these names in every format. "" if a label does not
 * apply or is not known. `grid` and `block` are kept if a selection asks for that. */
#define TASK_LABELS(LABEL)                                                      \
	LABEL(comm)            /* the process's name */                         \
	LABEL(thread)          /* the thread's name */                          \
	LABEL(unit)            /* of systemd */                                 \
	LABEL(container)       /* its id */                                     \
	LABEL(pod)             /* its uid */                                    \
	LABEL(runtime)         /* "python", "java" */                           \
	LABEL(runtime_version) /* "3.11" */                                     \
	LABEL(task)            /* the name of an asynchronous task */           \
	LABEL(gil)             /* "held", "released", "waiting" or "none" */    \
	LABEL(memory)          /* the kind of memory */                         \
	LABEL(fault)           /* "minor" or "major" */                         \
	LABEL(state)           /* why a thread waits: "sleep" ... */            \
	LABEL(wait)            /* in which system calls: "futex" ... */         \
	LABEL(device)          /* a GPU: "0", "cuda:0"; or a disk: "nvme0n1" */ \
	LABEL(kernel)          /* its function's name, or "<kernel 0x...>" */   \
	LABEL(direction)       /* of a copy: "HtoD" ...; of disk I/O: "read" */ \
	LABEL(call)            /* the GPU function that was called */           \
	LABEL(grid)            /* "128x1x1" */                                  \
	LABEL(block)

/* The process and the thread that ran. Tasks are compared as bytes, so there is no padding. */
struct task {
	uint32_t pid, tid;
#define LABEL(name) uint32_t name; /* string */
	TASK_LABELS(LABEL)
#undef LABEL
	uint32_t parent; /* pid of the process that started it; 0: not known */
	uint32_t at_ms;  /* time after the profile's start; 0 if times are not distinguished */
	/* The account that it counts for in the history (base/accounts.h). 0: root's, or not
	 * needed. */
	uint32_t account;
	/* When the program began, by CLOCK_BOOTTIME, if it runs a runtime. Shows whether a process
	 * with this pid is still the one that was sampled. 0: not known. */
	uint64_t began_boot_ns;
};

struct sample {
	uint32_t node; /* the leaf of the call path */
	uint32_t task;
	uint64_t values[PROFILE_VALUES];
};

/* What became of the timer's ticks: ticks = samples + idle + lost. */
struct ticks {
	uint64_t total;
	uint64_t idle;   /* the idle task ran: counted, not recorded */
	uint64_t lost;   /* no room in a kernel map, or in the daemon */
	uint64_t missed; /* not included in the total: were due and never came */
};

struct profile {
	uint64_t start_mono_ns; /* CLOCK_MONOTONIC */
	uint64_t start_wall_ns; /* the same moment by CLOCK_REALTIME */
	uint64_t duration_ns;
	struct value_type types[PROFILE_VALUES];
	uint32_t type_count;
	/* The type that readers show first: the last one, unless builder_show() was called. */
	uint32_t shown;
	struct value_type period_type;
	uint64_t period;
	struct ticks ticks;

	/* The tables. Their counts include entry 0, so a loop over a table starts at 1. */
	const struct mapping *mappings;
	const struct location *locations;
	const struct line *lines;
	const struct function *functions;
	const struct node *nodes;
	const struct task *tasks;
	const struct sample *samples;
	const uint32_t *comments; /* strings */
	uint32_t mapping_count, location_count, line_count, function_count, node_count, task_count,
		sample_count, comment_count;

	const char *string_bytes; /* all strings, each NUL-terminated; may hold any bytes but NUL */
	const uint32_t *string_start; /* by string id */
	uint32_t string_count;

	size_t memory_bytes; /* of the whole block */
	int references;      /* atomic; profile_ref() and profile_unref() only */
};

static inline const char *profile_string(const struct profile *profile, uint32_t string)
{
	return profile->string_bytes + profile->string_start[string];
}

/* Whether a location is that name in brackets, and no code. */
bool profile_is_pseudo(const struct profile *profile, uint32_t location, const char *name);

/* A comment that begins with this says that sums are too small, and why. It is shown before
 * anything else. */
#define PROFILE_INCOMPLETE "incomplete: "
/* The first such comment, without that beginning; NULL if there is none. */
const char *profile_incomplete(const struct profile *profile);

struct profile *profile_ref(struct profile *profile);
void profile_unref(struct profile *profile); /* takes NULL */
DEFINE_CLEANUP(struct profile *, profile_unref)
