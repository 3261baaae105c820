/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half's counters are called and mean, made from the list of them.
 */
#include "collect/collector.h"

#define COUNTER(name, help) #name,
const char *const counter_names[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
#define COUNTER(name, help) help,
const char *const counter_help[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
