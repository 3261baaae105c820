/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads one parameter of a query as a value within bounds. A parameter that is not given leaves
 * `value` unchanged, so callers set defaults there; a value that is not accepted gives -EINVAL with
 * a refusal that contains the name, the given value and the accepted ones. Pure; any thread.
 */
#pragma once

#include "http/query.h"

#include <stdint.h>

int query_number(const struct query *query, const char *name, uint64_t min, uint64_t max,
                 uint64_t *value, struct refusal *ret_refusal);
/* pid=, which must be given. */
int query_pid(const struct query *query, uint32_t *ret_pid, struct refusal *ret_refusal);
/* 0 or 1. */
int query_switch(const struct query *query, const char *name, bool *value,
                 struct refusal *ret_refusal);
/* A size in bytes: "512KiB", "1MiB", "4096". `accepted` gives the bounds in words. */
int query_size(const struct query *query, const char *name, uint64_t min, uint64_t max,
               const char *accepted, uint64_t *value, struct refusal *ret_refusal);
/* "30s", "5m", in nanoseconds. With UINT64_MAX for `max_ns` the refusal names no upper bound. */
int query_duration(const struct query *query, const char *name, uint64_t min_ns, uint64_t max_ns,
                   uint64_t *value_ns, struct refusal *ret_refusal);
