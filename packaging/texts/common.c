/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions shared by the writers of blocks.
 */
#include "packaging/texts/texts.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 78 };

void texts_each_option(void (*each)(struct buf *out, const struct option_text *option),
                       struct buf *out)
{
	for (size_t i = 0; i < SETTING_COUNT; i++)
		each(out, &(struct option_text){settings[i].key, settings[i].name,
		                                settings[i].argument, settings[i].help});
	for (size_t i = 0; i < OPTION_COUNT; i++)
		each(out, &options_apart[i]);
}

char texts_short(int key)
{
	return key > 0 && key < 128 && isgraph(key) ? (char)key : '\0';
}

bool texts_takes_file(const struct option_text *option)
{
	return option->argument &&
	       (!strcmp(option->argument, "FILE") || !strcmp(option->argument, "PATH"));
}

void texts_escape(struct buf *out, const char *text, const char *special, const char *before)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			buf_add_text(out, before);
		buf_add_char(out, *text);
	}
}

/* The length of the words of `text` that fit into `width`, at least one word. */
static size_t line_of(const char *text, size_t width)
{
	size_t len = strcspn(text, " "), more;

	while (text[len]) {
		more = len + 1 + strcspn(text + len + 1, " ");
		if (more > width)
			break;
		len = more;
	}
	return len;
}

void texts_wrap(struct buf *out, const char *text, const char *prefix,
                void (*add_line)(struct buf *out, const char *line))
{
	while (*text) {
		_cleanup_(buf_release) struct buf line = BUF_INIT;
		size_t len = line_of(text, WIDTH - strlen(prefix));

		buf_add(&line, text, len);
		text += len + strspn(text + len, " ");
		buf_add_text(out, prefix);
		add_line(out, buf_text(&line));
		buf_add_char(out, '\n');
	}
}
