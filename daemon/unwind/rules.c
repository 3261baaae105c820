/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash table of numbers beside the array of rules, at most half full.
 */
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

static size_t bucket_of(const struct rules *rules, const struct unwind_rule *rule)
{
	uint64_t words[2], hash;

	memcpy(words, rule, sizeof(words));
	hash = (words[0] ^ words[1] * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
	return (size_t)(hash ^ hash >> 32) & (rules->bucket_count - 1);
}

/* The rule's bucket, or the free bucket where it belongs. */
static uint32_t *find(const struct rules *rules, const struct unwind_rule *rule)
{
	size_t at = bucket_of(rules, rule);

	while (rules->buckets[at] &&
	       memcmp(&rules->items[rules->buckets[at] - 1], rule, sizeof(*rule)) != 0)
		at = (at + 1) & (rules->bucket_count - 1);
	return &rules->buckets[at];
}

static int grow(struct rules *rules)
{
	size_t bucket_count = rules->bucket_count ? rules->bucket_count * 2 : FIRST_BUCKETS;
	struct unwind_rule *items = realloc(rules->items, bucket_count / 2 * sizeof(*rules->items));
	uint32_t *buckets;

	if (!items)
		return -ENOMEM;
	rules->items = items;
	buckets = calloc(bucket_count, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	free(rules->buckets);
	rules->buckets = buckets;
	rules->bucket_count = bucket_count;
	for (size_t i = 0; i < rules->count; i++)
		*find(rules, &rules->items[i]) = (uint32_t)i + 1;
	return 0;
}

int rules_number(struct rules *rules, const struct unwind_rule *rule, uint32_t *ret_number)
{
	uint32_t *bucket;

	if (rules->count * 2 >= rules->bucket_count) {
		int err = grow(rules);

		if (err)
			return err;
	}
	bucket = find(rules, rule);
	if (!*bucket) {
		if (rules->count >= MAX_RULES)
			return -E2BIG;
		rules->items[rules->count++] = *rule;
		*bucket = (uint32_t)rules->count;
	}
	*ret_number = *bucket - 1;
	return 0;
}

void rules_release(struct rules *rules)
{
	free(rules->items);
	free(rules->buckets);
}
