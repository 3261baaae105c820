/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: repeatedly loads stacks_plugin.so from its own folder, calls it and unloads it. Most
 * stacks are main, use_plugin, plugin_entry, plugin_middle, plugin_work, in code that was mapped
 * milliseconds before. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <dlfcn.h>

static FRAME int use_plugin(void)
{
	void *plugin = dlopen("stacks_plugin.so", RTLD_LAZY);
	void *symbol = plugin ? dlsym(plugin, "plugin_entry") : NULL;

	if (!symbol)
		return -1;
	HOLD_REGISTERS_ACROSS(((void (*)(void))symbol)());
	return dlclose(plugin);
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (use_plugin() != 0)
			return 1;
	}
	return 0;
}
