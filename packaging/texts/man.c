/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Blocks of manual pages: tagged paragraphs, in man(7)'s macros. Text is escaped, so it never
 * becomes a request. Hyphens, quotes and backslashes are ASCII, so commands can be copied from the
 * page.
 */
#include "packaging/texts/texts.h"

#include <string.h>

static void add_escaped(struct buf *out, const char *text)
{
	static const struct {
		char from;
		const char *to;
	} escapes[] = {
		{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
		{'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"},
	};

	for (; *text; text++) {
		const char *to = NULL;

		for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
			if (escapes[i].from == *text)
				to = escapes[i].to;
		if (to)
			buf_add_text(out, to);
		else
			buf_add_char(out, *text);
	}
}

static void add_in_font(struct buf *out, char font, const char *text)
{
	buf_printf(out, "\\f%c", font);
	add_escaped(out, text);
	buf_add_text(out, "\\fR");
}

/* A line that begins with a dot would be a request. */
static void add_line(struct buf *out, const char *escaped)
{
	buf_printf(out, "%s%s", *escaped == '.' ? "\\&" : "", escaped);
}

static void add_paragraph(struct buf *out, const char *text)
{
	_cleanup_(buf_release) struct buf escaped = BUF_INIT;

	add_escaped(&escaped, text);
	texts_wrap(out, buf_text(&escaped), "", add_line);
}

/* Adds a text that has no period as a sentence. */
static void add_sentence(struct buf *out, const char *before, const char *text)
{
	_cleanup_(buf_release) struct buf sentence = BUF_INIT;

	buf_printf(&sentence, "%s%s.", before, text);
	add_paragraph(out, buf_text(&sentence));
}

static void add_option(struct buf *out, const struct option_text *option)
{
	char letter = texts_short(option->key);

	buf_add_text(out, ".TP\n");
	if (letter)
		add_in_font(out, 'B', (char[]){'-', letter, '\0'});
	if (letter)
		buf_add_text(out, ", ");
	add_in_font(out, 'B', "--");
	add_in_font(out, 'B', option->name);
	if (option->argument) {
		buf_add_char(out, '=');
		add_in_font(out, 'I', option->argument);
	}
	buf_add_char(out, '\n');
	add_sentence(out, "", option->help);
}

/* Removes the final newline, which the template has. */
static void end(struct buf *out)
{
	out->len -= out->len && out->data[out->len - 1] == '\n';
}

static void add_default(struct buf *out, const struct setting *setting)
{
	if (setting->initial[0])
		add_sentence(out, "The default is ", setting->initial);
}

void texts_man_settings_as_options(struct buf *out)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		add_option(out, &(struct option_text){setting->key, setting->name,
		                                      setting->argument, setting->help});
		if (setting->argument)
			add_default(out, setting);
	}
	end(out);
}

void texts_man_options(struct buf *out)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		add_option(out, &options_apart[i]);
	end(out);
}

void texts_man_commands(struct buf *out)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		buf_add_text(out, ".TP\n");
		add_in_font(out, 'B', "profd ");
		add_in_font(out, 'B', commands[i].words);
		buf_add_char(out, '\n');
		add_sentence(out, "", commands[i].help);
	}
	end(out);
}

void texts_man_settings(struct buf *out)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		buf_add_text(out, ".TP\n");
		add_in_font(out, 'B', setting->name);
		buf_add_text(out, " = ");
		if (setting->argument)
			add_in_font(out, 'I', setting->argument);
		else
			add_escaped(out, setting->accepted);
		buf_add_char(out, '\n');
		add_sentence(out, "", setting->help);
		add_paragraph(out, setting->more);
		if (setting->argument)
			add_sentence(out, "Accepted: ", setting->accepted);
		add_default(out, setting);
		add_sentence(out, "",
		             setting->live ? "A change takes effect on reload"
		                           : "A change requires a restart");
	}
	end(out);
}
