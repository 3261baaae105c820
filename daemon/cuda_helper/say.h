/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on the standard error of the program that has loaded the library. A line never kills the
 * program (SIGPIPE), and never goes to a file that the program has opened in place of standard
 * error.
 */
#pragma once

void say_init(void); /* before the first say() */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
