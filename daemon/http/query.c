/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Query strings: splits them at '&' and '=', decodes %XX and '+', and refuses what cannot be
 * intended. Unknown parameters are errors, because a misspelt parameter that is silently ignored
 * gives a wrong profile that looks right.
 */
#include "http/query.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes into `out`, which has room for `len` bytes and a NUL. */
static int decode(const char *raw, size_t len, char *out, struct refusal *ret_refusal)
{
	for (size_t i = 0; i < len; i++) {
		char c = raw[i];

		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			bool whole = len - i > 2;
			int high = whole ? hex_digit(raw[i + 1]) : -1;
			int low = whole ? hex_digit(raw[i + 2]) : -1;

			if (high < 0 || low < 0)
				return refuse(ret_refusal, 400,
				              "bad query: two hexadecimal digits must follow %%");
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (!c)
			return refuse(ret_refusal, 400, "bad query: it contains a NUL byte");
		*out++ = c;
	}
	*out = '\0';
	return 0;
}

static size_t count_pairs(const char *raw, size_t len)
{
	size_t count = 1;

	for (size_t i = 0; i < len; i++)
		count += raw[i] == '&';
	return count;
}

/* Decodes one name=value and appends it. `*room` moves past what was written. */
static int add_pair(struct query *query, const char *raw, size_t len, char **room,
                    struct refusal *ret_refusal)
{
	const char *equals = memchr(raw, '=', len);
	size_t name_len = equals ? (size_t)(equals - raw) : len;
	size_t value_len = equals ? len - name_len - 1 : 0;
	struct query_pair *pair = &query->pairs[query->count];
	int err;

	pair->name = *room;
	err = decode(raw, name_len, *room, ret_refusal);
	if (err)
		return err;
	*room += strlen(*room) + 1;
	pair->value = *room;
	err = decode(equals ? equals + 1 : raw, value_len, *room, ret_refusal);
	if (err)
		return err;
	*room += strlen(*room) + 1;
	query->count++;
	return 0;
}

int query_parse(const char *raw, size_t len, struct query *ret_query, struct refusal *ret_refusal)
{
	_cleanup_(query_release) struct query query = {0};
	size_t max_pairs = count_pairs(raw, len);
	size_t start = 0;
	char *room;

	if (len > MAX_QUERY_BYTES)
		return refuse(ret_refusal, 414, "the query has %zu bytes; at most %d are accepted",
		              len, MAX_QUERY_BYTES);
	if (max_pairs > MAX_QUERY_PAIRS)
		return refuse(ret_refusal, 400,
		              "the query has too many parameters; at most %d are accepted",
		              MAX_QUERY_PAIRS);
	/* Decoding never makes text longer; each pair needs two NULs, one of them in place of its
	 * '='. */
	query.bytes = malloc(len + 2 * max_pairs);
	query.pairs = calloc(max_pairs, sizeof(*query.pairs));
	if (!query.bytes || !query.pairs)
		return -ENOMEM;

	room = query.bytes;
	while (start < len) {
		const char *end = memchr(raw + start, '&', len - start);
		size_t pair_len = end ? (size_t)(end - raw) - start : len - start;

		if (pair_len) {
			int err = add_pair(&query, raw + start, pair_len, &room, ret_refusal);

			if (err)
				return err;
		}
		start += pair_len + 1;
	}
	*ret_query = query;
	query = (struct query){0};
	return 0;
}

void query_release(struct query *query)
{
	free(query->bytes);
	free(query->pairs);
	*query = (struct query){0};
}

static const struct parameter *find_parameter(const struct parameter *accepted, const char *name)
{
	for (; accepted->name; accepted++)
		if (!strcmp(accepted->name, name))
			return accepted;
	return NULL;
}

static int refuse_unknown(const char *name, const struct parameter *accepted,
                          struct refusal *ret_refusal)
{
	char list[256] = "none";
	size_t len = 0;

	for (; accepted->name; accepted++) {
		int n = snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
		                 accepted->name);

		if (n < 0 || (size_t)n >= sizeof(list) - len)
			break;
		len += (size_t)n;
	}
	return refuse(ret_refusal, 400, "unknown parameter \"%.64s\"; accepted here: %s", name,
	              list);
}

int query_check(const struct query *query, const struct parameter *accepted,
                struct refusal *ret_refusal)
{
	for (size_t i = 0; i < query->count; i++) {
		const char *name = query->pairs[i].name;
		const struct parameter *parameter = find_parameter(accepted, name);
		size_t seen = 0;

		if (!parameter)
			return refuse_unknown(name, accepted, ret_refusal);
		for (size_t j = 0; j <= i; j++)
			seen += !strcmp(query->pairs[j].name, name);
		if (seen > 1 && !parameter->repeatable)
			return refuse(ret_refusal, 400, "%s is given twice; it is accepted once",
			              name);
		if (seen > MAX_QUERY_VALUES)
			return refuse(ret_refusal, 400,
			              "%s is given too often; it is accepted %d times", name,
			              MAX_QUERY_VALUES);
	}
	return 0;
}

const char *query_get(const struct query *query, const char *name)
{
	for (size_t i = 0; i < query->count; i++)
		if (!strcmp(query->pairs[i].name, name))
			return query->pairs[i].value;
	return NULL;
}
