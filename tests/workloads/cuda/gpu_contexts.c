/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth about memory that disappears without a free of its own, by function and device as in
 * gpu_truth. Each family is a function of gpu_families.c. Commands (told.h):
 *   contexts   creates a context on each device, with a block of every family in it
 *   destroy    destroys the context of device 0; other: that of device 1
 *   continue   allocates more blocks of every family in the context of device 1
 *   retain     takes two more references to the primary context of device 0, and allocates in it
 *   release    drops one of these references; with the last one the context's memory is gone
 *   runtime    allocates by the runtime on device 1
 *   reset      calls cudaDeviceReset() on device 1
 *   segments   maps physical memory
 *   unsegment  unmaps a segment, and with the next command releases it
 *   tight      maps three blocks side by side and releases them at once
 *   untight    unmaps them in one call
 *   shared     maps memory with two references, unmaps it and releases it once
 *   unshare    releases it again
 */
#include "cuda.h"
#include "gpu_families.h"
#include "told.h"

#include <inttypes.h>

enum {
	DEVICES = 2,
	PLACES = DEVICES + 1, /* and the host's memory */
	MOST = 1024,
	KIB = 1 << 10,
	HUGE_PAGE = 2 << 20,
	SEGMENTS = 4,
	SITES = FAMILIES + 4,
	IN_NONE = 0, /* the context of memory that belongs to no context */
};

static SITE int by_segment(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
static SITE int by_tight(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
static SITE int by_shared(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
static SITE int by_runtime_only(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);

static const struct family more[SITES - FAMILIES] = {
	{"by_segment", false, by_segment, NULL},
	{"by_tight", false, by_tight, NULL},
	{"by_shared", false, by_shared, NULL},
	{"by_runtime_only", false, by_runtime_only, NULL},
};
enum { SEGMENT = FAMILIES, TIGHT, SHARED, RUNTIME_ONLY };

static struct held {
	uint64_t at, bytes;
	uintptr_t context;
	int site, place; /* bytes 0: the block is gone */
} held[MOST];
static size_t held_count;
static uint64_t allocated[SITES][PLACES][2];
static CUcontext contexts[DEVICES], primary;
static int references;        /* to the primary context */
static CUdeviceptr places[3]; /* addresses for segments, tight and shared */

static const struct family *family_of(int site)
{
	return site < FAMILIES ? &families[site] : &more[site - FAMILIES];
}

/* ---- physical memory, which the allocating function maps */

static SITE int create(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	const CUmemAllocationProp prop = {.type = 1, .location = {1, device}};

	*ret_bytes = size;
	return cuMemCreate((CUmemHandle *)ret_at, size, &prop, 0);
}

#define CREATES(name)                                                              \
	static SITE int name(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes) \
	{                                                                          \
		int result = create(ret_at, size, ret_bytes);                      \
                                                                                   \
		__asm__ volatile(""); /* no tail call */                           \
		return result;                                                     \
	}

CREATES(by_segment)
CREATES(by_tight)
CREATES(by_shared)

static SITE int by_runtime_only(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	void *at = NULL;
	int result = cudaMalloc(&at, size);

	*ret_at = (uintptr_t)at;
	*ret_bytes = size;
	return result;
}

/* ---- accounting */

static SITE struct held *use(int site, uint64_t size, CUcontext context)
{
	struct held *one = &held[held_count++];

	if (held_count > MOST)
		must(-1);
	breathe();
	must(family_of(site)->take(&one->at, size, &one->bytes));
	one->site = site;
	one->place = family_of(site)->on_host ? DEVICES : device;
	one->context = (uintptr_t)context;
	allocated[site][one->place][0]++;
	allocated[site][one->place][1] += one->bytes;
	return one;
}

/* No context owns stream-ordered and physical memory. */
static bool is_in_none(int site)
{
	static const char *const names[] = {"by_async", "by_async_ptsz", "by_pool", "by_create"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(family_of(site)->name, names[i]))
			return true;
	return false;
}

static void use_each(CUcontext context, uint64_t size)
{
	for (int site = 0; site < FAMILIES; site++)
		use(site, size + (uint64_t)site, is_in_none(site) ? IN_NONE : context);
}

static void gone_with(CUcontext context)
{
	for (size_t i = 0; i < held_count; i++)
		if (held[i].context == (uintptr_t)context)
			held[i].bytes = 0;
}

static void gone_of(int site)
{
	for (size_t i = 0; i < held_count; i++)
		if (held[i].site == site)
			held[i].bytes = 0;
}

/* ---- contexts */

static void two_contexts(void)
{
	for (device = 0; device < DEVICES; device++) {
		must(cuCtxCreate_v2(&contexts[device], 0, device));
		use_each(contexts[device], (uint64_t)(device + 1) * 100 * KIB);
		must(cuCtxPopCurrent_v2(NULL));
	}
	device = 0;
}

static void destroy(int which)
{
	must(cuCtxDestroy_v2(contexts[which]));
	gone_with(contexts[which]);
}

static void destroy_first(void)
{
	destroy(0);
}

static void destroy_other(void)
{
	destroy(1);
}

static void go_on(void)
{
	device = 1;
	must(cuCtxPushCurrent_v2(contexts[1]));
	use_each(contexts[1], 50 * KIB);
	must(cuCtxPopCurrent_v2(NULL));
	device = 0;
}

static void retain_twice(void)
{
	must(cuDevicePrimaryCtxRetain(&primary, 0));
	must(cuDevicePrimaryCtxRetain(&primary, 0));
	references += 2;
	must(cuCtxPushCurrent_v2(primary));
	use_each(primary, 30 * KIB);
	must(cuCtxPopCurrent_v2(NULL));
}

static void release_one(void)
{
	must(cuDevicePrimaryCtxRelease_v2(0));
	if (!--references)
		gone_with(primary);
}

/* ---- the runtime's memory on device 1, in a context unknown to this program */

static void use_runtime(void)
{
	static int times;

	device = 1;
	must(cudaSetDevice(1));
	use(RUNTIME_ONLY, (uint64_t)(++times) * 10 * KIB, (CUcontext)&times);
	use(RUNTIME_ONLY, (uint64_t)times * 1000 * KIB, (CUcontext)&times);
	device = 0;
}

static void reset(void)
{
	must(cudaDeviceReset());
	gone_of(RUNTIME_ONLY);
}

/* ---- physical memory; `held` has its blocks and their state, by site */

static struct held *of_site(int site, size_t nth)
{
	for (size_t i = 0; i < held_count; i++)
		if (held[i].site == site && held[i].bytes && !nth--)
			return &held[i];
	must(-1);
	return NULL;
}

static void map_one(int site, CUdeviceptr at, uint64_t size)
{
	must(cuMemMap(at, size, 0, use(site, size, IN_NONE)->at, 0));
}

static void segments(void)
{
	must(cuMemAddressReserve(&places[0], SEGMENTS * HUGE_PAGE, 0, 0, 0));
	for (uint64_t i = 0; i < SEGMENTS; i++)
		map_one(SEGMENT, places[0] + i * HUGE_PAGE, HUGE_PAGE);
}

/* Takes the first segment that remains, as PyTorch does. */
static void unsegment(void)
{
	static uint64_t steps;
	struct held *one = of_site(SEGMENT, 0);

	if (steps++ % 2) {
		must(cuMemRelease(one->at));
		one->bytes = 0;
	} else {
		must(cuMemUnmap(places[0] + steps / 2 * HUGE_PAGE, HUGE_PAGE));
	}
}

static void tight(void)
{
	must(cuMemAddressReserve(&places[1], 6 * HUGE_PAGE, 0, 0, 0));
	for (uint64_t i = 0; i < 3; i++) {
		map_one(TIGHT, places[1] + 2 * i * HUGE_PAGE, 2 * HUGE_PAGE);
		must(cuMemRelease(of_site(TIGHT, i)->at));
	}
}

static void untight(void)
{
	must(cuMemUnmap(places[1], 6 * HUGE_PAGE));
	gone_of(TIGHT);
}

static void shared(void)
{
	CUmemHandle again = 0;

	must(cuMemAddressReserve(&places[2], HUGE_PAGE, 0, 0, 0));
	map_one(SHARED, places[2], HUGE_PAGE);
	must(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(places[2] + 512)));
	must(again == of_site(SHARED, 0)->at ? 0 : -1);
	must(cuMemUnmap(places[2], HUGE_PAGE));
	must(cuMemRelease(again));
}

static void unshare(void)
{
	must(cuMemRelease(of_site(SHARED, 0)->at));
	gone_of(SHARED);
}

static void say_site(int site, int place, const char **separator)
{
	uint64_t objects = 0, bytes = 0;

	if (!allocated[site][place][0])
		return;
	for (size_t i = 0; i < held_count; i++) {
		if (held[i].site != site || held[i].place != place || !held[i].bytes)
			continue;
		objects++;
		bytes += held[i].bytes;
	}
	printf("%s\"%s %s\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", *separator,
	       family_of(site)->name, ((const char *[]){"0", "1", "cpu"})[place],
	       allocated[site][place][0], allocated[site][place][1], objects, bytes);
	*separator = ", ";
}

static void say(void)
{
	const char *separator = "";

	printf("{\"sites\": {");
	for (int site = 0; site < SITES; site++)
		for (int place = 0; place < PLACES; place++)
			say_site(site, place, &separator);
	printf("}}\n");
}

int main(void)
{
	static const struct command commands[] = {
		{"contexts", two_contexts}, {"destroy", destroy_first}, {"other", destroy_other},
		{"continue", go_on},        {"retain", retain_twice},   {"release", release_one},
		{"runtime", use_runtime},   {"reset", reset},           {"segments", segments},
		{"unsegment", unsegment},   {"tight", tight},           {"untight", untight},
		{"shared", shared},         {"unshare", unshare},
	};

	must(cuInit(0));
	return be_told(commands, sizeof(commands) / sizeof(commands[0]), say);
}
