/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What generates code in a process, as the names of the files say that it maps. Pure.
 */
#pragma once

#include <stdint.h>

/* The number of the runtime to which a mapped file belongs, or `known` if that says more. 0: not
 * known. */
uint8_t jit_runtime_of(const char *path, uint8_t known);
/* NULL for 0. */
const char *jit_runtime_name(uint8_t runtime);
