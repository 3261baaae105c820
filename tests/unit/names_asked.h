/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asks for known names: functions of this program, which is its own reader process, and functions
 * of an image.
 */
#pragma once

#include "names/client.h"

/* A client with enough memory for all files of these tests. */
struct names_client *client_of_self(void);
struct names_stats stats_of(const struct names_client *client);
/* Checks that known_outer() is named, in file 1: whether lines are asked for, and whether they are
 * expected. */
void expect_self(struct names_client *client, bool lines, bool told_lines);
/* Checks that the function "plain" of an image is named. Each number is a different file. */
void expect_image(struct names_client *client, uint64_t number);
