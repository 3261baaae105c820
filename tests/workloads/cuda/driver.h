/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for CUDA's driver: two devices that only count. Addresses of device memory are made
 * up, the first that was freed of a size last is given again, and a device is full when what was
 * asked for comes to FAKECUDA_MEMORY (16 GiB) bytes. FAKECUDA_WAIT_NS is how long a call that waits
 * takes. The functions here are behind the exported ones of entries.h.
 */
#pragma once

#include "cuda.h"
#include "entries.h"

#include <stdbool.h>

enum { DEVICES = 2 };

/* Of which family of functions a block is; only those of the same free it. */
enum family { FAMILY_DEVICE, FAMILY_HOST, FAMILY_REGISTERED, FAMILY_PHYSICAL, FAMILY_ARRAY };

/* A block's address, or 0 when the device has no room. The context goes, and the block with it;
 * NULL: it is in none. */
uint64_t blocks_take(enum family family, CUcontext context, int device, uint64_t size);
/* Memory that has an address already. */
bool blocks_register(enum family family, CUcontext context, uint64_t at, uint64_t size);
/* Whether there was such a block of the family. */
bool blocks_give(enum family family, uint64_t at);
void blocks_end(CUcontext context);
uint64_t blocks_size(void); /* of a device */
uint64_t blocks_used(int device);

/* The thread's current context, or NULL; its device, or -1. */
CUcontext current_context(void);
int current_device(void);
