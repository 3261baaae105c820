/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The configuration file: one `name = value` per line. Lines that begin with # or ; are comments,
 * and so is the text after a blank and a ; within a line.
 */
#include "config_load.h"

#include "base/buf.h"
#include "settings.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE_BYTES = 190 };

struct reading {
	struct config *config;
	bool seen[SETTING_COUNT];
	char why[170]; /* what is wrong with the first wrong line */
};

/* Keeps the error of the first wrong line; the results of all other lines are discarded. */
__attribute__((format(printf, 2, 3))) static int complain(struct reading *reading,
                                                          const char *format, ...)
{
	va_list arguments;

	if (reading->why[0])
		return 0;
	va_start(arguments, format);
	vsnprintf(reading->why, sizeof(reading->why), format, arguments);
	va_end(arguments);
	return 0;
}

/* Copies the value; further words are appended to the earlier ones. NULL: out of memory. */
static const char *keep_value(struct config *config, const struct setting *setting,
                              const char *value)
{
	_cleanup_(buf_release) struct buf joined = BUF_INIT;

	if (setting_words(setting, config))
		buf_printf(&joined, "%s ", setting_words(setting, config));
	buf_add_text(&joined, value);
	return buf_error(&joined) ? NULL : config_keep(config, buf_text(&joined));
}

/* Returns 0 when the line is wrong. */
static int on_line(void *ctx, const char *section, const char *name, const char *value)
{
	struct reading *reading = ctx;
	const struct setting *setting = setting_find(name);
	const char *text;

	(void)section; /* sections are refused */
	if (!setting)
		return complain(reading, "there is no setting \"%.40s\"", name);
	if (reading->seen[setting - settings] && !setting_is_list(setting))
		return complain(reading, "%s is set a second time", setting->name);
	if (strstr(value, " #") || strstr(value, "\t#"))
		return complain(reading, "a # comment must be on a line of its own");
	text = keep_value(reading->config, setting, value);
	if (!text)
		return complain(reading, "out of memory");
	if (setting_set(setting, reading->config, text) < 0)
		return complain(reading, "bad %s = %.40s: %s is accepted", setting->name, value,
		                setting->accepted);
	reading->seen[setting - settings] = true;
	return 1;
}

/* Refuses what the library would silently misread: it takes the rest of a long line for another
 * line, and an indented line for a continuation. */
static int complain_of(struct reading *reading, const char *line, size_t len)
{
	size_t blanks = strspn(line, " \t");

	if (len > MAX_LINE_BYTES)
		complain(reading, "longer than %d bytes", MAX_LINE_BYTES);
	else if (blanks && blanks < len && !strchr("#;\r", line[blanks]))
		complain(reading, "begins with a blank");
	else if (line[0] == '[')
		complain(reading, "there are no sections");
	else
		return 0;
	return -EBADMSG;
}

/* The number of the first line that is refused; 0: none. */
static int forbidden_line(struct reading *reading, const char *text)
{
	for (int line = 1; *text; line++) {
		size_t len = strcspn(text, "\n");

		if (complain_of(reading, text, len))
			return line;
		text += len + (text[len] == '\n');
	}
	return 0;
}

int config_read(struct config *config, const char *name, const char *text, char ret_why[256])
{
	struct reading reading = {.config = config};
	size_t len = strlen(name), room = 64;
	int line = forbidden_line(&reading, text);

	if (!line)
		line = ini_parse_string(text, on_line, &reading);
	if (!line)
		return 0;
	if (!reading.why[0])
		complain(&reading, "neither a setting (name = value) nor a comment");
	/* A long name is reduced to its end. */
	snprintf(ret_why, 256, "%s%s:%d: %s", len > room ? "..." : "",
	         name + (len > room ? len - room : 0), line, reading.why);
	return -EBADMSG;
}
