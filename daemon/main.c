/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profd: the command line, then the daemon; or the process that reads names for it.
 */
#include "base/log.h"
#include "config.h"
#include "daemon.h"
#include "names/service.h"

#include <string.h>
#include <sysexits.h>

static int run_names(int argc, char **argv)
{
	int status = names_main(argc, argv);

	if (status == EX_USAGE)
		log_error(NAMES_COMMAND ": only profd itself starts this");
	return status;
}

int main(int argc, char **argv)
{
	struct config config;
	char why[256];

	/* Not an option, so that --help is about what people can use. */
	if (argc > 1 && !strcmp(argv[1], NAMES_COMMAND))
		return run_names(argc, argv);
	if (config_parse(argc, argv, &config, why) < 0) {
		if (why[0])
			log_error("%s", why);
		return EX_USAGE;
	}
	if (config.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return daemon_run(&config);
}
