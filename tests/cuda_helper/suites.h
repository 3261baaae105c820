/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the tests of the library in a program and those of its parts.
 */
#pragma once

#include <check.h>
#include <stdint.h>

#define ASSERT_NEAR(value, truth, share)                                                    \
	ck_assert_msg((double)(value) > (double)(truth) * (1 - (share)) &&                  \
	                      (double)(value) < (double)(truth) * (1 + (share)),            \
	              "%lu is not within %.0f %% of %lu", (uint64_t)(value), 100 * (share), \
	              (uint64_t)(truth))

TCase *guest_case(void);
TCase *parts_case(void);
