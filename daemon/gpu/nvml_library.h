/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of READER_NVML in the process: NVIDIA's management library, libnvidia-ml.so.1, is loaded
 * when it is first asked for and stays. It is foreign code, which opens devices and may wait for
 * them, so it is never in the daemon: the process has no capabilities, and is killed when it is
 * late (reader/process.h).
 */
#pragma once

#include "reader/serve.h"

/* A reader_answer_fn: a struct nvml_report. -ENOENT: there is no such library here. */
int nvml_answer(struct reading *reading, struct buf *out);
