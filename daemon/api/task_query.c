/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "api/task_query.h"

#include "base/text.h"
#include "http/query_value.h"

#include <string.h>

static int read_ids(const struct query *query, const char *name, uint32_t *ids, size_t *count,
                    struct refusal *ret_refusal)
{
	for (size_t i = 0; i < query->count; i++) {
		uint64_t id;

		if (strcmp(query->pairs[i].name, name) != 0)
			continue;
		if (text_parse_u64(query->pairs[i].value, 1, MAX_TASK_ID, &id) < 0)
			return refuse(ret_refusal, 400,
			              "bad %s=%.64s: an integer from 1 to %d is accepted%s", name,
			              query->pairs[i].value, MAX_TASK_ID,
			              strchr(query->pairs[i].value, ',')
			                      ? "; repeat the parameter for several"
			                      : "");
		ids[(*count)++] = (uint32_t)id;
	}
	return 0;
}

static int read_names(const struct query *query, const char *name, const char *what,
                      const char **names, size_t *count, struct refusal *ret_refusal)
{
	for (size_t i = 0; i < query->count; i++) {
		if (strcmp(query->pairs[i].name, name) != 0)
			continue;
		if (!query->pairs[i].value[0])
			return refuse(ret_refusal, 400, "bad %s=: %s is accepted", name, what);
		names[(*count)++] = query->pairs[i].value;
	}
	return 0;
}

int task_query_read(const struct query *query, struct selection *selection,
                    struct refusal *ret_refusal)
{
	int err = read_ids(query, "pid", selection->pids, &selection->pid_count, ret_refusal);

	if (!err)
		err = read_ids(query, "tid", selection->tids, &selection->tid_count, ret_refusal);
	if (!err)
		err = read_names(query, "comm", "the name of a process or thread", selection->comms,
		                 &selection->comm_count, ret_refusal);
	if (!err)
		err = read_names(query, "unit", "the name of a systemd unit", selection->units,
		                 &selection->unit_count, ret_refusal);
	if (!err)
		err = read_names(query, "container", "the id or name of a container",
		                 selection->containers, &selection->container_count, ret_refusal);
	if (!err)
		err = read_names(query, "pod", "the uid of a pod", selection->pods,
		                 &selection->pod_count, ret_refusal);
	if (!err)
		err = query_switch(query, "children", &selection->children, ret_refusal);
	if (!err && selection->children && !selection->pid_count)
		return refuse(ret_refusal, 400, "children=1 requires pid=");
	return err;
}
