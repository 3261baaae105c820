/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For tests of things that not every host has. If COMPLETE is set, the host must have all of them.
 */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether a test is to be skipped; prints that it is. */
static inline bool host_lacks(bool is_there, const char *what)
{
	if (is_there)
		return false;
	ck_assert_msg(!getenv("COMPLETE"), "this host lacks %s", what);
	printf("this host lacks %s: not looked at\n", what);
	return true;
}
