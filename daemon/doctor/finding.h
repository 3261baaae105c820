/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct finding - one line of the output of `profd doctor`. Pure; any thread.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* STATE(name, meaning) */
#define FINDING_STATES(STATE)                                                    \
	STATE(good, "all of it can be used")                                     \
	STATE(limited, "profd goes on with less")                                \
	STATE(missing, "it is not there; where it is needed, profd cannot work") \
	STATE(unknown, "this user, or something else that is missing, hides it")

enum finding_state {
#define STATE(name, meaning) FINDING_##name,
	FINDING_STATES(STATE)
#undef STATE
		FINDING_STATE_COUNT,
};

enum { FINDING_VALUE_BYTES = 768, FINDING_FIX_BYTES = 256 };

struct finding {
	const char *check; /* what was checked */
	bool needed;       /* profd cannot work without it */
	enum finding_state state;
	char value[FINDING_VALUE_BYTES]; /* what was found */
	char fix[FINDING_FIX_BYTES];     /* one sentence; "" when it is good */
};

/* The text of a finding is printed to a terminal, whatever its origin. So control characters and
 * what is not UTF-8 become '?'. */
void finding_good(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_bad(struct finding *finding, enum finding_state state, const char *fix,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The exit status: 0, or 1 if something is missing that is needed. */
int findings_status(const struct finding *findings, size_t count);
/* Writes one line per finding. */
void findings_text(const struct finding *findings, size_t count, struct buf *out);
/* Writes an array of {check, state, value, fix}; fix is null if there is nothing to fix. 0 or
 * -ENOMEM. */
int findings_json(const struct finding *findings, size_t count, struct buf *out);
