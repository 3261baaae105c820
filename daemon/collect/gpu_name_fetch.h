/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the name of a kernel from the process that has it, where the kernel half could not. No
 * state; any thread. Never waits for a page.
 */
#pragma once

#include "bpf/gpu.h"

#include <stddef.h>

/* The bytes of the string at that address, without the NUL at its end; 0: it is not there, or not
 * in memory. What is longer than there is room for is cut. */
size_t gpu_name_fetch(uint32_t pid, uint64_t address, char ret_name[GPU_NAME_BYTES]);
