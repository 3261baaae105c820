/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for CUDA's driver: two devices that only count. Addresses of device memory are made
 * up; of the freed addresses of a size, the last one freed is reused first. A device is full at
 * FAKECUDA_MEMORY (16 GiB) bytes. A call that waits takes FAKECUDA_WAIT_NS. The exported functions
 * of entries.h call those declared here.
 */
#pragma once

#include "cuda.h"
#include "entries.h"

#include <stdbool.h>

enum { DEVICES = 2 };

/* The family of functions that a block is from; only functions of the same family free it. */
enum family { FAMILY_DEVICE, FAMILY_HOST, FAMILY_REGISTERED, FAMILY_PHYSICAL, FAMILY_ARRAY };

/* The address of a new block, or 0 when the device is full. The block is freed with its context;
 * NULL: it belongs to no context. */
uint64_t blocks_take(enum family family, CUcontext context, int device, uint64_t size);
/* Adds memory that has an address already. */
bool blocks_register(enum family family, CUcontext context, uint64_t at, uint64_t size);
/* Frees a block. False: the family has no such block. */
bool blocks_give(enum family family, uint64_t at);
void blocks_end(CUcontext context);
uint64_t blocks_size(void); /* of a device */
uint64_t blocks_used(int device);

/* The thread's current context, or NULL; and its device, or -1. */
CUcontext current_context(void);
int current_device(void);
