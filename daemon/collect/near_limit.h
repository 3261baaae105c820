/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct near_limit - which processes may soon be killed for lack of memory, so that what made them
 * grow is kept in time: of a control group above 95 % of its limit, page cache not counted, the
 * process that holds most; of a host with less than 3 % of its memory available the few that do.
 * None is named more than once a minute. Pure.
 */
#pragma once

#include "memory/reader.h"

enum {
	NEAR_GROUP_PERCENT = 95,
	NEAR_HOST_PERCENT = 3,
	NEAR_AT_ONCE = 4,     /* named of one reading */
	NEAR_REMEMBERED = 64, /* that were named in the last minute; more are not named */
};

struct near_limit {
	struct {
		uint32_t pid;
		uint64_t named_ms;
	} named[NEAR_REMEMBERED];
};

/* Zero-initialized at first. How many are in `ret_named`, which point into the readings. */
size_t near_limit_find(struct near_limit *near, const struct memory_readings *readings,
                       uint64_t now_ms, const struct memory_reading *ret_named[NEAR_AT_ONCE]);
