/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct moment - what is known at the end of a range beside the slices: the parents of processes,
 * and the state of what is in use. It is read when the first capture asks, and shared by all
 * captures that end at the same time. Used on the loop thread only; what it gives is constant, and
 * may be read by any thread while the capture holds the moment.
 */
#pragma once

#include "collect/collector.h"
#include "profile/select.h"

struct moment;

/* A reference to the moment of that time; NULL when out of memory. */
struct moment *moment_get(uint64_t mono_ns);
void moment_unref(struct moment *moment); /* takes NULL */

/* The parents of all processes that run, or ended while the history was recorded. The account is
 * charged, unless another was (profile/held.h). 0, -ENOMEM or -ENOBUFS. */
int moment_kinships(struct moment *moment, const struct procs *procs, uint64_t account,
                    const struct kinship **ret_known, size_t *ret_count);
/* A reference to what is in use, charged likewise. 0, -ENOMEM, -ENOBUFS or another error. */
int moment_in_use(struct moment *moment, struct collector *collector, enum profile_kind kind,
                  uint64_t account, struct profile **ret_slice);
