/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tasks whose samples are requested: pid=, tid=, comm=, unit=, container=, pod= and children=.
 * Pure; any thread.
 */
#pragma once

#include "http/query.h"
#include "profile/selection.h"

/* Entries of a table of struct parameter: REPEATED(name, values) may be repeated, PARAMETER(name,
 * values) not. */
#define TASK_PARAMETERS(REPEATED, PARAMETER)                                                    \
	REPEATED("pid", "only these processes; may be repeated")                                \
	REPEATED("tid", "only these threads; may be repeated")                                  \
	REPEATED("comm", "only processes or threads of this name; may be repeated")             \
	REPEATED("unit", "only this systemd unit, such as ssh.service; may be repeated")        \
	REPEATED("container",                                                                   \
	         "only this container, by its id, 4 or more leading digits of it, or its name") \
	REPEATED("pod", "only this Kubernetes pod, by its uid; may be repeated")                \
	PARAMETER("children", "1 adds all descendants of pid=, even if processes between have " \
	                      "ended (default 0)")

/* The names point into the query. -EINVAL with `ret_refusal`. */
int task_query_read(const struct query *query, struct selection *selection,
                    struct refusal *ret_refusal);
