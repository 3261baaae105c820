/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares the declarations of daemon/cuda_helper/cupti_api.h with NVIDIA's headers: this file
 * compiles if they agree.
 */
#include <cupti.h>

#include "cuda_helper/cupti_api.h"

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define FIELD(ours, field, theirs, theirs_field) \
	SAME(offsetof(struct ours, field), offsetof(theirs, theirs_field))

/* ---- numbers ------------------------------------------------------------------------------- */

SAME(CUPTI_OK, CUPTI_SUCCESS);
SAME(CUPTI_HELD_BY_ANOTHER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(CUPTI_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(CUPTI_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(CUPTI_ENTER, CUPTI_API_ENTER);
SAME(CUPTI_EXIT, CUPTI_API_EXIT);
SAME(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

/* ---- launch functions: each entry of CUPTI_LAUNCHES is one of these ------------------------ */

#define THEIR_LAUNCHES(LAUNCH)                                        \
	LAUNCH(RUNTIME, cudaLaunchKernel_v7000, func)                 \
	LAUNCH(RUNTIME, cudaLaunchKernel_ptsz_v7000, func)            \
	LAUNCH(RUNTIME, cudaLaunchCooperativeKernel_v9000, func)      \
	LAUNCH(RUNTIME, cudaLaunchCooperativeKernel_ptsz_v9000, func) \
	LAUNCH(RUNTIME, cudaLaunchKernelExC_v11060, func)             \
	LAUNCH(RUNTIME, cudaLaunchKernelExC_ptsz_v11060, func)        \
	LAUNCH(RUNTIME, cudaGraphLaunch_v10000, graphExec)            \
	LAUNCH(RUNTIME, cudaGraphLaunch_ptsz_v10000, graphExec)       \
	LAUNCH(DRIVER, cuLaunch, f)                                   \
	LAUNCH(DRIVER, cuLaunchGrid, f)                               \
	LAUNCH(DRIVER, cuLaunchGridAsync, f)                          \
	LAUNCH(DRIVER, cuLaunchKernel, f)                             \
	LAUNCH(DRIVER, cuLaunchKernel_ptsz, f)                        \
	LAUNCH(DRIVER, cuLaunchCooperativeKernel, f)                  \
	LAUNCH(DRIVER, cuLaunchCooperativeKernel_ptsz, f)             \
	LAUNCH(DRIVER, cuLaunchKernelEx, f)                           \
	LAUNCH(DRIVER, cuLaunchKernelEx_ptsz, f)                      \
	LAUNCH(DRIVER, cuGraphLaunch, hGraph)                         \
	LAUNCH(DRIVER, cuGraphLaunch_ptsz, hGraphExec)

#define IS_THEIRS(domain, function, kernel)                                                     \
	+(in == (int)CUPTI_##domain && number == (int)CUPTI_##domain##_TRACE_CBID_##function && \
	  word * sizeof(uint64_t) == offsetof(function##_params, kernel))
#define IS_ONE(of, its_number, its_word, graph)                                      \
	{                                                                            \
		enum { in = (int)CUPTI_##of, number = its_number, word = its_word }; \
		_Static_assert((THEIR_LAUNCHES(IS_THEIRS)) == 1, #its_number);       \
	}
#define ONE(...) +1

static inline void check_launches(void)
{
	CUPTI_LAUNCHES(IS_ONE);
}
SAME(CUPTI_LAUNCHES(ONE), THEIR_LAUNCHES(ONE));

/* ---- layouts ------------------------------------------------------------------------------- */

FIELD(cupti_call, site, CUpti_CallbackData, callbackSite);
FIELD(cupti_call, function, CUpti_CallbackData, functionName);
FIELD(cupti_call, parameters, CUpti_CallbackData, functionParams);
FIELD(cupti_call, result, CUpti_CallbackData, functionReturnValue);
FIELD(cupti_call, correlation, CUpti_CallbackData, correlationId);
SAME(sizeof(struct cupti_call), sizeof(CUpti_CallbackData));

/* Buffers hold the newest version of the record, and a program may have any CUPTI since CUDA 11. */
#define KERNEL(n)                                                                 \
	FIELD(cupti_kernel, kind, CUpti_ActivityKernel##n, kind);                 \
	FIELD(cupti_kernel, start_ns, CUpti_ActivityKernel##n, start);            \
	FIELD(cupti_kernel, end_ns, CUpti_ActivityKernel##n, end);                \
	FIELD(cupti_kernel, completed_ns, CUpti_ActivityKernel##n, completed);    \
	FIELD(cupti_kernel, device, CUpti_ActivityKernel##n, deviceId);           \
	FIELD(cupti_kernel, context, CUpti_ActivityKernel##n, contextId);         \
	FIELD(cupti_kernel, stream, CUpti_ActivityKernel##n, streamId);           \
	FIELD(cupti_kernel, correlation, CUpti_ActivityKernel##n, correlationId); \
	FIELD(cupti_kernel, grid_number, CUpti_ActivityKernel##n, gridId);        \
	FIELD(cupti_kernel, name, CUpti_ActivityKernel##n, name)

KERNEL(5);
KERNEL(6);
KERNEL(7);
KERNEL(8);
#if CUPTI_API_VERSION > 18
KERNEL(9);
#endif
#if CUPTI_API_VERSION >= 130500
KERNEL(10);
KERNEL(11);
KERNEL(12);
KERNEL(13);

FIELD(cupti_subscription, bytes, CUpti_SubscriberParams, structSize);
FIELD(cupti_subscription, name, CUpti_SubscriberParams, subscriberName);
FIELD(cupti_subscription, other_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(cupti_subscription, other_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
FIELD(cupti_subscription, allow_others, CUpti_SubscriberParams, allowMultipleSubscribers);
SAME(sizeof(struct cupti_subscription), CUpti_SubscriberParams_STRUCT_SIZE);
#endif

/* ---- functions: CUPTI_FUNCTIONS have the same parameters ----------------------------------- */

#define TAKES(name, ...) _Static_assert(sizeof(cupti##name(__VA_ARGS__)) == sizeof(int), #name)
#define A(type)          (*(type *)0)

TAKES(Subscribe, A(CUpti_SubscriberHandle *), A(CUpti_CallbackFunc), A(void *));
TAKES(Unsubscribe, A(CUpti_SubscriberHandle));
TAKES(EnableCallback, A(uint32_t), A(CUpti_SubscriberHandle), A(CUpti_CallbackDomain),
      A(CUpti_CallbackId));
TAKES(ActivityRegisterCallbacks, A(CUpti_BuffersCallbackRequestFunc),
      A(CUpti_BuffersCallbackCompleteFunc));
TAKES(ActivityEnable, A(CUpti_ActivityKind));
TAKES(ActivityDisable, A(CUpti_ActivityKind));
TAKES(ActivityGetNextRecord, A(uint8_t *), A(size_t), A(CUpti_Activity **));
TAKES(ActivityFlushAll, A(uint32_t));
TAKES(ActivityGetNumDroppedRecords, A(CUcontext), A(uint32_t), A(size_t *));
TAKES(GetResultString, A(CUptiResult), A(const char **));
#if CUPTI_API_VERSION >= 130500
TAKES(Subscribe_v2, A(CUpti_SubscriberHandle *), A(CUpti_CallbackFunc), A(void *),
      A(CUpti_SubscriberParams *));
TAKES(ActivityRegisterCallbacks_v2, A(CUpti_SubscriberHandle),
      A(CUpti_BuffersCallbackRequestFunc_v2), A(CUpti_BuffersCallbackCompleteFunc_v2));
TAKES(ActivityEnable_v2, A(CUpti_SubscriberHandle), A(CUpti_ActivityKind),
      A(CUpti_ActivityConfig *));
TAKES(ActivityDisable_v2, A(CUpti_SubscriberHandle), A(CUpti_ActivityKind),
      A(CUpti_ActivityConfig *));
TAKES(ActivityGetNextRecord_v2, A(CUpti_SubscriberHandle), A(uint8_t *), A(size_t),
      A(CUpti_Activity **));
TAKES(ActivityGetNumDroppedRecords_v2, A(CUpti_SubscriberHandle), A(CUcontext), A(uint32_t),
      A(size_t *));
#endif
