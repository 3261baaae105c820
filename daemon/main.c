/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profd: its settings, then the daemon; or the process that reads names for it.
 */
#include "base/log.h"
#include "config.h"
#include "daemon.h"
#include "names/service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static int run_names(int argc, char **argv)
{
	int status = names_main(argc, argv);

	if (status == EX_USAGE)
		log_error(NAMES_COMMAND ": only profd itself starts this");
	return status;
}

static int run(struct config *config)
{
	switch (config->command) {
	case COMMAND_CHECK:
		printf("%s: all settings are good\n",
		       config->file ? config->file : CONFIG_FILE " is not there");
		return EX_OK;
	case COMMAND_SHOW:
		return config_show(config) ? EX_IOERR : EX_OK;
	case COMMAND_SERVE:
		break;
	}
	return daemon_run(config);
}

int main(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = {0};
	char why[256];
	int err;

	/* Not an option, so that --help is about what people can use. */
	if (argc > 1 && !strcmp(argv[1], NAMES_COMMAND))
		return run_names(argc, argv);
	err = config_load(argc, argv, &config, why);
	if (err) {
		if (why[0])
			log_error("%s", why);
		return err == -EINVAL ? EX_USAGE : EX_CONFIG;
	}
	return run(&config);
}
