/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of functions, as `go tool pprof -top` prints it, for a person with curl. Flat is what a
 * function was sampled in itself, cum what it was on the call path of, once per path however often
 * it recurs there.
 */
#include "base/clock.h"
#include "encode/encoder.h"
#include "encode/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct row {
	const char *name;
	uint64_t flat, cum;
	uint32_t last_sample; /* that was counted in cum */
};

struct top {
	const struct profile *profile;
	const char *type, *unit;
	struct row *rows; /* by function; the last one is of locations that have no name */
	uint32_t row_count;
	uint32_t value; /* index of the one that is shown: the last */
	uint64_t total, samples;
};

static void count_frame(struct top *top, uint32_t function, uint32_t sample, bool leaf)
{
	struct row *row = &top->rows[function];
	uint64_t value = top->profile->samples[sample].values[top->value];

	if (leaf)
		row->flat += value;
	if (row->last_sample == sample)
		return;
	row->last_sample = sample;
	row->cum += value;
}

static void count_sample(struct top *top, uint32_t sample)
{
	const struct profile *profile = top->profile;
	uint32_t leaf = profile->samples[sample].node;

	for (uint32_t node = leaf; node; node = profile->nodes[node].parent) {
		const struct location *location =
			&profile->locations[profile->nodes[node].location];

		if (!location->line_count)
			count_frame(top, top->row_count - 1, sample, node == leaf);
		for (uint32_t i = 0; i < location->line_count; i++)
			count_frame(top, profile->lines[location->first_line + i].function, sample,
			            node == leaf && !i);
	}
	top->total += profile->samples[sample].values[top->value];
	top->samples += profile->samples[sample].values[0];
}

static void count_all(struct top *top)
{
	for (uint32_t i = 0; i < top->row_count; i++) {
		bool named = i && i < top->profile->function_count;

		top->rows[i].name = named ? function_name(top->profile, i) : UNNAMED;
	}
	for (uint32_t i = 1; i < top->profile->sample_count; i++)
		count_sample(top, i);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_flat(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return compare(a->flat, b->flat) ?: compare(a->cum, b->cum) ?: strcmp(a->name, b->name);
}

static int by_cum(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return compare(a->cum, b->cum) ?: compare(a->flat, b->flat) ?: strcmp(a->name, b->name);
}

struct quantity {
	char text[32];
};

static struct quantity quantity(uint64_t value, const char *unit)
{
	static const struct {
		uint64_t size;
		const char *unit;
	} scales[] = {{NSEC_PER_SEC, "s"}, {NSEC_PER_MSEC, "ms"}, {1000, "us"}};
	struct quantity quantity;

	if (strcmp(unit, "nanoseconds") || !value) {
		snprintf(quantity.text, sizeof(quantity.text), "%llu", (unsigned long long)value);
		return quantity;
	}
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		if (value >= scales[i].size) {
			snprintf(quantity.text, sizeof(quantity.text), "%.2f%s",
			         (double)value / (double)scales[i].size, scales[i].unit);
			return quantity;
		}
	}
	snprintf(quantity.text, sizeof(quantity.text), "%lluns", (unsigned long long)value);
	return quantity;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_header(const struct top *top, struct buf *out)
{
	const struct profile *profile = top->profile;
	const struct ticks *ticks = &profile->ticks;
	time_t seconds = (time_t)(profile->start_wall_ns / NSEC_PER_SEC);
	char start[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &tm);
	buf_add_text(out, "Type: ");
	add_word(out, top->type, 0);
	buf_printf(out, "\nTime: %s\nDuration: %s, Total = %s", start,
	           quantity(profile->duration_ns, "nanoseconds").text,
	           quantity(top->total, top->unit).text);
	if (!strcmp(top->unit, "nanoseconds"))
		buf_printf(out, " (%.2f%%)", percent(top->total, profile->duration_ns));
	buf_printf(out, "\nSamples: %llu; of %llu ticks %llu were idle and %llu lost\n",
	           (unsigned long long)top->samples, (unsigned long long)ticks->total,
	           (unsigned long long)ticks->idle, (unsigned long long)ticks->lost);
	for (uint32_t i = 1; i < profile->comment_count; i++) {
		buf_add_text(out, "Comment: ");
		add_word(out, profile_string(profile, profile->comments[i]), 0);
		buf_add_char(out, '\n');
	}
}

static void write_rows(const struct top *top, uint32_t limit, struct buf *out)
{
	uint64_t sum = 0;
	uint32_t used = 0;

	/* Sorted: what was on no path is at the end. */
	while (used < top->row_count && top->rows[used].cum)
		used++;
	if (limit && used > limit)
		buf_printf(out, "Showing top %u functions out of %u\n", limit, used);
	else
		limit = used;
	buf_printf(out, "%10s %7s %7s %10s %7s  name\n", "flat", "flat%", "sum%", "cum", "cum%");
	for (uint32_t i = 0; i < limit; i++) {
		const struct row *row = &top->rows[i];

		sum += row->flat;
		buf_printf(out, "%10s %6.2f%% %6.2f%% %10s %6.2f%%  ",
		           quantity(row->flat, top->unit).text, percent(row->flat, top->total),
		           percent(sum, top->total), quantity(row->cum, top->unit).text,
		           percent(row->cum, top->total));
		add_word(out, row->name, 0);
		buf_add_char(out, '\n');
	}
}

static int encode_text(const struct profile *profile, const struct encode_options *options,
                       struct buf *out)
{
	uint32_t row_count = profile->function_count + 1;
	_cleanup_free_ struct row *rows = calloc(row_count, sizeof(*rows));
	struct top top = {.profile = profile, .rows = rows, .row_count = row_count};

	if (!rows)
		return -ENOMEM;
	if (profile->type_count)
		top.value = profile->type_count - 1;
	top.type = profile_string(profile, profile->types[top.value].type);
	top.unit = profile_string(profile, profile->types[top.value].unit);
	count_all(&top);
	qsort(rows, row_count, sizeof(*rows), options->sort == SORT_CUM ? by_cum : by_flat);
	write_header(&top, out);
	write_rows(&top, options->rows, out);
	return buf_error(out);
}

const struct encoder encoder_text = {
	.name = "text",
	.summary = "a table of functions by time, as go tool pprof -top prints it",
	.content_type = "text/plain; charset=utf-8",
	.suffix = "",
	.encode = encode_text,
};
