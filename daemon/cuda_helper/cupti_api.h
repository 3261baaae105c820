/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of NVIDIA's CUPTI that is used, declared here so that nothing of CUPTI is needed to
 * build: numbers, layouts and prototypes as in CUPTI's documentation ("Activity API", "Callback
 * API"), the same from CUDA 11 to 13; tests/cupti compares them with NVIDIA's headers. The library
 * is looked for at run time, first among the libraries that the program has loaded: two CUPTIs in
 * one process would interfere with each other.
 *
 * The names in the lists CUPTI_FUNCTIONS... are those of CUPTI's functions without "cupti" before
 * them; all other names are profd's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUptiResult; only these are distinguished. */
enum { CUPTI_OK = 0, CUPTI_HELD_BY_ANOTHER = 39 };

enum cupti_domain { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2 };
enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };
enum { CUPTI_CONCURRENT_KERNEL = 10 }; /* CUpti_ActivityKind */
/* CUpti_ActivityFlag: buffers with incomplete records are returned, too. */
enum { CUPTI_FLUSH_FORCED = 1 };

/*
 * The functions that launch: domain, number of the function (cbid), which word of its parameters is
 * the kernel, and whether that is a graph. cupti_driver_cbid.h, cupti_runtime_cbid.h; the
 * parameters are those of the functions. A function of the runtime that is not listed is seen as
 * the driver's function that it calls.
 */
#define CUPTI_LAUNCHES(LAUNCH)                                           \
	LAUNCH(RUNTIME, 211, 0, false) /* cudaLaunchKernel */            \
	LAUNCH(RUNTIME, 214, 0, false) /* _ptsz */                       \
	LAUNCH(RUNTIME, 269, 0, false) /* cudaLaunchCooperativeKernel */ \
	LAUNCH(RUNTIME, 270, 0, false)                                   \
	LAUNCH(RUNTIME, 430, 1, false) /* cudaLaunchKernelExC */         \
	LAUNCH(RUNTIME, 431, 1, false)                                   \
	LAUNCH(RUNTIME, 311, 0, true) /* cudaGraphLaunch */              \
	LAUNCH(RUNTIME, 312, 0, true)                                    \
	LAUNCH(DRIVER, 115, 0, false) /* cuLaunch */                     \
	LAUNCH(DRIVER, 116, 0, false) /* cuLaunchGrid */                 \
	LAUNCH(DRIVER, 117, 0, false) /* cuLaunchGridAsync */            \
	LAUNCH(DRIVER, 307, 0, false) /* cuLaunchKernel */               \
	LAUNCH(DRIVER, 442, 0, false)                                    \
	LAUNCH(DRIVER, 477, 0, false) /* cuLaunchCooperativeKernel */    \
	LAUNCH(DRIVER, 478, 0, false)                                    \
	LAUNCH(DRIVER, 652, 1, false) /* cuLaunchKernelEx */             \
	LAUNCH(DRIVER, 653, 1, false)                                    \
	LAUNCH(DRIVER, 514, 0, true) /* cuGraphLaunch */                 \
	LAUNCH(DRIVER, 515, 0, true)

/* CUpti_CallbackData. */
struct cupti_call {
	uint32_t site; /* enum cupti_site */
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_number;
	uint64_t *data;
	uint32_t correlation;
};
_Static_assert(offsetof(struct cupti_call, correlation) == 64, "CUPTI's layout");

/* The common beginning of CUpti_ActivityKernel5 and all later versions. */
struct cupti_kernel {
	uint32_t kind; /* CUpti_ActivityKind; every activity begins with it */
	uint8_t unused_1[12];
	uint64_t start_ns, end_ns; /* both 0: not known */
	uint64_t completed_ns;
	uint32_t device, context, stream;
	uint8_t unused_2[40];
	uint32_t correlation;
	uint64_t grid_number;
	const char *name;
};
_Static_assert(offsetof(struct cupti_kernel, start_ns) == 16, "CUPTI's layout");
_Static_assert(offsetof(struct cupti_kernel, device) == 40, "CUPTI's layout");
_Static_assert(offsetof(struct cupti_kernel, correlation) == 92, "CUPTI's layout");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "CUPTI's layout");

/* CUpti_SubscriberParams. */
struct cupti_subscription {
	size_t bytes; /* size of this structure */
	const char *name;
	char *other_name; /* receives the name of the subscriber that has CUPTI, if another has */
	size_t other_name_bytes;
	uint8_t allow_others;
	uint8_t padding[7];
};
_Static_assert(offsetof(struct cupti_subscription, allow_others) == 32, "CUPTI's layout");

typedef void cupti_called_fn(void *ctx, uint32_t domain, uint32_t number,
                             const struct cupti_call *call);
typedef void cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes);
/* Since CUPTI 13.2 each subscriber has separate activities. */
typedef void cupti_request_v2_fn(uint8_t **buffer, size_t *bytes, size_t *most_records,
                                 const void *info);
typedef void cupti_complete_v2_fn(uint8_t *buffer, size_t bytes, size_t valid_bytes,
                                  const void *info);

#define CUPTI_FUNCTIONS(FUNCTION)                                                    \
	FUNCTION(Subscribe, void **subscriber, cupti_called_fn *called, void *ctx)   \
	FUNCTION(Unsubscribe, void *subscriber)                                      \
	FUNCTION(EnableCallback, uint32_t enable, void *subscriber, uint32_t domain, \
	         uint32_t number)                                                    \
	FUNCTION(ActivityRegisterCallbacks, cupti_request_fn *request,               \
	         cupti_complete_fn *complete)                                        \
	FUNCTION(ActivityEnable, uint32_t kind)                                      \
	FUNCTION(ActivityDisable, uint32_t kind)                                     \
	FUNCTION(ActivityGetNextRecord, uint8_t *buffer, size_t valid_bytes,         \
	         struct cupti_kernel **record)                                       \
	FUNCTION(ActivityFlushAll, uint32_t flag)                                    \
	FUNCTION(GetResultString, int result, const char **text)

/* All of them or none. */
#define CUPTI_FUNCTIONS_V2(FUNCTION)                                                              \
	FUNCTION(Subscribe_v2, void **subscriber, cupti_called_fn *called, void *ctx,             \
	         struct cupti_subscription *subscription)                                         \
	FUNCTION(ActivityRegisterCallbacks_v2, void *subscriber, cupti_request_v2_fn *request,    \
	         cupti_complete_v2_fn *complete)                                                  \
	FUNCTION(ActivityEnable_v2, void *subscriber, uint32_t kind, void *config)                \
	FUNCTION(ActivityDisable_v2, void *subscriber, uint32_t kind, void *config)               \
	FUNCTION(ActivityGetNextRecord_v2, void *subscriber, uint8_t *buffer, size_t valid_bytes, \
	         struct cupti_kernel **record)

/* NULL where the library does not have them. */
#define CUPTI_FUNCTIONS_MORE(FUNCTION)                                                        \
	FUNCTION(ActivityGetNumDroppedRecords, void *context, uint32_t stream, size_t *count) \
	FUNCTION(ActivityGetNumDroppedRecords_v2, void *subscriber, void *context,            \
	         uint32_t stream, size_t *count)

struct cupti {
#define FUNCTION(name, ...) int (*name)(__VA_ARGS__);
	CUPTI_FUNCTIONS(FUNCTION)
	CUPTI_FUNCTIONS_V2(FUNCTION)
	CUPTI_FUNCTIONS_MORE(FUNCTION)
#undef FUNCTION
	bool many; /* the library has the functions of CUPTI 13.2, and others may subscribe too */
};

/* Finds the library and its functions. NULL, or why it cannot be used. */
const char *cupti_load(struct cupti *cupti);
/* What a CUptiResult means, as text for users. */
const char *cupti_text(const struct cupti *cupti, int result);
