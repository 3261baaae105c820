/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_debts - how much of users' files was read, so that a user whose programs write without
 * end does not keep the daemon busy. A user may be read JIT_DEBT_BYTES at once, and JIT_PACE_BYTES
 * a second. Pure; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JIT_DEBT_BYTES = 8 << 20, JIT_PACE_BYTES = 1 << 20 };

/* All zero: empty. */
struct jit_debts {
	struct jit_debt *by_owner;
	uint64_t paid_ns;
};

void jit_debts_add(struct jit_debts *debts, uint32_t owner, size_t bytes);
bool jit_debts_exceeded(const struct jit_debts *debts, uint32_t owner);
/* To be called now and then: reduces all debts by the time that has passed. */
void jit_debts_pay(struct jit_debts *debts, uint64_t now_ns);
void jit_debts_clear(struct jit_debts *debts);
