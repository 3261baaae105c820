/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks what must hold for every answer about an allocator: the rest of the daemon uses its
 * indices and places without further checks.
 */
#include "allocators/allocators.h"

#include "allocators/allocators_private.h"
#include "code/slide.h"

#include <errno.h>
#include <string.h>

int heap_survey_check(const uint8_t *bytes, size_t len)
{
	struct heap_survey survey;

	if (len != sizeof(survey))
		return -EBADMSG;
	memcpy(&survey, bytes, sizeof(survey));
	return survey.marks & ~(uint32_t)MARKS_ALL || survey.machine > UINT16_MAX ? -EBADMSG : 0;
}

static bool are_returns(const struct heap_site *site, uint64_t file_bytes)
{
	if (site->return_count > MAX_HEAP_RETURNS)
		return false;
	for (size_t i = 0; i < site->return_count; i++) {
		if (site->returns[i] >= file_bytes)
			return false;
	}
	return true;
}

/* A function that an exception may leave has return instructions, and no other function has. */
static bool is_site(const struct heap_site *site, uint64_t file_bytes)
{
	if (site->call >= HEAP_CALL_COUNT || site->emulated > 1 || site->all_returns > 1)
		return false;
	const struct heap_call_info *info = heap_call_info(site->call);
	bool has_return_probe = info->role != HEAP_FREES && !info->throws;

	return site->function < file_bytes && site->entry < file_bytes &&
	       site->entry >= site->function && site->entry - site->function <= MAX_SLIDE_BYTES &&
	       !(has_return_probe && site->pushed) && info->throws == (site->return_count > 0) &&
	       are_returns(site, file_bytes);
}

int heap_allocator_check(const uint8_t *bytes, size_t len, uint64_t file_bytes)
{
	_cleanup_free_ struct heap_allocator *allocator = NULL;

	if (len != sizeof(*allocator))
		return -EBADMSG;
	allocator = malloc(sizeof(*allocator));
	if (!allocator)
		return -EBADMSG;
	memcpy(allocator, bytes, sizeof(*allocator));
	if (allocator->name >= HEAP_ALLOCATOR_COUNT || allocator->site_count > MAX_HEAP_SITES)
		return -EBADMSG;
	for (size_t i = 0; i < allocator->site_count; i++) {
		if (!is_site(&allocator->sites[i], file_bytes))
			return -EBADMSG;
	}
	return 0;
}
