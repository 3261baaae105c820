/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The suites of test_walker.
 */
#pragma once

#include <check.h>

Suite *recorded_x86_suite(void);
Suite *recorded_arm64_suite(void);
Suite *deep_suite(void);
Suite *hostile_suite(void);
Suite *python_suite(void);
Suite *stack_keys_suite(void);
Suite *stack_shares_suite(void);
Suite *growth_seats_suite(void);
Suite *python_told_suite(void);
Suite *python_hostile_suite(void);
