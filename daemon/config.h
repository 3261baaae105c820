/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the command line says. There is no configuration file.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config {
	const char *listen[MAX_LISTENERS]; /* point into argv, or constant */
	size_t listen_count;
	uint64_t sample_hz;
	uint64_t history_ns;
	uint64_t history_bytes;
	uint64_t unwind_bytes;
	uint64_t symbol_bytes;
	const char *debuginfod; /* points into argv; NULL: none */
	uint64_t verbose;
};

/* Reads "profd serve [options]". -EINVAL with `ret_why`, one line for a person. Does not return
 * from --help and --version. `ret_why` is empty when getopt has already said what is wrong. */
int config_parse(int argc, char **argv, struct config *ret_config, char ret_why[256]);
