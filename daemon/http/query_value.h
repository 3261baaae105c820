/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One parameter of a query as a value within bounds. A parameter that is not there leaves `value`
 * as it is, which is how defaults are made; one that is not what is accepted is -EINVAL with a
 * refusal that names it, what was given and what is accepted. Pure; any thread.
 */
#pragma once

#include "http/query.h"

#include <stdint.h>

int query_number(const struct query *query, const char *name, uint64_t min, uint64_t max,
                 uint64_t *value, struct refusal *ret_refusal);
/* 0 or 1. */
int query_switch(const struct query *query, const char *name, bool *value,
                 struct refusal *ret_refusal);
/* Bytes: "512KiB", "1MiB", "4096". `accepted` says the bounds in words. */
int query_size(const struct query *query, const char *name, uint64_t min, uint64_t max,
               const char *accepted, uint64_t *value, struct refusal *ret_refusal);
/* "30s", "5m", as nanoseconds. With UINT64_MAX for `max_ns` the refusal says no upper bound. */
int query_duration(const struct query *query, const char *name, uint64_t min_ns, uint64_t max_ns,
                   uint64_t *value_ns, struct refusal *ret_refusal);
