/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An assertion for long loops. Check's assertions write a message to the runner each time they
 * hold, so that the runner knows where a test crashed, and the runner parses all messages. Millions
 * of them take longer than the code under test. With sanitizers, whose quarantine keeps the memory
 * that the runner frees, the runner becomes so large that each test that it forks afterwards is
 * slow to start and to end.
 */
#pragma once

#include <check.h>

/* Writes a message only if it does not hold. */
#define ASSERT_OFTEN(holds)                                         \
	do {                                                        \
		if (!(holds))                                       \
			ck_abort_msg("'%s' does not hold", #holds); \
	} while (0)
