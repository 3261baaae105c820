/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The test cases of kernel_half; the fixture is its own.
 */
#pragma once

#include <check.h>

TCase *calls_case(void);
TCase *memory_case(void);
TCase *many_case(void);
