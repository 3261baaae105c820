/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Blocks of text that are made at build time from the tables in daemon/settings.h and
 * daemon/commands.h. In the templates of packaging/ they appear as @NAME@. A block ends without a
 * newline. Single-threaded.
 */
#pragma once

#include "base/buf.h"
#include "commands.h"
#include "settings.h"

typedef void texts_fn(struct buf *out);

/* Manual pages, in man(7)'s macros. */
texts_fn texts_man_commands, texts_man_settings_as_options, texts_man_options, texts_man_settings;
/* The settings of the sample file, each after a #. */
texts_fn texts_sample;
/* For bash and fish: quoted words of an array. */
texts_fn texts_words_commands, texts_words_options, texts_words_with_argument, texts_words_files;
/* For zsh: arguments of _arguments and _describe. */
texts_fn texts_zsh_options, texts_zsh_commands;
/* For fish: lines of `complete` commands. */
texts_fn texts_fish_options, texts_fish_commands;

/* Calls `each` for every option: first those of settings, then the others. */
void texts_each_option(void (*each)(struct buf *out, const struct option_text *option),
                       struct buf *out);
/* The character of the short option; 0: there is none. */
char texts_short(int key);
/* Whether the argument is a file name. */
bool texts_takes_file(const struct option_text *option);
/* Adds `text`, with `before` in front of each character that is in `special`. */
void texts_escape(struct buf *out, const char *text, const char *special, const char *before);
/* Adds `text` as lines that fit a screen. Each line is `prefix`, the text that `add_line` writes,
 * and a newline. */
void texts_wrap(struct buf *out, const char *text, const char *prefix,
                void (*add_line)(struct buf *out, const char *line));
