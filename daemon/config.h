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

enum { MAX_CONFIG_BYTES = 1 << 20 };

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

/* Reads "profd serve [options]" and the configuration file that it names. -EINVAL: the command line
 * is wrong; -EBADMSG: the file is wrong, or cannot be read. Both set `ret_why` to one line for a
 * person, which is empty when getopt has printed the error. Does not return for --help and
 * --version. The result points into argv. */
int config_load(int argc, char **argv, struct config *ret_config, char ret_why[256]);
void config_release(struct config *config);

/* Applies the settings in `text`, the contents of the file `name`. -EBADMSG with `ret_why`: the
 * name, the line, and what is accepted. Settings of other lines remain applied. */
int config_read(struct config *config, const char *name, const char *text, char ret_why[256]);

/* Copies a value; the copy lives as long as the config. NULL: out of memory. */
const char *config_keep(struct config *config, const char *text);

/* Writes all settings to standard output in the syntax of a file. 0 or -EIO. */
int config_show(const struct config *config);

/* Reads again what config_load() read, applies the settings that can change while profd runs, and
 * calls `changed` for each that did. Logs what changed, what requires a restart, and errors. */
typedef void config_changed_fn(const struct config *config, void *ctx);
void config_reload(struct config *config, config_changed_fn *changed, void *ctx);
