/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_watch - a client that waits for the heap profile of one process: what it asks for,
 * and what it gets. heap/heaps.h takes the profile.
 */
#pragma once

#include "allocators/heap_table.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_HEAP_SESSIONS = 4, /* processes watched at once; one more is refused with -EBUSY */
};

struct heap_ask {
	uint32_t pid;
	/* The user who asks. The process must belong to this user alone until the probes are in it.
	 * OWNER_UNKNOWN: the client may have any process watched. */
	uint32_t owner;
	/* The user who asks, for the share of sessions. 0: root, or no user of this host. */
	uint32_t user;
	/* Which allocations; HEAP_LEAKS: those made in the first half of the window and still held
	 * at its end. */
	enum heap_mode mode;
	uint64_t rate_bytes; /* mean number of bytes from one sample to the next; at least 1 */
	uint64_t length_ns;
	double budget; /* what the probes may cost the process, as a share of one core: 0.1 */
	bool force;    /* go on whatever it costs */
};

/* Why a profile ended before the requested time. The answer has what was seen until then. */
#define HEAP_ENDS(END)                                                       \
	END(full, "")                                                        \
	END(exit, "the process ended")                                       \
	END(exec, "the process called exec")                                 \
	END(budget, "the cost of the allocator's calls exceeded the budget") \
	END(memory, "its stacks took too much of profd's memory")            \
	END(stop, "profd is stopping")

#define END(name, text) HEAP_END_##name,
enum heap_end { HEAP_ENDS(END) };
#undef END

/* The figures beside the samples: for the profile's comments and for a refusal. */
struct heap_figures {
	char allocator[32]; /* "glibc", "jemalloc"; "" where none was found */
	char file[256];     /* the file that it is in, as the process sees it */
	uint32_t sites;     /* number of probes */
	/* Files that could not be read, so that the allocator may be in one of them, and the first
	 * of them. */
	uint32_t unread;
	char unread_file[256];
	uint64_t rate_bytes;
	uint64_t start_mono_ns, watched_ns; /* what the profile really covers */
	double hits_per_second;  /* before anything but the counting probes was attached */
	double ns_per_hit;       /* as measured on this host */
	double predicted_cost;   /* share of one core; hits_per_second * ns_per_hit */
	double actual_cost;      /* share of one core, from the hits met while it ran */
	uint64_t hits;           /* while it ran */
	uint64_t samples, freed; /* allocations sampled; those of them that were freed */
	uint64_t dropped;        /* samples lost: a full ring buffer, table or map */
	enum heap_end end;
	const char *end_text; /* of HEAP_ENDS */
};

/*
 * What done() gets:
 *      0         `profile` is the caller's reference: samples of the values alloc_objects/count,
 *                alloc_space/bytes, inuse_objects/count, inuse_space/bytes, in this order, whose
 *                tasks have pid, comm and the rest but no thread; and no comments: these are made
 *                from `figures`. Native frames have no names yet, as in the recorder's slices.
 *      -ESRCH    there is no such process
 *      -EBUSY    the process is being watched already, or MAX_HEAP_SESSIONS others are, or the
 *                share of the user who asks is used up: a single user gets half; the last one is
 *                root's
 *      -ENOENT   no allocator was found in the process
 *      -EDQUOT   over the budget
 *      -ENOTSUP  this kernel cannot watch, or not this process (32 bits)
 *      -EACCES, -EPERM  profd may not inspect this process, or the user who asks may not
 *      others    it failed: -ENOMEM, -ECANCELED when profd is stopping, ...
 * `why` is one line for a person, "" for 0.
 */
struct heap_result {
	int err;
	char why[256];
	struct profile *profile;
	struct heap_figures figures;
};

/* Owned by the caller; stays put from heaps_start() to done() or heaps_cancel(). */
struct heap_watch {
	/* Never called from within heaps_start(). `result` is valid during the call; its profile
	 * is handed over. */
	void (*done)(struct heap_watch *watch, const struct heap_result *result);
	struct heap_session *session; /* private to heaps; NULL once it is over */
};
