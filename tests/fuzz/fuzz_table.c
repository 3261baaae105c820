/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an unwind table in a reader process's answer. A table that passes the check is
 * searched as the walker does it, at both ends of each block: only its own words are read, and each
 * result is an existing operation, with a rule of the table.
 */
#include "unwind/op.h"
#include "unwind/table_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 1 << 16 };

static void search(const struct table *table, uint64_t address)
{
	uint32_t op = table_find(table, address), value = op & OP_VALUE_MASK;
	struct unwind_rule rule;

	if (op >> OP_BASE_SHIFT == OP_NAMED && (value & UINT8_MAX) > OP_PLT)
		abort();
	if (op >> OP_BASE_SHIFT != OP_RULE)
		return;
	memcpy(&rule, &table->words[(size_t)value * RULE_WORDS], sizeof(rule));
	if (rule.cfa > RULE_CFA_DEREF || rule.cfa_register >= MAX_REGS ||
	    rule.fp_register >= MAX_REGS || rule.ra_register >= MAX_REGS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(table_freep) struct table *table = NULL;
	/* Exactly this size, so that a read beyond it is detected. */
	_cleanup_free_ uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (table_check(bytes, size, MAX_WORDS) || table_read(TAKE_PTR(bytes), size, &table))
		return 0;
	for (uint32_t block = 0; block < table->blocks; block++) {
		uint64_t start = table->text + (uint64_t)block * BLOCK_BYTES;

		search(table, start);
		search(table, start + BLOCK_BYTES / 2);
		search(table, start + BLOCK_BYTES - 1);
	}
	return 0;
}
