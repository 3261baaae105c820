/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names and help texts of the kernel half's counters, made from the list of counters.
 */
#include "ingest/drain.h"

#define COUNTER(name, help) #name,
const char *const counter_names[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
#define COUNTER(name, help) help,
const char *const counter_help[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
