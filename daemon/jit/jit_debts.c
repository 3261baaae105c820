/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_debts.h"

#include "base/clock.h"
#include "base/table.h"

#include <stdlib.h>

struct jit_debt {
	uint32_t owner;
	uint64_t bytes;
	UT_hash_handle hh;
};

static struct jit_debt *find(const struct jit_debts *debts, uint32_t owner)
{
	struct jit_debt *debt;

	HASH_FIND(hh, debts->by_owner, &owner, sizeof(owner), debt);
	return debt;
}

static void forget(struct jit_debts *debts, struct jit_debt *debt)
{
	HASH_DEL(debts->by_owner, debt);
	free(debt);
}

void jit_debts_add(struct jit_debts *debts, uint32_t owner, size_t bytes)
{
	struct jit_debt *debt = find(debts, owner);

	if (!bytes)
		return;
	if (!debt) {
		debt = calloc(1, sizeof(*debt));
		if (!debt)
			return;
		debt->owner = owner;
		HASH_ADD(hh, debts->by_owner, owner, sizeof(owner), debt);
		if (!debt->hh.tbl) {
			free(debt);
			return;
		}
	}
	debt->bytes += bytes;
}

bool jit_debts_exceeded(const struct jit_debts *debts, uint32_t owner)
{
	const struct jit_debt *debt = find(debts, owner);

	return debt && debt->bytes >= JIT_DEBT_BYTES;
}

void jit_debts_pay(struct jit_debts *debts, uint64_t now_ns)
{
	uint64_t paid = (now_ns - debts->paid_ns) / NSEC_PER_MSEC * JIT_PACE_BYTES / 1000;
	struct jit_debt *debt, *next;

	debts->paid_ns = now_ns;
	HASH_ITER (hh, debts->by_owner, debt, next) {
		if (debt->bytes <= paid)
			forget(debts, debt);
		else
			debt->bytes -= paid;
	}
}

void jit_debts_clear(struct jit_debts *debts)
{
	struct jit_debt *debt, *next;

	HASH_ITER (hh, debts->by_owner, debt, next)
		forget(debts, debt);
}
