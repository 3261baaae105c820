/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of functions, lines, files or other rows (encode/grouping.h), as `go tool pprof -top`
 * prints it, for a user with curl.
 */
#include "base/clock.h"
#include "encode/encoder.h"
#include "encode/grouping.h"
#include "encode/names.h"
#include "encode/quantity.h"
#include "encode/text_states.h"
#include "profile/sum.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_SOURCE_COLUMNS = 100 };
/* If names do not fit: what a row has besides its name; its source text, in characters of up to 4
 * bytes; and the least that is left of a long name. */
enum { ROW_BYTES = 160, SOURCE_BYTES = 4 * MAX_SOURCE_COLUMNS + 2, MIN_NAME_BYTES = 32 };

struct top {
	const struct profile *profile;
	const struct encode_options *options;
	const char *type, *unit;
	struct groups groups;
	uint64_t total, samples;
	size_t max_name; /* longer names are shortened; 0: none is */
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_flat(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return compare(a->flat, b->flat) ?: compare(a->cum, b->cum) ?: strcmp(a->name, b->name);
}

static int by_cum(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return compare(a->cum, b->cum) ?: compare(a->flat, b->flat) ?: strcmp(a->name, b->name);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_ticks(const struct ticks *ticks, struct buf *out)
{
	buf_printf(out, "of %" PRIu64 " ticks %" PRIu64 " were idle and %" PRIu64 " lost",
	           ticks->total, ticks->idle, ticks->lost);
	if (ticks->missed)
		buf_printf(out, "; %" PRIu64 " were missed", ticks->missed);
	buf_add_text(out, "\n");
}

static void write_samples(const struct top *top, struct buf *out)
{
	const struct ticks *ticks = &top->profile->ticks;

	const char *first = profile_string(top->profile, top->profile->types[0].type);
	bool sampled = !first[0] || !strcmp(first, "samples");

	/* The first value of a heap profile counts objects; its comments say how many were
	 * sampled. */
	if (top->profile->type_count > 2)
		return;
	if (sampled)
		buf_add_text(out, "Samples");
	else
		buf_printf(out, "%c%s", toupper((unsigned char)first[0]), first + 1);
	buf_printf(out, ": %llu; ", (unsigned long long)top->samples);
	if (!sampled || !strcmp(top->unit, "bytes"))
		buf_printf(out, "%llu were lost\n", (unsigned long long)ticks->lost);
	else
		write_ticks(ticks, out);
}

static void write_header(const struct top *top, struct buf *out)
{
	const struct profile *profile = top->profile;
	const char *incomplete = profile_incomplete(profile);
	time_t seconds = (time_t)(profile->start_wall_ns / NSEC_PER_SEC);
	char start[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (incomplete) {
		buf_add_text(out, "Incomplete: ");
		add_word(out, incomplete, 0);
		buf_add_char(out, '\n');
	}
	buf_add_text(out, "Type: ");
	add_word(out, top->type, 0);
	buf_printf(out, "\nTime: %s\nDuration: %s, Total = %s", start,
	           quantity_of(profile->duration_ns, "nanoseconds").text,
	           quantity_of(top->total, top->unit).text);
	if (!strcmp(top->unit, "nanoseconds"))
		buf_printf(out, " (%.2f%%)", percent(top->total, profile->duration_ns));
	buf_add_char(out, '\n');
	write_samples(top, out);
	text_states_write(profile, profile->shown, out);
	for (uint32_t i = 1; i < profile->comment_count; i++) {
		buf_add_text(out, "Comment: ");
		add_word(out, profile_string(profile, profile->comments[i]), 0);
		buf_add_char(out, '\n');
	}
}

/* Adds the part of a source line that fits: up to MAX_SOURCE_COLUMNS characters, without
 * surrounding blanks. */
static void add_source(struct buf *out, const char *text)
{
	_cleanup_(buf_release) struct buf line = BUF_INIT;
	size_t columns = 0, len = 0;
	const char *bytes;

	add_word(&line, text, 0);
	bytes = buf_text(&line);
	bytes += strspn(bytes, " ");
	for (size_t i = 0; bytes[i]; i++) {
		/* Bytes that continue a character take no column. */
		columns += ((uint8_t)bytes[i] & 0xc0) != 0x80;
		if (columns > MAX_SOURCE_COLUMNS)
			break;
		if (bytes[i] != ' ')
			len = i + 1;
	}
	if (len) {
		buf_add_text(out, "  ");
		buf_add(out, bytes, len);
	}
}

static void write_row(const struct top *top, const struct group *row, uint64_t sum, struct buf *out)
{
	const struct encode_options *options = top->options;
	const char *text = NULL;

	buf_printf(out, "%10s %6.2f%% %6.2f%% %10s %6.2f%%  ",
	           quantity_of(row->flat, top->unit).text, percent(row->flat, top->total),
	           percent(sum, top->total), quantity_of(row->cum, top->unit).text,
	           percent(row->cum, top->total));
	if (top->max_name)
		add_cut_word(out, row->name, top->max_name);
	else
		add_word(out, row->name, 0);
	if (row->file && options->source_line)
		text = options->source_line(options->source_ctx, row->file, row->line);
	if (text)
		add_source(out, text);
	buf_add_char(out, '\n');
}

/* Counts the rows that are on a path. Rows are sorted, so the others are at the end. */
static uint32_t count_used(const struct top *top)
{
	uint32_t used = 0;

	while (used < top->groups.count && top->groups.rows[used].cum)
		used++;
	return used;
}

static void write_rows(const struct top *top, uint32_t used, uint32_t shown, struct buf *out)
{
#define GROUPING(name, plural) #plural,
	static const char *const plurals[] = {GROUPINGS(GROUPING)};
#undef GROUPING
	uint64_t sum = 0;

	if (shown < used)
		buf_printf(out, "Showing top %u %s out of %u\n", shown, plurals[top->options->by],
		           used);
	buf_printf(out, "%10s %7s %7s %10s %7s  name\n", "flat", "flat%", "sum%", "cum", "cum%");
	for (uint32_t i = 0; i < shown; i++) {
		sum_add(&sum, top->groups.rows[i].flat);
		write_row(top, &top->groups.rows[i], sum, out);
	}
}

/* The bytes for a long name, or 0. All rows have the same room, so long names leave some for
 * others. */
static size_t room_for_names(const struct top *top, uint32_t shown, size_t room)
{
	size_t each = room / (shown + 1), beside = ROW_BYTES + strlen(CUT_MARK);

	if (top->options->by == BY_line)
		beside += SOURCE_BYTES;
	return each > beside + MIN_NAME_BYTES ? each - beside : 0;
}

static int write_table(struct top *top, struct buf *out)
{
	uint32_t used = count_used(top), limit = top->options->rows;
	uint32_t shown = limit && limit < used ? limit : used;
	size_t header;

	write_header(top, out);
	header = out->len;
	write_rows(top, used, shown, out);
	if (buf_error(out) != -EFBIG)
		return buf_error(out);
	top->max_name = room_for_names(top, shown, out->max - header);
	if (!top->max_name)
		return -EFBIG;
	buf_clear(out);
	write_header(top, out);
	write_rows(top, used, shown, out);
	return buf_error(out);
}

static int encode_text(const struct profile *profile, const struct encode_options *options,
                       struct buf *out)
{
	_cleanup_(groups_release) struct groups groups = {0};
	struct top top = {.profile = profile, .options = options};
	uint32_t value = profile->shown;
	int err = groups_count(profile, options->by, value, &groups);

	if (err)
		return err;
	top.groups = groups;
	top.type = profile_string(profile, profile->types[value].type);
	top.unit = profile_string(profile, profile->types[value].unit);
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		sum_add(&top.total, profile->samples[i].values[value]);
		sum_add(&top.samples, profile->samples[i].values[0]);
	}
	if (groups.count)
		qsort(groups.rows, groups.count, sizeof(*groups.rows),
		      options->sort == SORT_CUM ? by_cum : by_flat);
	return write_table(&top, out);
}

const struct encoder encoder_text = {
	.name = "text",
	.summary =
		"a table by time or bytes, as go tool pprof -top prints it; by= selects the rows",
	.content_type = "text/plain; charset=utf-8",
	.suffix = "",
	.has_rows = true,
	.encode = encode_text,
};
