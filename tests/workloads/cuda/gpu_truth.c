/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *     gpu_truth driver|runtime
 *
 * Truth: by function and device ("0", "1" or "cpu"), the blocks and bytes allocated so far and held
 * now. "driver" uses the primary context on device 0 and pushed and popped contexts on device 1.
 * Commands (told.h):
 *   sites     site_six, site_three and site_one allocate 6, 3 and 1 of 10 bytes; half of each is
 *             freed again, that of site_three by another thread
 *   families  a function by_... (gpu_families.c) for each way to allocate; a quarter is freed
 *   failures  frees of unknown addresses, of nothing and twice; allocations of 0 bytes
 *   oom       wants_too_much asks for more than a device has
 *   peak      site_peak allocates a GiB on device 0 and frees it
 *   threads   four threads free what others have allocated, so that addresses recur
 *   empty     everything is freed
 */
#include "cuda.h"
#include "gpu_families.h"
#include "told.h"

#include <pthread.h>

enum {
	DEVICES = 2,
	PLACES = DEVICES + 1, /* and the host's memory */
	KEPT = 4096,
	KIB = 1 << 10,
	MIB = 1 << 20,
	THREADS = 4,
	ROUNDS = 500,
};

struct held {
	uint64_t at, bytes;
	int place;
};

struct site {
	struct held held[KEPT];
	size_t held_count;
	uint64_t counts[PLACES][4]; /* allocated: number, bytes; held: number, bytes */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[DEVICES];
static struct site sites[FAMILIES];
static uint64_t in_use[PLACES], peaks[PLACES], frees, failures, ooms;

static void set_device(int to)
{
	if (by_runtime) {
		must(cudaSetDevice(to));
	} else if (to == 1 && device == 0) {
		must(cuCtxPushCurrent_v2(contexts[1]));
	} else if (to == 0 && device == 1) {
		must(cuCtxPopCurrent_v2(NULL));
	}
	device = to;
}

static void start_thread(void)
{
	if (!by_runtime)
		must(cuCtxSetCurrent(contexts[0]));
}

/* ---- accounting */

static const struct family *family_of(const struct site *site)
{
	return &families[site - sites];
}

static void took(struct site *site, struct held held)
{
	pthread_mutex_lock(&lock);
	site->held[site->held_count++] = held;
	site->counts[held.place][0]++;
	site->counts[held.place][1] += held.bytes;
	site->counts[held.place][2]++;
	site->counts[held.place][3] += held.bytes;
	in_use[held.place] += held.bytes;
	if (in_use[held.place] > peaks[held.place])
		peaks[held.place] = in_use[held.place];
	pthread_mutex_unlock(&lock);
}

static SITE void use(struct site *site, uint64_t size)
{
	struct held held = {.place = family_of(site)->on_host ? DEVICES : device};

	if (site != &sites[CHURN])
		breathe();
	must(family_of(site)->take(&held.at, size, &held.bytes));
	took(site, held);
}

/* Removes and returns the block `nth` from the end. */
static struct held pick(struct site *site, size_t nth)
{
	struct held held = {0};

	pthread_mutex_lock(&lock);
	if (nth < site->held_count) {
		struct held *slot = &site->held[site->held_count - 1 - nth];

		held = *slot;
		*slot = site->held[--site->held_count];
		site->counts[held.place][2]--;
		site->counts[held.place][3] -= held.bytes;
		in_use[held.place] -= held.bytes;
		frees++;
	}
	pthread_mutex_unlock(&lock);
	return held;
}

static SITE bool drop(struct site *site, size_t nth)
{
	struct held held = pick(site, nth);

	if (!held.at)
		return false;
	must(family_of(site)->give(held.at));
	return true;
}

static void *drop_half(void *of)
{
	struct site *site = of;

	start_thread();
	for (size_t i = site->held_count / 2; i > 0; i--)
		drop(site, i - 1);
	return NULL;
}

static void in_thread(void *(*what)(void *), void *of)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, what, of));
	must(pthread_join(thread, NULL));
}

/* ---- commands */

static void sites_again(void)
{
	for (int round = 0; round < 40; round++) {
		uint64_t size = (uint64_t)(round + 1) * 10 * KIB + 4;

		set_device(round % DEVICES);
		use(&sites[SIX], 6 * size);
		use(&sites[THREE], 3 * size);
		use(&sites[ONE], 1 * size);
	}
	set_device(0);
	in_thread(drop_half, &sites[THREE]);
	for (int i = 0; i < 40; i++)
		drop(&sites[i % 2 ? SIX : ONE], 3);
}

static void each_family(void)
{
	size_t count = by_runtime ? RUNTIME_FAMILIES : FAMILIES;

	for (size_t i = FIRST_FAMILY; i < count; i++) {
		for (int round = 0; round < 8; round++) {
			set_device(round / 4);
			use(&sites[i], (uint64_t)(round + 1) * 100 * KIB + i);
		}
		drop(&sites[i], 5);
		drop(&sites[i], 1);
	}
	set_device(0);
}

static void fail(int result, int expected)
{
	if (result != expected)
		must(result ? result : -1);
}

static void failing(void)
{
	uint64_t at = 0, bytes;

	for (int i = 0; i < 10; i++) {
		fail(give(0x1234500000 + (uint64_t)i * 512), CUDA_ERROR_INVALID_VALUE);
		fail(give(0), CUDA_SUCCESS);
		use(&sites[ONE], 64 * KIB);
		at = sites[ONE].held[sites[ONE].held_count - 1].at;
		drop(&sites[ONE], 0);
		fail(give(at), CUDA_ERROR_INVALID_VALUE);
		fail(families[SIX].take(&at, 0, &bytes), CUDA_ERROR_INVALID_VALUE);
		failures++;
	}
}

static void oom(void)
{
	uint64_t at = 0, bytes;

	fail(wants_too_much(&at, 1ULL << 40, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
	failures++;
	ooms++;
}

static void peak(void)
{
	use(&sites[PEAK], 1024 * MIB);
	drop(&sites[PEAK], 0);
}

static void *churn(void *of)
{
	struct site *site = of;

	start_thread();
	for (int i = 0; i < ROUNDS; i++) {
		use(site, (uint64_t)(i % 4 + 1) * KIB);
		if (i % 10 != 0)
			drop(site, (size_t)(i % 3));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t started[THREADS];

	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&started[i], NULL, churn, &sites[CHURN]));
	for (int i = 0; i < THREADS; i++)
		must(pthread_join(started[i], NULL));
}

static void empty(void)
{
	for (size_t i = 0; i < FAMILIES; i++) {
		while (drop(&sites[i], 0))
			;
	}
}

static void say(void)
{
	const char *separator = "";

	printf("{\"sites\": {");
	for (size_t i = 0; i < FAMILIES; i++) {
		for (int place = 0; place < PLACES; place++) {
			const uint64_t *c = sites[i].counts[place];

			if (!c[0])
				continue;
			printf("%s\"%s %s\": [%lu, %lu, %lu, %lu]", separator, families[i].name,
			       place == DEVICES ? "cpu"
			       : place          ? "1"
			                        : "0",
			       c[0], c[1], c[2], c[3]);
			separator = ", ";
		}
	}
	printf("}, \"peak\": {\"0\": %lu, \"1\": %lu, \"cpu\": %lu}, ", peaks[0], peaks[1],
	       peaks[2]);
	printf("\"frees\": %lu, \"failures\": %lu, \"oom\": %lu}\n", frees, failures, ooms);
}

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{"sites", sites_again}, {"families", each_family},
		{"failures", failing},  {"oom", oom},
		{"peak", peak},         {"threads", threads},
		{"empty", empty},
	};

	if (argc != 2)
		return 2;
	by_runtime = !strcmp(argv[1], "runtime");
	must(cuInit(0));
	for (int i = 0; i < DEVICES; i++)
		must(cuDevicePrimaryCtxRetain(&contexts[i], i));
	start_thread();
	return be_told(commands, sizeof(commands) / sizeof(commands[0]), say);
}
