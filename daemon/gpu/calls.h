/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of CUDA's driver and runtime and of PyTorch that are probed, written once: what
 * each does with which argument (bpf/gpu.h). No state.
 */
#pragma once

#include "bpf/gpu.h"

/* What a function is called, without the ending of its variant for per-thread streams; by place in
 * the list, which cookies, rows and events have. "" for 0, which is none. */
const char *gpu_call_name(uint8_t call);
