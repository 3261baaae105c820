/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests of what not every host has. Where COMPLETE is set all of it must be there.
 */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether a test is to look at nothing, which is said. */
static inline bool host_lacks(bool is_there, const char *what)
{
	if (is_there)
		return false;
	ck_assert_msg(!getenv("COMPLETE"), "this host lacks %s", what);
	printf("this host lacks %s: not looked at\n", what);
	return true;
}
