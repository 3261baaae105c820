/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the allocator that was found in a file to what each probe there does.
 */
#include "heap/heap_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint8_t does_of_role[] = {
	[HEAP_ALLOCATES] = HEAP_DOES_ALLOCATE,
	[HEAP_ALLOCATES_OUT] = HEAP_DOES_ALLOCATE_OUT,
	[HEAP_REALLOCATES] = HEAP_DOES_REALLOCATE,
	[HEAP_FREES] = HEAP_DOES_FREE,
	[HEAP_MAPS] = HEAP_DOES_MAP,
	[HEAP_REMAPS] = HEAP_DOES_REMAP,
};

/* Calls that some allocator makes of other calls: musl makes calloc of malloc, and glibc makes
 * realloc of malloc and free for memory that has pages of its own. An operator new that catches
 * what a handler throws allocates the exception's memory inside itself. */
static bool nests(enum heap_call call)
{
	return call == HEAP_CALL_CALLOC || call == HEAP_CALL_ALIGNED ||
	       call == HEAP_CALL_POSIX_MEMALIGN || call == HEAP_CALL_REALLOC ||
	       call == HEAP_CALL_REALLOCARRAY || call == HEAP_CALL_NEW_NOTHROW;
}

static uint64_t cookie_of(const struct heap_site *site, size_t number, uint8_t slot,
                          bool have_sessions)
{
	const struct heap_call_info *info = heap_call_info(site->call);
	union heap_site_cookie cookie = {
		.slot = slot,
		.does = does_of_role[info->role],
		.size = info->size,
		.times = info->times,
		.pointer = info->pointer,
		.pushed = (uint8_t)site->pushed,
		.number = (uint8_t)number,
	};
	bool allocates = info->role != HEAP_FREES;

	if (!site->emulated)
		cookie.flags |= HEAP_SITE_STEPPED;
	if (allocates && info->throws)
		cookie.flags |= HEAP_SITE_THROWS;
	else if (allocates && (nests(site->call) || !have_sessions))
		cookie.flags |= HEAP_SITE_RETURNS;
	if (nests(site->call))
		cookie.flags |= HEAP_SITE_NESTS;
	return cookie.cookie;
}

static void places_add(struct heap_places *places, uint64_t offset, uint64_t cookie)
{
	places->offsets[places->count] = offset;
	places->cookies[places->count++] = cookie;
}

static void add_site(struct heap_plan_file *file, const struct heap_site *site, uint64_t cookie)
{
	const struct heap_call_info *info = heap_call_info(site->call);

	places_add(&file->all, site->entry, cookie);
	if (info->role != HEAP_FREES && !info->throws) {
		places_add(&file->session, site->entry, cookie);
		return;
	}
	places_add(&file->entry, site->entry, cookie);
	if (info->role != HEAP_FREES)
		for (size_t i = 0; i < site->return_count; i++)
			places_add(&file->leave, site->returns[i], cookie);
}

static int places_reserve(struct heap_places *places, size_t count)
{
	places->offsets = calloc(count, sizeof(*places->offsets));
	places->cookies = calloc(count, sizeof(*places->cookies));
	return places->offsets && places->cookies ? 0 : -ENOMEM;
}

static int plan_file(struct heap_plan *plan, struct heap_found *found, uint8_t slot,
                     bool have_sessions)
{
	struct heap_plan_file *file = &plan->files[plan->file_count++];
	const struct heap_allocator *allocator = &found->allocator;
	size_t count = allocator->site_count;

	file->fd = TAKE_FD(found->fd);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	if (places_reserve(&file->session, count) || places_reserve(&file->entry, count) ||
	    places_reserve(&file->all, count) ||
	    places_reserve(&file->leave, count * MAX_HEAP_RETURNS))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_site(file, &allocator->sites[i],
		         cookie_of(&allocator->sites[i], i, slot, have_sessions));
	plan->sites += (uint32_t)(count + file->leave.count);
	return 0;
}

static int plan_all(struct heap_plan *plan, struct heap_search *search, uint8_t slot,
                    bool have_sessions)
{
	for (size_t i = 0; i < search->count; i++) {
		struct heap_found *found = &search->found[i];

		if (!found->allocator.site_count)
			continue;
		if (!plan->file_count) {
			snprintf(plan->allocator, sizeof(plan->allocator), "%s",
			         heap_allocator_text(found->allocator.name));
			snprintf(plan->file, sizeof(plan->file), "%s", found->path);
		}
		plan->code[plan->file_count] =
			(struct heap_range){found->code_start, found->code_end};
		int err = plan_file(plan, found, slot, have_sessions);
		if (err)
			return err;
	}
	return plan->sites ? 0 : -ENOENT;
}

int heap_plan_make(struct heap_plan *plan, const struct heap_plan_ask *ask)
{
	_cleanup_(heap_search_freep) struct heap_search *search = NULL;
	int err = heap_search_process(ask->aside, ask->reader, ask->pid, &search);

	if (search) {
		plan->unread = search->unread;
		memcpy(plan->unread_file, search->unread_path, sizeof(plan->unread_file));
	}
	return err ?: plan_all(plan, search, ask->slot, ask->have_sessions);
}

static void places_release(struct heap_places *places)
{
	free(places->offsets);
	free(places->cookies);
}

void heap_plan_release(struct heap_plan *plan)
{
	for (size_t i = 0; i < plan->file_count; i++) {
		struct heap_plan_file *file = &plan->files[i];

		closep(&file->fd);
		places_release(&file->session);
		places_release(&file->entry);
		places_release(&file->leave);
		places_release(&file->all);
	}
	*plan = (struct heap_plan){0};
}
