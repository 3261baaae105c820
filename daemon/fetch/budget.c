/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An entry counts only within its hour. The table is in the order in which hours began.
 */
#include "fetch/budget.h"

#include "base/clock.h"
#include "base/table.h"

#include <stdlib.h>

static const uint64_t hour_ns = 3600 * NSEC_PER_SEC;

struct expense {
	uint32_t owner;
	uint64_t since_ns, questions, bytes;
	UT_hash_handle hh;
};

static struct expense *find(const struct budget *budget, uint32_t owner, uint64_t now_ns)
{
	struct expense *expense;

	HASH_FIND(hh, budget->by_owner, &owner, sizeof(owner), expense);
	return expense && now_ns - expense->since_ns < hour_ns ? expense : NULL;
}

static void drop(struct budget *budget, struct expense *expense)
{
	HASH_DEL(budget->by_owner, expense);
	free(expense);
}

/* NULL: out of memory. */
static struct expense *begin(struct budget *budget, uint32_t owner, uint64_t now_ns)
{
	struct expense *expense;

	HASH_FIND(hh, budget->by_owner, &owner, sizeof(owner), expense);
	if (expense)
		drop(budget, expense);
	if (HASH_COUNT(budget->by_owner) >= MAX_BUDGET_OWNERS)
		drop(budget, budget->by_owner);
	expense = calloc(1, sizeof(*expense));
	if (!expense)
		return NULL;
	expense->owner = owner;
	expense->since_ns = now_ns;
	HASH_ADD(hh, budget->by_owner, owner, sizeof(owner), expense);
	if (expense->hh.tbl)
		return expense;
	free(expense);
	return NULL;
}

uint64_t budget_bytes(const struct budget *budget, uint32_t owner, uint64_t now_ns)
{
	const struct expense *expense = find(budget, owner, now_ns);
	uint64_t spent = expense ? expense->bytes : 0;

	if (!owner)
		return UINT64_MAX;
	return spent < budget->bytes ? budget->bytes - spent : 0;
}

bool budget_ask(struct budget *budget, uint32_t owner, uint64_t now_ns)
{
	struct expense *expense = find(budget, owner, now_ns);
	uint64_t max = owner ? budget->questions : budget->root_questions;

	if (!expense)
		expense = begin(budget, owner, now_ns);
	if (!expense || expense->questions >= max || !budget_bytes(budget, owner, now_ns))
		return false;
	expense->questions++;
	return true;
}

void budget_charge(struct budget *budget, uint32_t owner, uint64_t bytes, uint64_t now_ns)
{
	struct expense *expense = find(budget, owner, now_ns);

	/* The hour of the request may be over when its answer comes. */
	if (!expense)
		expense = begin(budget, owner, now_ns);
	if (expense && __builtin_add_overflow(expense->bytes, bytes, &expense->bytes))
		expense->bytes = UINT64_MAX;
}

void budget_release(struct budget *budget)
{
	while (budget->by_owner)
		drop(budget, budget->by_owner);
}
