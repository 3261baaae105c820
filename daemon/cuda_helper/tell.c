/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each probe is in a function of its own, so that it has one place in the file.
 */
#include "cuda_helper/tell.h"

#include "preload/usdt.h"

USDT_BASE();
USDT_SEMAPHORE(profd_cuda, launched);
USDT_SEMAPHORE(profd_cuda, ran);

bool tell_heard(void)
{
	return USDT_HEARD(profd_cuda, launched) && USDT_HEARD(profd_cuda, ran);
}

__attribute__((noinline)) void tell_launched(uint64_t correlation)
{
	USDT_PROBE(profd_cuda, launched, "8@%0", "r"(correlation));
}

__attribute__((noinline)) void tell_ran(const struct told_kernels *told)
{
	USDT_PROBE(profd_cuda, ran, "8@%0 8@%1 8@%2 8@%3 8@%4 8@%5", "r"(told->correlation),
	           "r"(told->ns), "r"(told->device), "r"(told->name), "r"(told->weight),
	           "r"(told->kernels));
}
