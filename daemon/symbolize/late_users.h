/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct late_users - users whose files were not read in time. profd waits less for the files of
 * such a user: half as long after each late file, down to no time at all, and twice as long again
 * after every 15 seconds. Pure; part of struct file_names, render lane only.
 */
#pragma once

#include "base/clock.h"
#include "object/object.h"

#include <stdint.h>

enum { MAX_LATE_USERS = 64 };

/* The initial time to wait for a user's file. Most take milliseconds. */
#define PATIENCE_NS (3 * NSEC_PER_SEC)

struct late_user {
	uint32_t account;
	unsigned int times; /* 0: a free entry */
	uint64_t since_ns;
};

/* All zero at first. */
struct late_users {
	struct late_user at[MAX_LATE_USERS];
};

/* The time to wait for the file; 0: do not wait. */
uint64_t late_users_patience_ns(struct late_users *users, const struct object *object,
                                uint64_t now_ns);
/* The file was not read in time. When no entry is free, the one of the user that was late longest
 * ago is reused. */
void late_users_note(struct late_users *users, const struct object *object, uint64_t now_ns);
