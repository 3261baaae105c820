/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profd: reads its settings and runs the daemon or the doctor; or runs a reader process.
 */
#include "base/log.h"
#include "base/text.h"
#include "config_load.h"
#include "daemon.h"
#include "doctor/doctor.h"
#include "guard.h"
#include "jobs.h"
#include "policies.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static int run_reader(int argc, char **argv)
{
	int status = reader_main(argc, argv, jobs_answer);

	if (status == EX_USAGE)
		log_error("%s: only profd itself may run this command", argv[1]);
	return status;
}

static int run_doctor(const struct config *config)
{
	const struct doctor_options options = {
		.json = config->json,
		.sample_hz = (uint32_t)config->sample_hz,
		.listen = config->listen,
		.listen_count = config->listen_count,
		.debuginfod = config->debuginfod,
	};

	/* Problems are reported once, below; libbpf's reasons are printed only with verbose. */
	log_set_level(config->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
	return doctor_run(&options);
}

static int check_servers(const struct config *config, char why[256])
{
	static const char plain[] = "http://";
	const char *servers = config->debuginfod ? config->debuginfod : "";
	struct text rest = text_of(servers, strlen(servers)), word;

	while (!config->debuginfod_http && text_word(&rest, &word)) {
		int len = (int)(word.end - word.at);

		if (strncmp(word.at, plain, strlen(plain)) != 0)
			continue;
		snprintf(why, 256,
		         "bad debuginfod = %.*s: without debuginfod-http = yes, only "
		         "https:// is accepted",
		         len < 160 ? len : 160, word.at);
		return -EBADMSG;
	}
	return 0;
}

/* Checks that concern several settings, or other files. */
static int check(const struct config *config, struct access **ret_access)
{
	char why[256];
	int err = check_servers(config, why);

	if (!err)
		err = guard_open(config, ret_access, why);
	/* The daemon checks this by itself. */
	if (!err && config->command != COMMAND_SERVE)
		err = policies_check(config, why);
	if (err)
		log_error("%s", why);
	return err;
}

static int run(struct config *config)
{
	_cleanup_(access_freep) struct access *access = NULL;

	if (config->command != COMMAND_SHOW && check(config, &access) < 0)
		return EX_CONFIG;
	switch (config->command) {
	case COMMAND_CHECK:
		printf("%s: all settings are good\n",
		       config->file ? config->file : CONFIG_FILE " does not exist");
		return EX_OK;
	case COMMAND_SHOW:
		return config_show(config) ? EX_IOERR : EX_OK;
	case COMMAND_DOCTOR:
		return run_doctor(config);
	case COMMAND_SERVE:
		break;
	}
	return daemon_run(config, access);
}

int main(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = {0};
	char why[256];
	int err;

	/* Not an option, so that --help shows only what people can use. */
	if (reader_wanted(argc, argv))
		return run_reader(argc, argv);
	/* The parent may have had SIGCHLD ignored. Then the kernel would reap profd's processes by
	 * itself, and their pids might belong to other processes when profd uses them. */
	signal(SIGCHLD, SIG_DFL);
	err = config_load(argc, argv, &config, why);
	if (err) {
		if (why[0])
			log_error("%s", why);
		return err == -EINVAL ? EX_USAGE : EX_CONFIG;
	}
	return run(&config);
}
