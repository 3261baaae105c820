/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct budget - how many debug files, and bytes of them, are fetched for each user in an hour:
 * anybody can write any build ID into a file and run it. An hour begins with a user's first
 * question. Pure; owned by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Users who are remembered; with more, who asked first begins anew. */
enum { MAX_BUDGET_OWNERS = 1024 };

struct budget {
	uint64_t questions, bytes; /* of an hour, of each user but root */
	uint64_t root_questions; /* root's files are not anybody's choice; its bytes are not limited
	                          */
	struct expense *by_owner;
};

/* False: he has no question, or no byte, left. Else it is one of his questions. */
bool budget_ask(struct budget *budget, uint32_t owner, uint64_t now_ns);
/* What he may still receive. */
uint64_t budget_bytes(const struct budget *budget, uint32_t owner, uint64_t now_ns);
void budget_charge(struct budget *budget, uint32_t owner, uint64_t bytes, uint64_t now_ns);
void budget_release(struct budget *budget);
