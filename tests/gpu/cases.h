/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The test cases of kernel_half; the fixture is its own.
 */
#pragma once

#include <check.h>

/* Whose subordinate ids are which, as many_case() sees it. */
enum { MANY_USER = 61000, MANY_FIRST_SUBORDINATE = 700000, MANY_SUBORDINATES = 65536 };

TCase *calls_case(void);
TCase *memory_case(void);
TCase *many_case(void);
