/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library reported, in a program that is linked with the library and has this module in
 * place of the library's probes.
 */
#pragma once

#include "cuda_helper/tell.h"

enum { HEARD_NAMES = 8 };

struct heard_name {
	const char *name;
	uint64_t told, kernels, ns; /* sums of weights, except `told` */
};

struct heard {
	bool listening;
	uint64_t launched, unknown; /* unknown: kernels of a launch that was not reported */
	struct heard_name names[HEARD_NAMES];
};

extern struct heard heard;

const struct heard_name *heard_name(const char *name); /* fails if it was not reported */
void heard_listen(bool on);
void heard_forget(void); /* forgets the reports so far */
