/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the programs that record disk I/O and the daemon share.
 */
#pragma once

#include "bpf/abi.h"

enum {
	BLOCK_OPEN = 4096,      /* sampled requests under way */
	BLOCK_MERGED = 1 << 16, /* more than a driver gets as one request */
};

/* The detail of a tally of KIND_block: what was asked of the device. The first have the kernel's
 * numbers (include/linux/blk_types.h). */
enum block_operation {
#define OPERATION(id, name) BLOCK_##id,
	BLOCK_OPERATIONS(OPERATION)
#undef OPERATION
		BLOCK_OPERATION_COUNT
};
