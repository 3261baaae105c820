/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct budget - limits the number and bytes of debug files that are fetched for each user in an
 * hour: any user can write any build ID into a file and run it. An hour begins with a user's first
 * request. Pure; owned by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Users that are remembered; with more, the budget of the user whose hour began first starts anew.
 */
enum { MAX_BUDGET_OWNERS = 1024 };

struct budget {
	uint64_t questions, bytes; /* per hour, for each user except root */
	/* Other users cannot choose root's files, so root's bytes are not limited. */
	uint64_t root_questions;
	struct expense *by_owner;
};

/* Charges a request to the user. False: the user has no request, or no byte, left. */
bool budget_ask(struct budget *budget, uint32_t owner, uint64_t now_ns);
/* The number of bytes that the user may still receive. */
uint64_t budget_bytes(const struct budget *budget, uint32_t owner, uint64_t now_ns);
void budget_charge(struct budget *budget, uint32_t owner, uint64_t bytes, uint64_t now_ns);
void budget_release(struct budget *budget);
