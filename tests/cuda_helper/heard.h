/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library told, in a program that has it linked in with this in the place of its probes.
 */
#pragma once

#include "cuda_helper/tell.h"

enum { HEARD_NAMES = 8 };

struct heard_name {
	const char *name;
	uint64_t told, kernels, ns; /* times their weights, but for `told` */
};

struct heard {
	bool listening;
	uint64_t launched, unknown; /* unknown: kernels of a launch that was not told */
	struct heard_name names[HEARD_NAMES];
};

extern struct heard heard;

const struct heard_name *heard_name(const char *name); /* fails where it was not told */
void heard_listen(bool on);
void heard_forget(void); /* what was told until now */
