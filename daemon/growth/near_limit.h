/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct near_limit - which processes may soon be killed for lack of memory, so that the profile of
 * their growth is kept in time. In a control group above 95 % of its limit, page cache not counted,
 * it is the process that holds most. On a host with less than 3 % of its memory available, it is
 * the few processes that hold most. No process is named more than once a minute. The number of
 * named processes is bounded, and each user has a share of it. Pure.
 */
#pragma once

#include "base/shares.h"
#include "memory/reader.h"

enum {
	NEAR_GROUP_PERCENT = 95,
	NEAR_HOST_PERCENT = 3,
	NEAR_OF_HOST = 4,     /* processes considered when the host has little memory left */
	NEAR_AT_ONCE = 8,     /* processes named for one reading */
	NEAR_REMEMBERED = 64, /* processes named in the last minute; no more are named */
};

struct near_limit {
	struct {
		uint32_t pid, user;
		uint64_t named_ms;
	} named[NEAR_REMEMBERED];
	struct shares remembered, at_once;
};

/* The near_limit must be all zeroes. */
void near_limit_init(struct near_limit *near);
void near_limit_release(struct near_limit *near);
/* Returns the number of processes in `ret_named`, whose elements point into the readings. */
size_t near_limit_find(struct near_limit *near, const struct memory_readings *readings,
                       uint64_t now_ms, const struct memory_reading *ret_named[NEAR_AT_ONCE]);
