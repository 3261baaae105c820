/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The side of READER_NVML that runs in the reader process: NVIDIA's management library,
 * libnvidia-ml.so.1, is loaded at the first request and stays. It is foreign code, which opens
 * devices and may wait for them, so it is never in the daemon: the reader process has no
 * capabilities, and is killed when it exceeds its deadline (reader/process.h).
 */
#pragma once

#include "reader/serve.h"

/* A reader_answer_fn that answers with a struct nvml_report. -ENOENT: there is no such library
 * here. */
int nvml_answer(struct reading *reading, struct buf *out);
