/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the web configuration: an accepted one is complete and within its bounds, and a
 * refusal names the line.
 */
#include "access/tls_priority.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct web_config *config)
{
	gnutls_priority_t priority;
	char why[WEB_WHY_BYTES];

	if (config->user_count > MAX_WEB_USERS || config->cipher_suites.count > MAX_WEB_ITEMS ||
	    config->numbers[WEB_client_auth_type] > CLIENT_AUTH_VERIFY)
		abort();
	for (size_t i = 0; i < config->user_count; i++)
		if (!config->users[i].name[0] || strlen(config->users[i].hash) != 60)
			abort();
	for (size_t i = 0; i < WEB_HEADER_COUNT; i++)
		if (config->headers[i] && strpbrk(config->headers[i], "\r\n"))
			abort();
	if (config->tls && !tls_priority(config, &priority, why))
		gnutls_priority_deinit(priority);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config config;
	char why[WEB_WHY_BYTES] = "";

	if (web_config_read(&config, (const char *)data, size, why) < 0) {
		if (atoi(why) < 1)
			abort();
		return 0;
	}
	check(&config);
	web_config_release(&config);
	return 0;
}
