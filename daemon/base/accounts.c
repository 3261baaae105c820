/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A line of subuid is "NAME-OR-UID:FIRST:COUNT", one of passwd "NAME:PASSWORD:UID:...".
 */
#include "base/accounts.h"

#include "base/bounds.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 65536, FIRST_PERSON = 1000, LAST_PERSON = 59999 };

static struct {
	struct account_ids *ranges; /* sorted */
	size_t count;
	uint32_t person; /* 0: there is none, or there are several */
	enum accounts_trust trust;
} all;

static bool same(struct text a, struct text b)
{
	size_t len = (size_t)(a.end - a.at);

	return len == (size_t)(b.end - b.at) && !memcmp(a.at, b.at, len);
}

static bool is_id(struct text field, uint32_t *ret_id)
{
	uint64_t id;

	if (!text_decimal(&field, &id) || field.at != field.end || id >= UINT32_MAX)
		return false;
	*ret_id = (uint32_t)id;
	return true;
}

/* Moves `line` behind its user id, the third field. */
static bool take_user(struct text *line, struct text *ret_name, uint32_t *ret_id)
{
	struct text field;

	return text_until(line, ':', ret_name) && text_until(line, ':', &field) &&
	       text_until(line, ':', &field) && is_id(field, ret_id);
}

static bool find_user(struct text passwd, struct text name, uint32_t *ret_id)
{
	struct text line, found;

	while (text_line(&passwd, &line))
		if (take_user(&line, &found, ret_id) && same(found, name))
			return true;
	return false;
}

static uint32_t find_person(struct text passwd)
{
	struct text line, name;
	uint32_t id, person = 0;

	while (text_line(&passwd, &line)) {
		if (!take_user(&line, &name, &id) || id < FIRST_PERSON || id > LAST_PERSON ||
		    id == person)
			continue;
		if (person)
			return 0;
		person = id;
	}
	return person;
}

static bool parse_range(struct text line, struct text passwd, struct account_ids *ret_range)
{
	struct text name, first;
	uint32_t count;

	if (!text_until(&line, ':', &name) || !text_until(&line, ':', &first) ||
	    !is_id(first, &ret_range->first) || !is_id(line, &count) || !count ||
	    count > UINT32_MAX - ret_range->first)
		return false;
	ret_range->last = ret_range->first + count - 1;
	if (!is_id(name, &ret_range->account) && !find_user(passwd, name, &ret_range->account))
		ret_range->account = ret_range->first;
	/* What root hands out to a container is not root. */
	if (!ret_range->account)
		ret_range->account = ret_range->first;
	return true;
}

static int by_first(const void *left, const void *right)
{
	const struct account_ids *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

void accounts_clear(void)
{
	free(all.ranges);
	all.ranges = NULL;
	all.count = 0;
	all.person = 0;
	all.trust = TRUST_ROOT;
}

void accounts_set(struct text subuid, struct text passwd)
{
	struct text line;

	accounts_clear();
	all.person = find_person(passwd);
	all.ranges = calloc(MAX_RANGES, sizeof(*all.ranges));
	while (all.ranges && all.count < MAX_RANGES && text_line(&subuid, &line))
		all.count += parse_range(line, passwd, &all.ranges[all.count]);
	if (all.count)
		qsort(all.ranges, all.count, sizeof(*all.ranges), by_first);
}

void accounts_read(void)
{
	_cleanup_(buf_release) struct buf subuid = BUF_INIT, passwd = BUF_INIT;

	accounts_set(buf_read_text(&subuid, "/etc/subuid", MAX_USERS_FILE_BYTES),
	             buf_read_text(&passwd, "/etc/passwd", MAX_USERS_FILE_BYTES));
}

const struct account_ids *accounts_ids(size_t *ret_count)
{
	*ret_count = all.count;
	return all.ranges;
}

uint32_t account_of(uint32_t user)
{
	size_t low = 0, high = all.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all.ranges[middle].first <= user)
			low = middle + 1;
		else
			high = middle;
	}
	return low && user <= all.ranges[low - 1].last ? all.ranges[low - 1].account : user;
}

void accounts_trust(enum accounts_trust whom)
{
	all.trust = whom;
}

bool account_is_trusted(uint32_t account)
{
	if (account == 0 || all.trust == TRUST_EVERYBODY)
		return true;
	return all.trust == TRUST_PERSON && all.person && account == all.person;
}
