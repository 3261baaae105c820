/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct near_limit - which processes may soon be killed for lack of memory, so that what made them
 * grow is kept in time: of a control group above 95 % of its limit, page cache not counted, the
 * process that holds most; of a host with less than 3 % of its memory available the few that do.
 * None is named more than once a minute. How many are named is bounded, and every user has his
 * share of it. Pure.
 */
#pragma once

#include "base/shares.h"
#include "memory/reader.h"

enum {
	NEAR_GROUP_PERCENT = 95,
	NEAR_HOST_PERCENT = 3,
	NEAR_OF_HOST = 4,     /* are looked at where the host has little left */
	NEAR_AT_ONCE = 8,     /* named of one reading */
	NEAR_REMEMBERED = 64, /* that were named in the last minute; more are not named */
};

struct near_limit {
	struct {
		uint32_t pid, user;
		uint64_t named_ms;
	} named[NEAR_REMEMBERED];
	struct shares remembered, at_once;
};

/* Begins with a near_limit that is all zeroes. */
void near_limit_init(struct near_limit *near);
void near_limit_release(struct near_limit *near);
/* How many are in `ret_named`, which point into the readings. */
size_t near_limit_find(struct near_limit *near, const struct memory_readings *readings,
                       uint64_t now_ms, const struct memory_reading *ret_named[NEAR_AT_ONCE]);
