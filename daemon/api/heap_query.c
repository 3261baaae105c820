/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of /heap: each is checked against its bounds, and a refusal names the parameter,
 * what was given and what is accepted.
 */
#include "api/heap_query.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/text.h"
#include "http/query_value.h"

#include <errno.h>
#include <string.h>

enum {
	DEFAULT_SECONDS = 30,      /* as of /profile */
	DEFAULT_RATE = 512 * 1024, /* bytes; the default of Go and jemalloc */
};

/* Fractions of one core. */
static const double default_budget = 0.10, min_budget = 0.001;

#define PARAMETER(name, values) {name, false, values},
const struct parameter heap_parameters[] = {
	{"pid", false, "the process to profile; required. Four processes at a time have probes"},
	{"seconds", false, "watch its allocations for N seconds, 1 to 600 (default 30)"},
	{"rate", false,
         "one sample in so many bytes, such as 64KiB; 1 samples all (default 512KiB)"},
	{"leaks", false, "1 shows only allocations of the first half that are in use at the end"},
	{"peak", false, "1 shows the moment at which most was in use, instead of the end"},
	{"budget", false,
         "how much of one core the probes may cost the process: 0.1 or 10% (default)"},
	{"force", false, "1 watches the process whatever that costs"},
	{"raw", false, "1 keeps the allocator's own frames, such as operator new, at the leaf"},
	FORMAT_PARAMETERS(PARAMETER){NULL, false, NULL},
};
#undef PARAMETER

static int read_pid(const struct query *query, uint32_t *ret_pid, struct refusal *ret_refusal)
{
	uint64_t pid = 0;
	int err;

	if (!query_get(query, "pid"))
		return refuse(ret_refusal, 400,
		              "pid= is missing: /heap profiles one process; GET /processes lists "
		              "all processes");
	err = query_number(query, "pid", 1, MAX_TASK_ID, &pid, ret_refusal);
	*ret_pid = (uint32_t)pid;
	return err;
}

/* Parses "12.5", with at most nine digits on each side. strtod() would follow the locale. */
static bool read_decimal(struct text *text, double *ret_value)
{
	uint64_t whole, part = 0;
	double scale = 1;

	if (!text_decimal(text, &whole) || whole > 1000 * 1000 * 1000)
		return false;
	if (text_char(text, '.')) {
		const char *start = text->at;

		if (!text_decimal(text, &part) || text->at - start > 9)
			return false;
		for (; start < text->at; start++)
			scale *= 10;
	}
	*ret_value = (double)whole + (double)part / scale;
	return true;
}

/* "10%" or "0.1". A bare number over 1 is not a share of one core but a mistake. */
static int read_budget(const struct query *query, double *budget, struct refusal *ret_refusal)
{
	const char *string = query_get(query, "budget");
	struct text text;
	double value = 0, max = 1;

	if (!string)
		return 0;
	text = text_of(string, strlen(string));
	if (read_decimal(&text, &value) && text_char(&text, '%')) {
		value /= 100;
		max = MAX_HEAP_BUDGET_PERCENT / 100.0;
	}
	if (text.at != text.end || value < min_budget || value > max)
		return refuse(ret_refusal, 400,
		              "bad budget=%.64s: a share of one core from 0.001 to 1, or a "
		              "percentage from 0.1%% to %d%%, is accepted",
		              string, MAX_HEAP_BUDGET_PERCENT);
	*budget = value;
	return 0;
}

static int read_mode(const struct query *query, enum heap_mode *ret_mode,
                     struct refusal *ret_refusal)
{
	bool leaks = false, peak = false;
	int err = query_switch(query, "leaks", &leaks, ret_refusal);

	if (!err)
		err = query_switch(query, "peak", &peak, ret_refusal);
	if (err)
		return err;
	if (leaks && peak)
		return refuse(ret_refusal, 400,
		              "leaks=1 and peak=1 exclude each other; one is accepted");
	*ret_mode = leaks ? HEAP_LEAKS : peak ? HEAP_PEAK : HEAP_ALL;
	return 0;
}

static int read_ask(const struct query *query, uint64_t max_seconds, struct heap_ask *ask,
                    struct refusal *ret_refusal)
{
	uint64_t seconds = max_seconds < DEFAULT_SECONDS ? max_seconds : DEFAULT_SECONDS;
	int err = read_pid(query, &ask->pid, ret_refusal);

	if (!err)
		err = query_number(query, "seconds", 1, max_seconds, &seconds, ret_refusal);
	if (!err)
		err = query_size(query, "rate", 1, MAX_HEAP_RATE,
		                 "a size from 1 to 1GiB, such as 64KiB,", &ask->rate_bytes,
		                 ret_refusal);
	if (!err)
		err = read_mode(query, &ask->mode, ret_refusal);
	if (!err)
		err = read_budget(query, &ask->budget, ret_refusal);
	if (!err)
		err = query_switch(query, "force", &ask->force, ret_refusal);
	ask->length_ns = seconds * NSEC_PER_SEC;
	return err;
}

int heap_query_read(const struct query *query, uint64_t max_seconds, struct heap_query *ret_heap,
                    struct refusal *ret_refusal)
{
	struct heap_query heap = {
		.ask = {.rate_bytes = DEFAULT_RATE, .budget = default_budget},
		.watch = query_get(query, "seconds") || query_get(query, "rate") ||
	                 query_get(query, "budget") || query_get(query, "force"),
	};
	int err = read_ask(query, max_seconds, &heap.ask, ret_refusal);

	if (!err)
		err = query_switch(query, "raw", &heap.raw, ret_refusal);
	if (!err)
		err = format_query_read(query, &heap.format, ret_refusal);
	if (!err)
		*ret_heap = heap;
	return err;
}
