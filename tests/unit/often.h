/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An assertion for long loops. Those of check write a message to the runner each time they hold, so
 * that it knows where a test was that crashed, and the runner parses them all: by the million they
 * take longer than what they test, and with sanitizers, whose quarantine keeps what the runner
 * frees, the runner becomes so large that each test it forks afterwards is slow to start and to
 * end.
 */
#pragma once

#include <check.h>

/* Says something only where it does not hold. */
#define ASSERT_OFTEN(holds)                                         \
	do {                                                        \
		if (!(holds))                                       \
			ck_abort_msg("'%s' does not hold", #holds); \
	} while (0)
