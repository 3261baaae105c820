/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of reader/jobs.h, in a file that may include headers of all folders that answer
 * questions.
 */
#include "jobs.h"

#include "cuda/gpu_ask.h"
#include "demangle/answer.h"
#include "fetch/answer.h"
#include "gpu/nvml_library.h"
#include "heap/heap_ask.h"
#include "python/python_ask.h"
#include "names/answer.h"
#include "object/links.h"
#include "probes/usdt_ask.h"
#include "reader/jobs.h"
#include "unwind/table_answer.h"

#include <errno.h>

int jobs_answer(struct reading *reading, struct buf *out)
{
	static reader_answer_fn *const answers[] = {
#define JOB(name, answer) [READER_##name] = answer,
		READER_JOBS(JOB)
#undef JOB
	};

	return reading->job < READER_JOB_COUNT ? answers[reading->job](reading, out) : -EPROTO;
}
