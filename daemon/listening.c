/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sockets that were handed over replace those of the settings.
 */
#include "listening.h"

#include "base/buf.h"
#include "base/log.h"
#include "guard.h"
#include "http/handed.h"

#include <stdio.h>
#include <string.h>

int listening_open(const struct config *config, const struct access *access,
                   struct listeners *ret_listeners, char ret_why[256])
{
	int err = handed_take(ret_listeners, ret_why);

	if (err)
		return err;
	for (size_t i = 0; !err && i < ret_listeners->count; i++)
		err = guard_address(config, access, ret_listeners->at[i].name, ret_why);
	if (err)
		return err;
	if (ret_listeners->count) {
		log_info("profd uses the service manager's sockets instead of the setting listen");
		return 0;
	}
	return listeners_open(config->listen, config->listen_count, ret_listeners, ret_why);
}

/* Writes the address in the form that curl accepts. */
void listening_next_step(const struct listener *listener, const struct access *access,
                         char ret_line[NEXT_STEP_BYTES])
{
	const char *name = listener->name, *port = strrchr(name, ':');
	char option[160] = "", host[160] = "localhost";

	if (!strncmp(name, "unix:@", 6))
		snprintf(option, sizeof(option), "--abstract-unix-socket %s ", name + 6);
	else if (!strncmp(name, "unix:", 5))
		snprintf(option, sizeof(option), "--unix-socket %s ", name + 5);
	else
		snprintf(host, sizeof(host), "%slocalhost%s", access->tls ? "https://" : "", port);
	if (!listener->local && access->config.user_count)
		snprintf(option, sizeof(option), "-u USER ");
	snprintf(ret_line, NEXT_STEP_BYTES,
	         "curl -s %s'%s/profile?seconds=5' -o cpu.pb.gz && go tool pprof -top cpu.pb.gz",
	         option, host);
}

void listening_log(const struct listeners *listeners, const struct config *config,
                   const struct access *access)
{
	_cleanup_(buf_release) struct buf names = BUF_INIT;
	char line[NEXT_STEP_BYTES];

	for (size_t i = 0; i < listeners->count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", listeners->at[i].name);
	log_info("profd %s listening on %s, sampling at %llu Hz", PROFD_VERSION, buf_text(&names),
	         (unsigned long long)config->sample_hz);
	listening_next_step(&listeners->at[0], access, line);
	log_info("try: %s", line);
}
