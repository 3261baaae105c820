/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profd: the command line, then the daemon.
 */
#include "base/log.h"
#include "config.h"
#include "daemon.h"

#include <sysexits.h>

int main(int argc, char **argv)
{
	struct config config;
	char why[256];

	if (config_parse(argc, argv, &config, why) < 0) {
		if (why[0])
			log_error("%s", why);
		return EX_USAGE;
	}
	if (config.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return daemon_run(&config);
}
