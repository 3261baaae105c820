/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The test cases of kernel_half, which has the fixture.
 */
#pragma once

#include <check.h>

/* The user and the range of its subordinate ids, for many_case(). */
enum { MANY_USER = 61000, MANY_FIRST_SUBORDINATE = 700000, MANY_SUBORDINATES = 65536 };

TCase *calls_case(void);
TCase *memory_case(void);
TCase *many_case(void);
TCase *ring_case(void);
