/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One subscriber, one buffer that is being filled, and a thread that returns buffers. With
 * FAKE_CUPTI_13 it also has the functions for activities that belong to one subscriber.
 */
#include "tests/cuda_helper/fake_cupti.h"

#include "cuda_helper/cupti_api.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_NUMBER = 1024,
	QUEUED = 64,
	RECORD_BYTES = 160,
	FIRST_CORRELATION = 1000,
	INVALID = 1,
	LIMIT = 12,
};

struct record {
	struct cupti_kernel kernel;
	uint8_t rest[RECORD_BYTES - sizeof(struct cupti_kernel)];
};
_Static_assert(sizeof(struct record) == RECORD_BYTES, "CUpti_ActivityKernel5");

struct buffer {
	uint8_t *bytes;
	size_t size, valid;
	bool unfinished;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	cupti_called_fn *called;
	void *ctx;
	bool enabled[3][MAX_NUMBER];
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	bool records, held, threaded, busy_elsewhere;
	size_t dropped; /* records that were dropped and not yet asked for */
	struct buffer current;
	struct buffer queue[QUEUED];
	size_t queued, busy;
	uint32_t correlation;
	uint64_t clock_ns;
	struct fake_counts counts;
} fake = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.clock_ns = 1000000,
};

__attribute__((constructor)) static void obey(void)
{
	fake.held = getenv("FAKE_CUPTI_HELD") != NULL;
}

#define EXPORT              __attribute__((visibility("default")))
#define FUNCTION(name, ...) EXPORT int cupti##name(__VA_ARGS__);
CUPTI_FUNCTIONS(FUNCTION)
CUPTI_FUNCTIONS_V2(FUNCTION)
CUPTI_FUNCTIONS_MORE(FUNCTION)
#undef FUNCTION

/* ---- buffers, which another thread returns ------------------------------------------------- */

static void *give_back(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&fake.lock);
	for (;;) {
		struct buffer buffer;

		while (!fake.queued || fake.busy_elsewhere)
			pthread_cond_wait(&fake.changed, &fake.lock);
		buffer = fake.queue[0];
		fake.queued--;
		memmove(fake.queue, fake.queue + 1, fake.queued * sizeof(buffer));
		fake.busy++;
		fake.counts.completed++;
		pthread_mutex_unlock(&fake.lock);
		fake.complete(NULL, 0, buffer.bytes, buffer.size, buffer.valid);
		pthread_mutex_lock(&fake.lock);
		fake.busy--;
		pthread_cond_broadcast(&fake.changed);
	}
	return NULL;
}

static void queue_current(void)
{
	while (fake.queued == QUEUED)
		pthread_cond_wait(&fake.changed, &fake.lock);
	fake.queue[fake.queued++] = fake.current;
	fake.current = (struct buffer){0};
	pthread_cond_broadcast(&fake.changed);
}

static bool has_buffer(void)
{
	size_t most;

	if (fake.current.bytes)
		return true;
	fake.counts.requests++;
	fake.request(&fake.current.bytes, &fake.current.size, &most);
	fake.current.valid = 0;
	if (fake.current.bytes && fake.current.size >= RECORD_BYTES)
		return true;
	fake.counts.empty++;
	fake.current = (struct buffer){0};
	return false;
}

static void add_record(uint32_t correlation, const struct fake_launch *launch,
                       const struct fake_kernel *kernel)
{
	struct record record = {
		.kernel =
			{
				.kind = CUPTI_CONCURRENT_KERNEL,
				.start_ns = fake.clock_ns,
				.end_ns = launch->unfinished ? 0 : fake.clock_ns + kernel->ns,
				.device = launch->device,
				.correlation = correlation,
				.name = kernel->name,
			},
	};

	fake.clock_ns += kernel->ns;
	if (!has_buffer()) {
		fake.counts.dropped++;
		fake.dropped++;
		return;
	}
	memcpy(fake.current.bytes + fake.current.valid, &record, sizeof(record));
	fake.current.valid += sizeof(record);
	fake.current.unfinished |= launch->unfinished;
	if (fake.current.valid + sizeof(record) > fake.current.size)
		queue_current();
}

/* ---- launches ------------------------------------------------------------------------------ */

static void call(uint32_t domain, uint32_t number, enum cupti_site site,
                 const struct fake_launch *launch, uint32_t correlation)
{
	int result = launch->result;
	uint64_t parameters[4] = {0};
	struct cupti_call told = {
		.site = site,
		.function = "fake",
		.parameters = parameters,
		.result = site == CUPTI_EXIT ? &result : NULL,
		.correlation = correlation,
	};
	cupti_called_fn *called;
	void *ctx;

	parameters[launch->word] = launch->handle;
	pthread_mutex_lock(&fake.lock);
	called = fake.enabled[domain][number] ? fake.called : NULL;
	ctx = fake.ctx;
	fake.counts.calls += called != NULL;
	pthread_mutex_unlock(&fake.lock);
	if (called && number)
		called(ctx, domain, number, &told);
}

static void run_kernels(const struct fake_launch *launch, uint32_t correlation)
{
	pthread_mutex_lock(&fake.lock);
	for (size_t i = 0; fake.records && !launch->result && i < launch->count; i++)
		add_record(correlation, launch, &launch->kernels[i]);
	pthread_mutex_unlock(&fake.lock);
}

EXPORT void fake_launch(const struct fake_launch *launch)
{
	uint32_t correlation = __atomic_add_fetch(&fake.correlation, 1, __ATOMIC_RELAXED);

	call(CUPTI_RUNTIME, launch->runtime, CUPTI_ENTER, launch, correlation);
	call(CUPTI_DRIVER, launch->driver, CUPTI_ENTER, launch, correlation);
	if (launch->at_once) {
		run_kernels(launch, correlation);
		cuptiActivityFlushAll(0);
	}
	call(CUPTI_DRIVER, launch->driver, CUPTI_EXIT, launch, correlation);
	call(CUPTI_RUNTIME, launch->runtime, CUPTI_EXIT, launch, correlation);
	if (!launch->at_once)
		run_kernels(launch, correlation);
}

EXPORT void fake_get_counts(struct fake_counts *ret_counts)
{
	pthread_mutex_lock(&fake.lock);
	*ret_counts = fake.counts;
	pthread_mutex_unlock(&fake.lock);
}

EXPORT void fake_keep_buffers(int keep)
{
	pthread_mutex_lock(&fake.lock);
	fake.busy_elsewhere = keep;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
}

EXPORT void fake_hold(int held)
{
	fake.held = held;
}

/* ---- CUPTI --------------------------------------------------------------------------------- */

int cuptiSubscribe(void **subscriber, cupti_called_fn *called, void *ctx)
{
	if (fake.held || fake.called) {
		fake.counts.refused++;
		return CUPTI_HELD_BY_ANOTHER;
	}
	fake.called = called;
	fake.ctx = ctx;
	/* Each new subscriber starts from the first correlation. */
	__atomic_store_n(&fake.correlation, FIRST_CORRELATION, __ATOMIC_RELAXED);
	fake.counts.subscribed++;
	*subscriber = &fake;
	return CUPTI_OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	pthread_mutex_lock(&fake.lock);
	fake.called = NULL;
	memset(fake.enabled, 0, sizeof(fake.enabled));
	fake.counts.unsubscribed++;
	pthread_mutex_unlock(&fake.lock);
	return subscriber == &fake ? CUPTI_OK : INVALID;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t number)
{
	if (subscriber != &fake || domain > CUPTI_RUNTIME || number >= MAX_NUMBER)
		return INVALID;
	pthread_mutex_lock(&fake.lock);
	fake.enabled[domain][number] = enable;
	pthread_mutex_unlock(&fake.lock);
	return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn *request, cupti_complete_fn *complete)
{
	pthread_t thread;

	fake.request = request;
	fake.complete = complete;
	if (!fake.threaded && pthread_create(&thread, NULL, give_back, NULL))
		return INVALID;
	fake.threaded = true;
	return CUPTI_OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	if (kind != CUPTI_CONCURRENT_KERNEL || !fake.request)
		return INVALID;
	pthread_mutex_lock(&fake.lock);
	fake.records = true;
	pthread_mutex_unlock(&fake.lock);
	return CUPTI_OK;
}

int cuptiActivityDisable(uint32_t kind)
{
	pthread_mutex_lock(&fake.lock);
	fake.records = false;
	pthread_mutex_unlock(&fake.lock);
	return kind == CUPTI_CONCURRENT_KERNEL ? CUPTI_OK : INVALID;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, struct cupti_kernel **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : buffer;

	if ((size_t)(next - buffer) + RECORD_BYTES > valid_bytes)
		return LIMIT;
	*record = (void *)next;
	return CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	pthread_mutex_lock(&fake.lock);
	if (fake.current.bytes && (!fake.current.unfinished || flag == CUPTI_FLUSH_FORCED))
		queue_current();
	while (fake.queued || fake.busy)
		pthread_cond_wait(&fake.changed, &fake.lock);
	pthread_mutex_unlock(&fake.lock);
	return CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&fake.lock);
	*count = fake.dropped;
	fake.dropped = 0;
	pthread_mutex_unlock(&fake.lock);
	return CUPTI_OK;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == INVALID ? "CUPTI_ERROR_INVALID_PARAMETER" : "CUPTI_ERROR_OF_THE_FAKE";
	return CUPTI_OK;
}

#ifdef FAKE_CUPTI_13
static cupti_request_v2_fn *request_v2;
static cupti_complete_v2_fn *complete_v2;

static void request_of_v2(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	request_v2(buffer, bytes, most_records, NULL);
}

static void complete_of_v2(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                           size_t valid_bytes)
{
	(void)context;
	(void)stream;
	complete_v2(buffer, bytes, valid_bytes, NULL);
}

int cuptiSubscribe_v2(void **subscriber, cupti_called_fn *called, void *ctx,
                      struct cupti_subscription *subscription)
{
	if (subscription->bytes != 40 || !subscription->allow_others)
		return INVALID;
	if (fake.held)
		snprintf(subscription->other_name, subscription->other_name_bytes, "the other one");
	return cuptiSubscribe(subscriber, called, ctx);
}

int cuptiActivityRegisterCallbacks_v2(void *subscriber, cupti_request_v2_fn *request,
                                      cupti_complete_v2_fn *complete)
{
	request_v2 = request;
	complete_v2 = complete;
	return subscriber == &fake ? cuptiActivityRegisterCallbacks(request_of_v2, complete_of_v2)
	                           : INVALID;
}

int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config)
{
	return subscriber == &fake && !config ? cuptiActivityEnable(kind) : INVALID;
}

int cuptiActivityDisable_v2(void *subscriber, uint32_t kind, void *config)
{
	return subscriber == &fake && !config ? cuptiActivityDisable(kind) : INVALID;
}

int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream,
                                         size_t *count)
{
	return subscriber == &fake ? cuptiActivityGetNumDroppedRecords(context, stream, count)
	                           : INVALID;
}

int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid_bytes,
                                  struct cupti_kernel **record)
{
	return subscriber == &fake ? cuptiActivityGetNextRecord(buffer, valid_bytes, record)
	                           : INVALID;
}
#endif
