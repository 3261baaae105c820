/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Why a request is not served as asked: a status, and one line for a person that says what is
 * accepted instead. Pure, so that all code that reads a query can be tested without a server.
 */
#pragma once

#include <stddef.h>

struct refusal {
	unsigned int status;
	char text[512]; /* no newline; printable, whatever the client sent */
};

/* Fills in the refusal and returns -EINVAL, so that a reader can `return refuse(...)`. */
int refuse(struct refusal *refusal, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
