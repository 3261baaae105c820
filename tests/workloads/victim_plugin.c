/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shared object for victim_loads: victim_entry, victim_spins_00. Tests make copies of the file in
 * which the latter has another name of the same length.
 */
#include "work.h"

void victim_entry(void);

static __attribute__((noipa)) void victim_spins_00(void)
{
	WORK(1000 * 1000);
}

__attribute__((noipa)) void victim_entry(void)
{
	victim_spins_00();
	__asm__ volatile("");
}
