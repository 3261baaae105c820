/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct config - the values of all settings: from the command line, else from the configuration
 * file, else the defaults in settings.h. A list on the command line replaces the file's.
 */
#pragma once

#include "base/bounds.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read if it exists and --config names no other file. */
#define CONFIG_FILE "/etc/profd/profd.conf"

/* Values of a setting that may be auto. */
enum automatic { AUTO_NO, AUTO_YES, AUTO_CHOOSES };

enum command {
	COMMAND_SERVE,
	COMMAND_CHECK, /* profd config check */
	COMMAND_SHOW,  /* profd config show */
	COMMAND_DOCTOR,
};

struct config {
	const char *listen[MAX_LISTENERS];
	size_t listen_count;
	uint64_t sample_hz;
	uint64_t history_ns;
	uint64_t history_bytes;
	uint64_t unwind_bytes;
	uint64_t symbol_bytes;
	const char *debuginfod; /* NULL: none */
	uint64_t debuginfod_http;
	uint64_t debuginfod_bytes;
	const char *web_config; /* NULL: none */
	uint64_t insecure;
	const char *group;       /* NULL: all users of this host */
	const char *allow_hosts; /* NULL: none */
	uint64_t on_demand;
	uint64_t gpu;
	uint64_t user_probes, growth; /* enum automatic */
	uint64_t waits;
	uint64_t faults;
	uint64_t max_seconds;
	uint64_t max_requests, max_client_requests, max_client_connections;
	uint64_t answer_bytes;
	const char *export; /* NULL: nowhere */
	uint64_t export_ns, export_bytes;
	uint64_t verbose;

	/* Not settings. */
	enum command command;
	bool json;        /* the format of the doctor's output */
	const char *file; /* the file that was read; NULL: none */
	int argc;
	char **argv;
	char **texts; /* texts of the file that the members above point to */
	size_t text_count;
};

void config_release(struct config *config);
/* Copies a value; the copy lives as long as the config. NULL: out of memory. */
const char *config_keep(struct config *config, const char *text);
