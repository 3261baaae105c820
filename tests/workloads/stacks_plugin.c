/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shared object for stacks_dlopen: plugin_entry, plugin_middle, plugin_work. It is bound lazily,
 * so that the dynamic linker's resolver runs once after each load.
 */
#include "stacks_work.h"

enum { UNIT = 3 * 1000 * 1000 };

void plugin_entry(void);

static FRAME void plugin_work(void)
{
	SPIN(UNIT + (uint64_t)labs(-1));
}

static FRAME void plugin_middle(void)
{
	HOLD_REGISTERS_ACROSS(plugin_work());
}

FRAME void plugin_entry(void)
{
	plugin_middle();
	__asm__ volatile("");
}
