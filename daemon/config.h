/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct config - what profd is told: by the command line, else by the configuration file, else by
 * the defaults in settings.h. A list of the command line takes the place of the file's.
 */
#pragma once

#include "base/bounds.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read when there is one and --config names no other. */
#define CONFIG_FILE "/etc/profd/profd.conf"

enum { MAX_CONFIG_BYTES = 1 << 20 };

/* What a setting that may be auto holds. */
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
	const char *group;       /* NULL: everybody of this host */
	const char *allow_hosts; /* NULL: none */
	uint64_t on_demand;
	uint64_t gpu;
	uint64_t growth; /* enum automatic */
	uint64_t max_seconds;
	uint64_t max_requests, max_client_requests, max_client_connections;
	uint64_t answer_bytes;
	uint64_t verbose;

	/* What is no setting. */
	enum command command;
	bool json;        /* what the doctor says */
	const char *file; /* that was read; NULL: none */
	int argc;
	char **argv;
	char **texts; /* of the file, that the above point to */
	size_t text_count;
};

/* Reads "profd serve [options]" and what it says the file is. -EINVAL: the command line is wrong;
 * -EBADMSG: the file is, or cannot be read; both with `ret_why`, one line for a person, which is
 * empty when getopt has said what is wrong. Does not return from --help and --version. The result
 * points into argv. */
int config_load(int argc, char **argv, struct config *ret_config, char ret_why[256]);
void config_release(struct config *config);

/* Sets what `text`, the contents of a file of that name, says. -EBADMSG with `ret_why`: the name,
 * the line, and what is accepted. What other lines set stays set. */
int config_read(struct config *config, const char *name, const char *text, char ret_why[256]);

/* A copy of a value that lives as long as the config. NULL: out of memory. */
const char *config_keep(struct config *config, const char *text);

/* Writes all settings in a file's syntax to standard output. 0 or -EIO. */
int config_show(const struct config *config);

/* Reads again what config_load() read, takes over what can be changed while profd runs, and tells
 * `changed` of each of those. Logs what changed, what would take a restart, and why nothing can be
 * read. */
typedef void config_changed_fn(const struct config *config, void *ctx);
void config_reload(struct config *config, config_changed_fn *changed, void *ctx);
