/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The single list of the commands, and of the options that are not settings. The command line's
 * parser, --help, the manual pages and shell completion are made from these tables. Pure; any
 * thread.
 */
#pragma once

#include "config.h"

/* COMMAND(command, words, help); `help` says what the command does, without a final period. */
#define COMMANDS(COMMAND)                                                                        \
	COMMAND(COMMAND_SERVE, "serve",                                                          \
	        "Profile this host and serve HTTP until SIGTERM or SIGINT")                      \
	COMMAND(COMMAND_CHECK, "config check", "Check the configuration file")                   \
	COMMAND(COMMAND_SHOW, "config show",                                                     \
	        "Print all settings in the configuration file's syntax")                         \
	COMMAND(COMMAND_DOCTOR, "doctor",                                                        \
	        "Report which features of this host profd can use; exit with 1 if serve cannot " \
	        "work")

enum { KEY_CONFIG = 'c', KEY_JSON = 'j' };

/* OPTION(key, name, argument, help), as for SETTINGS. */
#define OPTIONS(OPTION)                                                                         \
	OPTION(KEY_CONFIG, "config", "FILE", "Read settings from here instead of " CONFIG_FILE) \
	OPTION(KEY_JSON, "json", NULL, "Print the findings of doctor as JSON")

struct command_text {
	enum command command;
	const char *words, *help; /* `words` has one blank between words */
};

struct option_text {
	int key; /* short option, if it is a character */
	const char *name, *argument, *help;
};

#define COMMAND(...) +1
enum { COMMAND_COUNT = 0 COMMANDS(COMMAND) };
#undef COMMAND
#define OPTION(...) +1
/* Includes --help, --usage and --version, which argp adds. */
enum { OPTION_COUNT = 3 OPTIONS(OPTION) };
#undef OPTION

extern const struct command_text commands[COMMAND_COUNT];
extern const struct option_text options_apart[OPTION_COUNT];
