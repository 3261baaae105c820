/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completions for shells. All texts are in single quotes, where bash and zsh have one special
 * character and fish has two.
 */
#include "packaging/texts/texts.h"

#include <string.h>

static void add_quoted(struct buf *out, const char *text)
{
	buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_add_text(out, "'\\''");
		else
			buf_add_char(out, *text);
	}
	buf_add_char(out, '\'');
}

/* Adds a separator between the words of an array or the lines of a list. */
static void separate(struct buf *out, const char *separator)
{
	if (out->len && !strchr(" (\n\t", out->data[out->len - 1]))
		buf_add_text(out, separator);
}

static void add_word(struct buf *out, const char *before, const char *text, const char *after)
{
	_cleanup_(buf_release) struct buf word = BUF_INIT;

	buf_printf(&word, "%s%s%s", before, text, after);
	separate(out, " ");
	add_quoted(out, buf_text(&word));
}

void texts_words_commands(struct buf *out)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		add_word(out, "", commands[i].words, "");
}

static void add_long(struct buf *out, const struct option_text *option)
{
	add_word(out, "--", option->name, option->argument ? "=" : "");
}

void texts_words_options(struct buf *out)
{
	texts_each_option(add_long, out);
}

static void add_both(struct buf *out, const struct option_text *option)
{
	char letter[] = {texts_short(option->key), '\0'};

	add_word(out, "--", option->name, "");
	if (letter[0])
		add_word(out, "-", letter, "");
}

static void add_with_argument(struct buf *out, const struct option_text *option)
{
	if (option->argument)
		add_both(out, option);
}

void texts_words_with_argument(struct buf *out)
{
	texts_each_option(add_with_argument, out);
}

static void add_with_file(struct buf *out, const struct option_text *option)
{
	if (texts_takes_file(option))
		add_both(out, option);
}

void texts_words_files(struct buf *out)
{
	texts_each_option(add_with_file, out);
}

/* '(-f --freq)'{'-f+','--freq='}'[help]:HZ:' as in zshcompsys(1), quoted because of -?. */
static void add_zsh_option(struct buf *out, const struct option_text *option)
{
	const struct setting *setting = setting_find(option->name);
	const char *value = option->argument ? "=" : "";
	char letter = texts_short(option->key);
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	separate(out, "\n\t");
	/* An option that may be repeated excludes none. */
	if (setting && setting_is_list(setting))
		buf_add_text(out, "'*'");
	else if (letter)
		buf_printf(out, "'(-%c --%s)'", letter, option->name);
	if (letter)
		buf_printf(out, "{'-%c%s','--%s%s'}", letter, option->argument ? "+" : "",
		           option->name, value);
	else
		buf_printf(out, "--%s%s", option->name, value);
	buf_add_char(&text, '[');
	texts_escape(&text, option->help, "[]\\", "\\");
	buf_add_char(&text, ']');
	if (option->argument) {
		buf_add_char(&text, ':');
		texts_escape(&text, option->argument, ":\\", "\\");
		buf_add_text(&text, texts_takes_file(option) ? ":_files" : ": ");
	}
	add_quoted(out, buf_text(&text));
}

void texts_zsh_options(struct buf *out)
{
	texts_each_option(add_zsh_option, out);
}

void texts_zsh_commands(struct buf *out)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		_cleanup_(buf_release) struct buf text = BUF_INIT;

		buf_printf(&text, "%s:%s", commands[i].words, commands[i].help);
		separate(out, "\n\t");
		add_quoted(out, buf_text(&text));
	}
}

static void add_fish_quoted(struct buf *out, const char *text)
{
	buf_add_char(out, '\'');
	texts_escape(out, text, "'\\", "\\");
	buf_add_char(out, '\'');
}

static void add_fish_option(struct buf *out, const struct option_text *option)
{
	char letter = texts_short(option->key);

	separate(out, "\n");
	buf_add_text(out, "complete -c profd");
	if (letter)
		buf_printf(out, " -s '%c'", letter);
	buf_printf(out, " -l %s%s -d ", option->name,
	           texts_takes_file(option) ? " -rF"
	           : option->argument       ? " -x"
	                                    : "");
	add_fish_quoted(out, option->help);
}

void texts_fish_options(struct buf *out)
{
	texts_each_option(add_fish_option, out);
}

/* For "config check": "config" as the first word, and "check" after "config". */
void texts_fish_commands(struct buf *out)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const char *words = commands[i].words;

		for (size_t at = 0, len; words[at]; at += len + (words[at + len] == ' ')) {
			len = strcspn(words + at, " ");
			separate(out, "\n");
			buf_printf(out, "complete -c profd -n '__profd_typed %.*s' -a %.*s",
			           at ? (int)at - 1 : 0, words, (int)len, words + at);
			if (words[at + len])
				continue;
			buf_add_text(out, " -d ");
			add_fish_quoted(out, commands[i].help);
		}
	}
}
