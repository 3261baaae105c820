/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A graph's launch leads to hundreds of kernels with few names: the kernels of a buffer are added
 * up before they are reported.
 */
#include "cuda_helper/kernels.h"

#include "cuda_helper/buffers.h"
#include "cuda_helper/counters.h"
#include "cuda_helper/launches.h"
#include "cuda_helper/tell.h"

#include <errno.h>

enum { SUMS = 64 };

static const struct cupti *cupti;
static void *owner;
static bool recording;

struct sums {
	size_t count;
	struct told_kernels at[SUMS];
};

void kernels_init(const struct cupti *with)
{
	cupti = with;
}

void kernels_subscriber(void *subscriber)
{
	__atomic_store_n(&owner, subscriber, __ATOMIC_RELEASE);
}

void kernels_record(bool on)
{
	__atomic_store_n(&recording, on, __ATOMIC_RELEASE);
}

/* ---- telling ------------------------------------------------------------------------------- */

static void tell_all(struct sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		tell_ran(&sums->at[i]);
	sums->count = 0;
}

static void add(struct sums *sums, const struct cupti_kernel *kernel, uint32_t weight)
{
	uint64_t ns = kernel->end_ns - kernel->start_ns;

	for (size_t i = 0; i < sums->count; i++) {
		struct told_kernels *sum = &sums->at[i];

		if (sum->correlation == kernel->correlation && sum->name == kernel->name &&
		    sum->device == kernel->device) {
			sum->ns += ns;
			sum->kernels++;
			return;
		}
	}
	if (sums->count == SUMS)
		tell_all(sums);
	sums->at[sums->count++] = (struct told_kernels){
		.correlation = kernel->correlation,
		.ns = ns,
		.weight = weight,
		.kernels = 1,
		.device = kernel->device,
		.name = kernel->name,
	};
}

static void take_kernel(struct sums *sums, const struct cupti_kernel *kernel)
{
	uint32_t weight = correlations_find(&launches_chosen, kernel->correlation);

	if (!weight) {
		count(&profd_cuda_counters.not_chosen, 1);
	} else if (!kernel->start_ns || kernel->end_ns < kernel->start_ns) {
		count(&profd_cuda_counters.untimed, 1);
	} else {
		count(&profd_cuda_counters.kernels, 1);
		add(sums, kernel, weight);
	}
}

/* ---- buffers ------------------------------------------------------------------------------- */

static int next_record(uint8_t *buffer, size_t bytes, struct cupti_kernel **record)
{
	void *subscriber = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);

	return cupti->many ? cupti->ActivityGetNextRecord_v2(subscriber, buffer, bytes, record)
	                   : cupti->ActivityGetNextRecord(buffer, bytes, record);
}

static bool is_whole(const struct cupti_kernel *record, const uint8_t *buffer, size_t bytes)
{
	size_t at = (size_t)((const uint8_t *)record - buffer);

	return at < bytes && bytes - at >= sizeof(*record);
}

static void take_records(uint8_t *buffer, size_t bytes)
{
	struct cupti_kernel *record = NULL;
	struct sums sums;

	sums.count = 0;
	while (next_record(buffer, bytes, &record) == CUPTI_OK && record) {
		count(&profd_cuda_counters.records, 1);
		if (record->kind == CUPTI_CONCURRENT_KERNEL && is_whole(record, buffer, bytes))
			take_kernel(&sums, record);
	}
	tell_all(&sums);
}

/* Reports dropped kernels where kernels are reported: with their number, and no run time. */
static void tell_dropped(void *context, uint32_t stream)
{
	/* Not constant: a listening program cannot read a page that was never touched. */
	static char name[] = "[kernels that CUPTI dropped]";
	void *subscriber = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
	size_t dropped = 0;
	int result = -1;

	if (cupti->many && cupti->ActivityGetNumDroppedRecords_v2)
		result = cupti->ActivityGetNumDroppedRecords_v2(subscriber, context, stream,
		                                                &dropped);
	else if (!cupti->many && cupti->ActivityGetNumDroppedRecords)
		result = cupti->ActivityGetNumDroppedRecords(context, stream, &dropped);
	if (result != CUPTI_OK || !dropped)
		return;
	count(&profd_cuda_counters.dropped, dropped);
	tell_ran(&(struct told_kernels){
		.kernels = dropped,
		.weight = 1,
		.device = NO_DEVICE,
		.name = name,
	});
}

void kernels_request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	bool wanted = __atomic_load_n(&recording, __ATOMIC_ACQUIRE) && tell_heard();
	int saved = errno;

	*most_records = 0;
	*buffer = wanted ? buffers_get() : NULL;
	errno = saved;
	*bytes = *buffer ? BUFFER_BYTES : 0;
	if (*buffer)
		count(&profd_cuda_counters.buffers, 1);
	else if (wanted)
		count(&profd_cuda_counters.no_buffer, 1);
}

void kernels_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                      size_t valid_bytes)
{
	int saved = errno; /* the program's, if this is one of its threads */

	if (buffer && valid_bytes <= bytes && tell_heard()) {
		take_records(buffer, valid_bytes);
		tell_dropped(context, stream);
	}
	buffers_put(buffer);
	errno = saved;
}

void kernels_request_v2(uint8_t **buffer, size_t *bytes, size_t *most_records, const void *info)
{
	(void)info;
	kernels_request(buffer, bytes, most_records);
}

void kernels_complete_v2(uint8_t *buffer, size_t bytes, size_t valid_bytes, const void *info)
{
	(void)info;
	kernels_complete(NULL, 0, buffer, bytes, valid_bytes);
}
