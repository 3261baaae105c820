/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What threads did, as lines of the header of format=text, for profiles whose samples have a state:
 *
 *   States: sleep 74.1 % (futex 50.0 %, poll 24.1 %), running 20.3 %, runnable 5.6 %
 *   GIL: waiting 51.0 %, held 48.2 %, released 0.8 %
 *
 * The second line is of the time of threads that run Python.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* `value`: the values of samples that are added up. */
void text_states_write(const struct profile *profile, uint32_t value, struct buf *out);
