/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct past - what was recorded before the history that is in memory, also by earlier daemons: a
 * directory of packed profiles (past/profile_files.h, past/packed.h), one for each kind and
 * interval. They are written by an exporter and read here, on that exporter's lane, because a disk
 * may take its time.
 *
 * Loop thread only. Accounts take turns, a tenth of a second each, so that writing goes on. At most
 * PAST_ASKS questions at a time, and half of them of one account, are read or have an answer that
 * was not released. An answer has MAX_PAST_BYTES, and half of it more until it is merged.
 */
#pragma once

#include "base/lane.h"
#include "bpf/abi.h"
#include "encode/encoder.h"
#include "profile/recorder.h"

#include <stdbool.h>
#include <sys/utsname.h>

enum {
	PAST_ASKS = 2,
	MAX_PAST_BYTES =
		16 << 20, /* of a profile with more, the largest accounts lose their stacks */
};

/* Writes what past_ask() reads. Not one of ENCODERS: no client is meant to read it. */
extern const struct encoder encoder_past;

struct past {
	struct lane *lane;
	const char *place; /* the directory */
	const struct utsname *host;
	struct {
		bool used;
		uint64_t account;
	} slots[PAST_ASKS]; /* of the questions */
	/* Where the last file that was written of a kind ends. The recorder holds it, so that no
	 * slice reaches across it. 0: none was. */
	uint64_t until_mono_ns[KIND_COUNT];
	uint64_t unreadable; /* statistics: files that were left out */
};

struct past_read;

/* Whether both may be in one answer: not if they are of versions of profd whose values mean
 * something else, or were sampled at different rates. */
bool past_fits(const struct profile *a, const struct profile *b);

/* Embedded in its owner, which sets the first members and leaves the others zero. */
struct past_ask {
	const char *kind;
	uint64_t from_unix_ns, to_unix_ns;
	uint64_t before_unix_ns; /* only profiles that begin earlier */
	uint64_t account;        /* 0: root's */
	/* 0 or a negative errno. -EFBIG: there is more than MAX_PAST_BYTES. -ETIMEDOUT. Not
	 * called after past_release(), nor before past_ask() returns. */
	void (*done)(struct past_ask *ask, int err);

	/* The result. */
	struct slices slices;    /* as recorder_read() has them, in order of time */
	uint32_t files;          /* that the slices are from */
	uint64_t gap_ns;         /* slices_gap() of what was merged into one slice */
	uint64_t oldest_unix_ns; /* of all that is kept; 0: nothing is */
	/* Files in the range that were left out: damaged, of another user, or of a daemon whose
	 * values meant something else. */
	uint32_t unreadable;

	/* Private. */
	struct past *past;
	size_t slot;
	struct past_read *read;
};

/* 0, and done() will be called; -EBUSY: there are too many questions; -ENOMEM. */
int past_ask(struct past *past, struct past_ask *ask);
/* At any time; also of a question that was not asked. */
void past_release(struct past_ask *ask);
