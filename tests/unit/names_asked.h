/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asking for names of what is known: functions of this program, which is its own reader process,
 * and of an image.
 */
#pragma once

#include "names/client.h"

/* With memory enough for all files here. */
struct names_client *client_of_self(void);
struct names_stats stats_of(const struct names_client *client);
/* known_outer() is told, as file 1: with lines asked for, and whether they are told. */
void expect_self(struct names_client *client, bool lines, bool told_lines);
/* The function "plain" of an image is told; each number is another file. */
void expect_image(struct names_client *client, uint64_t number);
