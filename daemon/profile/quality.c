/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts samples by the root of their call path.
 */
#include "profile/quality.h"

#include "profile/sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_cut(struct quality *quality, uint32_t name, uint64_t samples)
{
	size_t at = 0;

	while (at < quality->cut_count && quality->cuts[at].name != name)
		at++;
	if (at == MAX_CUT_REASONS)
		return;
	if (at == quality->cut_count) {
		quality->cuts[quality->cut_count++].name = name;
		quality->cuts[at].samples = 0;
	}
	sum_add(&quality->cuts[at].samples, samples);
}

static void add_root(struct quality *quality, const struct profile *profile, uint32_t root,
                     uint64_t samples)
{
	uint32_t location = profile->nodes[root].location;
	const struct mapping *mapping = &profile->mappings[profile->locations[location].mapping];
	const char *path = profile_string(profile, mapping->path);

	if (!root || !samples || mapping->kind == MAPPING_KERNEL)
		return;
	if (mapping->kind == MAPPING_PSEUDO && strncmp(path, CUT_FRAME, strlen(CUT_FRAME)) == 0)
		add_cut(quality, mapping->path, samples);
	else if (mapping->kind == MAPPING_FILE || mapping->kind == MAPPING_LOOP)
		sum_add(&quality->complete, samples);
	else
		return;
	sum_add(&quality->stacks, samples);
}

static int by_samples(const void *left, const void *right)
{
	const typeof(((struct quality *)0)->cuts[0]) *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name);
}

int quality_of(const struct profile *profile, struct quality *ret_quality)
{
	_cleanup_free_ uint32_t *roots = malloc(profile->node_count * sizeof(*roots));
	struct quality quality = {0};

	if (!roots)
		return -ENOMEM;
	roots[0] = 0;
	/* Parents come before their children. */
	for (uint32_t i = 1; i < profile->node_count; i++)
		roots[i] = profile->nodes[i].parent ? roots[profile->nodes[i].parent] : i;
	for (uint32_t i = 1; i < profile->sample_count; i++)
		add_root(&quality, profile, roots[profile->samples[i].node],
		         profile->samples[i].values[0]);
	qsort(quality.cuts, quality.cut_count, sizeof(quality.cuts[0]), by_samples);
	*ret_quality = quality;
	return 0;
}
