/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names are in the rightmost columns, where their lengths do not shift other columns.
 */
#include "views/processes_text.h"

#include "base/clean.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { CELL = 24, TEXT = 256 };

static const char *mib_text(const json_t *bytes, char cell[CELL])
{
	if (!json_is_integer(bytes))
		return "?";
	snprintf(cell, CELL, "%.1f", (double)json_integer_value(bytes) / (1 << 20));
	return cell;
}

/* The share of the time in which one of its threads held the GIL. */
static const char *gil_text(const json_t *gil, char cell[CELL])
{
	const json_t *held = json_object_get(gil, "held");

	if (!held)
		return "";
	snprintf(cell, CELL, "%.0f", 100 * json_real_value(held));
	return cell;
}

/* How fast the process leaks, if it does. */
static const char *leak_text(const json_t *leak, char cell[CELL])
{
	const json_t *speed = json_object_get(leak, "bytes_per_second");

	if (!speed)
		return "";
	snprintf(cell, CELL, "%.1f KiB/s", (double)json_integer_value(speed) / 1024);
	return cell;
}

static void add_text(struct buf *out, const json_t *process, const char *before, const char *key)
{
	const char *value = json_string_value(json_object_get(process, key));
	char text[TEXT];

	if (!value || !value[0])
		return;
	snprintf(text, sizeof(text), "%s", value);
	text[text_utf8_prefix(text, strlen(text))] = 0;
	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = '?';
	clean_text(text);
	buf_printf(out, "%s%s", before, text);
}

void processes_text_head(struct buf *out)
{
	buf_printf(out, "%8s %7s %5s %9s %9s %12s  process\n", "pid", "CPU %", "GIL %", "RSS MiB",
	           "swap MiB", "leaks");
}

void processes_text_row(const json_t *process, struct buf *out)
{
	char gil[CELL], rss[CELL], swap[CELL], leak[CELL];

	buf_printf(out, "%8lld %7.2f %5s %9s %9s %12s",
	           (long long)json_integer_value(json_object_get(process, "pid")),
	           json_real_value(json_object_get(process, "cpu_percent")),
	           gil_text(json_object_get(process, "gil"), gil),
	           mib_text(json_object_get(process, "rss_bytes"), rss),
	           mib_text(json_object_get(process, "swap_bytes"), swap),
	           leak_text(json_object_get(process, "leak"), leak));
	add_text(out, process, "  ", "comm");
	add_text(out, process, "  ", "unit");
	add_text(out, process, "  container ", "container");
	add_text(out, process, "  pod ", "pod");
	add_text(out, process, "  ", "cmdline");
	buf_add_char(out, '\n');
}
