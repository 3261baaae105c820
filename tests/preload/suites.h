/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

#include <check.h>

/* Like ck_assert(), which allocates even on success, and would thus be sampled. */
#define must(condition) ((condition) ? (void)0 : must_have(__FILE__, __LINE__, #condition))
void must_have(const char *file, int line, const char *condition);

#define SUITES(X)  \
	X(weights) \
	X(pairing) \
	X(edges)

#define DECLARE(name) Suite *name##_suite(void);
SUITES(DECLARE)
#undef DECLARE

/* The value of PROFD_HEAP_RATE, which the caller of the tests sets. */
double rate(void);
