/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes a policy from settings.
 */
#include "policies.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *reason(int err)
{
	return err == -ENOENT ? "there is no such group" : strerror(-err);
}

static struct policies *policies_of(struct job *job)
{
	return (struct policies *)((char *)job - offsetof(struct policies, job));
}

/* Takes all settings except the group. */
static void take_settings(struct policies *policies)
{
	const struct config *config = policies->config;
	struct policy *now = &policies->now;

	now->allow_hosts = config->allow_hosts;
	now->on_demand = config->on_demand;
	now->max_seconds = config->max_seconds;
	now->max_requests = config->max_requests;
	now->max_client_requests = config->max_client_requests;
	now->max_client_connections = config->max_client_connections;
	now->answer_bytes = config->answer_bytes;
}

/* A group whose members are not known, or not any more, has no members; root is served all the
 * same. */
static void take_members(struct policies *policies, struct members *members)
{
	members_free(policies->members);
	policies->members = members;
	policies->now.members = members;
	policies->now.group = policies->config->group;
}

/* Worker thread. */
static void run_read(struct job *job)
{
	struct policies *policies = policies_of(job);

	policies->error = members_read(policies->group, &policies->found);
}

static void start_reading(struct policies *policies);

static void on_read(struct job *job)
{
	struct policies *policies = policies_of(job);
	const char *wanted = policies->config->group;

	policies->reading = false;
	/* The setting may have changed meanwhile. */
	if (policies->again || !wanted || strcmp(wanted, policies->group) != 0) {
		members_free(policies->found);
		policies->again = false;
		if (wanted && policies->error != -ECANCELED)
			start_reading(policies);
	} else if (policies->error) {
		if (policies->error != -ECANCELED)
			log_error("cannot read the members of the group %s: %s; profd serves %s",
			          policies->group, reason(policies->error),
			          policies->members ? "the previous members" : "root only");
	} else {
		log_info("%zu users are in the group %s", members_count(policies->found), wanted);
		take_members(policies, policies->found);
	}
	policies->found = NULL;
}

static void start_reading(struct policies *policies)
{
	if (policies->reading) {
		policies->again = true;
		return;
	}
	free(policies->group);
	policies->group = strdup(policies->config->group);
	policies->error = -ECANCELED;
	policies->found = NULL;
	if (policies->group && lane_submit(policies->lane, &policies->job) == 0)
		policies->reading = true;
	else
		log_error("cannot read the members of the group %s; profd serves the previous "
		          "members",
		          policies->config->group);
}

/* Without a group there are no members. */
static int read_members(const struct config *config, struct members **ret_members,
                        char ret_why[256])
{
	int err = config->group ? members_read(config->group, ret_members) : 0;

	if (err)
		snprintf(ret_why, 256, "cannot read the members of the group %.64s: %s",
		         config->group, reason(err));
	return err == -ENOENT ? -EBADMSG : err;
}

int policies_check(const struct config *config, char ret_why[256])
{
	_cleanup_(members_freep) struct members *members = NULL;

	return read_members(config, &members, ret_why);
}

int policies_start(struct policies *policies, uv_loop_t *loop, const struct config *config,
                   char ret_why[256])
{
	struct members *members = NULL;
	int err;

	policies->config = config;
	policies->job = (struct job){.run = run_read, .done = on_read};
	policies->lane = lane_new(loop, WORK_group, 1);
	if (!policies->lane) {
		snprintf(ret_why, 256, "cannot start: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = read_members(config, &members, ret_why);
	if (err)
		return err;
	take_settings(policies);
	take_members(policies, members);
	return 0;
}

void policies_update(struct policies *policies)
{
	take_settings(policies);
	if (policies->config->group && !policies->now.group)
		take_members(policies, NULL);
	if (policies->config->group)
		start_reading(policies);
	else
		take_members(policies, NULL);
}

void policies_stop(struct policies *policies)
{
	if (policies->lane)
		lane_stop(policies->lane);
}

void policies_release(struct policies *policies)
{
	lane_free(policies->lane);
	members_free(policies->members);
	free(policies->group);
}
