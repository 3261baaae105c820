/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of commands.h.
 */
#include "commands.h"

#define COMMAND(command, words, help) {command, words, help},
const struct command_text commands[COMMAND_COUNT] = {COMMANDS(COMMAND)};
#undef COMMAND

#define OPTION(key, name, argument, help) {key, name, argument, help},
const struct option_text options_apart[OPTION_COUNT] = {
	OPTIONS(OPTION){'?', "help", NULL, "Print all commands and options"},
	{0, "usage", NULL, "Print a short usage message"},
	{'V', "version", NULL, "Print the version"},
};
#undef OPTION
