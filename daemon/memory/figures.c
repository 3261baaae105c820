/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parsers of "Name:   123 kB" lines and of rows of numbers.
 */
#include "memory/figures.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

#define FIGURE(name) #name,
const char *const memory_figure_names[MEMORY_FIGURE_COUNT] = {MEMORY_FIGURES(FIGURE)};
#undef FIGURE

/* A line of a status file. */
struct field {
	const char *name; /* with its colon */
	uint64_t value;
	bool found;
};

enum {
	STAT_FLAGS = 9, /* fields of /proc/PID/stat, counted as proc(5) does */
	STAT_START = 22,
	STAT_STATE = 3,             /* the first field after the name */
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD of include/linux/sched.h */
};

static uint64_t known(uint64_t value)
{
	return value == MEMORY_UNKNOWN ? 0 : value;
}

uint64_t memory_held(const struct memory_figures *figures)
{
	return known(figures->values[MEMORY_rss_anon]) + known(figures->values[MEMORY_rss_shmem]) +
	       known(figures->values[MEMORY_swap]);
}

uint64_t memory_resident(const struct memory_figures *figures)
{
	return known(figures->values[MEMORY_rss_anon]) + known(figures->values[MEMORY_rss_file]) +
	       known(figures->values[MEMORY_rss_shmem]);
}

static bool next_number(struct text *line, uint64_t *ret_value)
{
	struct text word;

	return text_word(line, &word) && text_decimal(&word, ret_value) && word.at == word.end;
}

static void read_field(struct text line, struct field *fields, size_t count)
{
	struct text name;
	uint64_t value;

	if (!text_word(&line, &name))
		return;
	for (size_t i = 0; i < count; i++) {
		if (fields[i].found || !text_equals(name, fields[i].name))
			continue;
		fields[i].found = next_number(&line, &value);
		if (fields[i].found)
			fields[i].value = value;
	}
}

static void read_fields(const char *bytes, size_t len, struct field *fields, size_t count)
{
	struct text rest = text_of(bytes, len), line;

	while (text_line(&rest, &line))
		read_field(line, fields, count);
}

/* Sizes in the files are in KiB. */
static int bytes_of(const struct field *field, uint64_t *ret_bytes)
{
	if (!field->found || field->value > UINT64_MAX / 1024 / 2)
		return -EINVAL;
	*ret_bytes = field->value * 1024;
	return 0;
}

int memory_parse_statm(const char *bytes, size_t len, struct memory_pages *ret_pages)
{
	struct text rest = text_of(bytes, len);
	struct memory_pages pages;

	if (!next_number(&rest, &pages.size) || !next_number(&rest, &pages.resident) ||
	    !next_number(&rest, &pages.shared))
		return -EINVAL;
	*ret_pages = pages;
	return 0;
}

int memory_parse_status(const char *bytes, size_t len, struct memory_figures *ret_figures)
{
	struct field fields[] = {{.name = "RssAnon:"},
	                         {.name = "RssFile:"},
	                         {.name = "RssShmem:"},
	                         {.name = "VmSwap:"}};
	static const enum memory_figure figure_of[] = {MEMORY_rss_anon, MEMORY_rss_file,
	                                               MEMORY_rss_shmem, MEMORY_swap};
	struct memory_figures figures;

	read_fields(bytes, len, fields, sizeof(fields) / sizeof(fields[0]));
	if (!fields[0].found)
		return -ENODATA;
	for (size_t i = 0; i < MEMORY_FIGURE_COUNT; i++)
		figures.values[i] = MEMORY_UNKNOWN;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (bytes_of(&fields[i], &figures.values[figure_of[i]]))
			return -EINVAL;
	*ret_figures = figures;
	return 0;
}

/* The name is in parentheses and may contain parentheses, so the last closing one ends it. */
int memory_parse_stat(const char *bytes, size_t len, struct memory_owner *ret_owner)
{
	const char *open = memchr(bytes, '(', len), *close = memrchr(bytes, ')', len);
	struct memory_owner owner = {0};
	struct text rest, word;
	uint64_t flags = 0;
	size_t comm_len;

	if (!open || !close || close < open)
		return -EINVAL;
	comm_len = (size_t)(close - open) - 1;
	if (comm_len >= sizeof(owner.comm))
		comm_len = sizeof(owner.comm) - 1;
	memcpy(owner.comm, open + 1, comm_len);
	rest = text_of(close + 1, (size_t)(bytes + len - close) - 1);
	for (int field = STAT_STATE; field <= STAT_START; field++) {
		if (!text_word(&rest, &word))
			return -EINVAL;
		if (field == STAT_FLAGS && !text_decimal(&word, &flags))
			return -EINVAL;
		if (field == STAT_START && !text_decimal(&word, &owner.start_ticks))
			return -EINVAL;
	}
	owner.kernel = (flags & KERNEL_THREAD) != 0;
	*ret_owner = owner;
	return 0;
}

int memory_parse_pss(const char *bytes, size_t len, uint64_t *ret_bytes)
{
	struct field pss = {.name = "Pss:"};

	read_fields(bytes, len, &pss, 1);
	return bytes_of(&pss, ret_bytes);
}

int memory_parse_host(const char *bytes, size_t len, struct memory_host *ret_host)
{
	struct field fields[] = {{.name = "MemTotal:"}, {.name = "MemAvailable:"}};
	struct memory_host host;

	read_fields(bytes, len, fields, 2);
	if (bytes_of(&fields[0], &host.total_bytes) || bytes_of(&fields[1], &host.available_bytes))
		return -EINVAL;
	*ret_host = host;
	return 0;
}

int memory_parse_tgid(const char *bytes, size_t len, uint32_t *ret_pid)
{
	struct field tgid = {.name = "Tgid:"};

	read_fields(bytes, len, &tgid, 1);
	if (!tgid.found || !tgid.value || tgid.value > INT32_MAX)
		return -EINVAL;
	*ret_pid = (uint32_t)tgid.value;
	return 0;
}
