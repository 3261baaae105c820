/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is made at build time from the tables in daemon/settings.h and daemon/commands.h: blocks of
 * text that stand in a template of packaging/ as @NAME@. A block ends without a newline. One
 * thread.
 */
#pragma once

#include "base/buf.h"
#include "commands.h"
#include "settings.h"

typedef void texts_fn(struct buf *out);

/* Manual pages, in man(7)'s macros. */
texts_fn texts_man_commands, texts_man_settings_as_options, texts_man_options, texts_man_settings;
/* The settings of the sample file, each behind a #. */
texts_fn texts_sample;
/* For bash and fish: words of an array, quoted. */
texts_fn texts_words_commands, texts_words_options, texts_words_with_argument, texts_words_files;
/* For zsh: what _arguments and _describe take. */
texts_fn texts_zsh_options, texts_zsh_commands;
/* For fish: lines that say what can be completed. */
texts_fn texts_fish_options, texts_fish_commands;

/* Calls `each` for every option: settings, and those apart from them. */
void texts_each_option(void (*each)(struct buf *out, const struct option_text *option),
                       struct buf *out);
/* The character of the short option; 0: it has none. */
char texts_short(int key);
/* Whether the argument is a name of a file. */
bool texts_takes_file(const struct option_text *option);
/* Adds `text`, each character that is in `special` behind a `before`. */
void texts_escape(struct buf *out, const char *text, const char *special, const char *before);
/* Adds `text` as lines that begin with `prefix` and fit a screen; `add_line` writes what is behind
 * that. Each ends with a newline. */
void texts_wrap(struct buf *out, const char *text, const char *prefix,
                void (*add_line)(struct buf *out, const char *line));
