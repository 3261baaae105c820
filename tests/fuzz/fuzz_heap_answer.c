/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a reader process's answers about the files of a process with an allocator: their
 * rank, and where they are probed. In an accepted answer each index is in its list, and each place
 * in the file.
 */
#include "allocators/allocators.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES = 1 << 20 };

/* One survey after the other; the first is the program's. */
static void check_surveys(const uint8_t *data, size_t size)
{
	struct heap_ranking ranking = {0};
	struct heap_survey survey;
	size_t count = size / sizeof(survey);

	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = data + i * sizeof(survey);

		if (heap_survey_check(at, sizeof(survey)))
			continue;
		memcpy(&survey, at, sizeof(survey));
		bool kept = heap_ranking_add(&ranking, i, &survey, i == 0), is_there = false;
		for (size_t j = 0; j < ranking.count; j++)
			is_there |= ranking.best[j].file == i;
		if (kept != is_there || ranking.count > MAX_ALLOCATORS)
			abort();
	}
	for (size_t i = 0; i < ranking.count; i++) {
		const struct heap_ranked *ranked = &ranking.best[i];

		if (ranked->file >= count ||
		    (i && (ranked[-1].rank > ranked->rank || ranked[-1].file == ranked->file)))
			abort();
	}
}

static void check_site(const struct heap_site *site)
{
	const struct heap_call_info *info = heap_call_info(site->call);

	if (site->function >= FILE_BYTES || site->entry >= FILE_BYTES ||
	    site->entry < site->function || site->return_count > MAX_HEAP_RETURNS ||
	    info->throws != (site->return_count > 0) ||
	    (site->pushed && info->role != HEAP_FREES && !info->throws))
		abort();
	for (size_t i = 0; i < site->return_count; i++) {
		if (site->returns[i] >= FILE_BYTES)
			abort();
	}
}

/* A short input is the start of an answer of the right length. */
static void check_allocator(const uint8_t *data, size_t size)
{
	static struct heap_allocator allocator;
	size_t take = size < sizeof(allocator) ? size : sizeof(allocator);

	memset(&allocator, 0, sizeof(allocator));
	memcpy(&allocator, data, take);
	if (heap_allocator_check((const uint8_t *)&allocator, sizeof(allocator), FILE_BYTES))
		return;
	if (!*heap_allocator_text(allocator.name) || allocator.site_count > MAX_HEAP_SITES)
		abort();
	for (size_t i = 0; i < allocator.site_count; i++)
		check_site(&allocator.sites[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	heap_survey_check(data, size);
	heap_allocator_check(data, size, FILE_BYTES);
	check_surveys(data, size);
	if (size)
		check_allocator(data, size);
	return 0;
}
