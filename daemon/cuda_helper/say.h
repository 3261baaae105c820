/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on the standard error of the program that the library is in. It is not killed for one, and
 * none gets into what it has opened there since.
 */
#pragma once

void say_init(void); /* before anything is said */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
