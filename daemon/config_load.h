/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the values of the settings come from: the command line and the configuration file, at the
 * start and on SIGHUP; and writing them.
 */
#pragma once

#include "config.h"

enum { MAX_CONFIG_BYTES = 1 << 20 };

/* Reads "profd serve [options]" and the configuration file that it names. -EINVAL: the command line
 * is wrong; -EBADMSG: the file is wrong, or cannot be read. Both set `ret_why` to one line for a
 * person, which is empty when getopt has printed the error. Does not return for --help and
 * --version. The result points into argv. */
int config_load(int argc, char **argv, struct config *ret_config, char ret_why[256]);

/* Applies the settings in `text`, the contents of the file `name`. -EBADMSG with `ret_why`: the
 * name, the line, and what is accepted. Settings of other lines remain applied. */
int config_read(struct config *config, const char *name, const char *text, char ret_why[256]);

/* Writes all settings to standard output in the syntax of a file. 0 or -EIO. */
int config_show(const struct config *config);

/* Reads again what config_load() read, applies the settings that can change while profd runs, and
 * calls `changed` for each that did. Logs what changed, what requires a restart, and errors. */
typedef void config_changed_fn(const struct config *config, void *ctx);
void config_reload(struct config *config, config_changed_fn *changed, void *ctx);
