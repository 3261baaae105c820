/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connects the settings with the access rules.
 */
#include "guard.h"

#include "base/log.h"
#include "http/listen.h"

#include <errno.h>

int guard_address(const struct config *config, const struct access *access, const char *text,
                  char ret_why[256])
{
	struct listen_address address;

	/* The text was parsed successfully when the setting was read. */
	if (config->insecure || listen_parse(text, &address) < 0 || listen_is_local(&address))
		return 0;
	return access_guards(access, text, ret_why);
}

int guard_open(const struct config *config, struct access **ret_access, char ret_why[256])
{
	_cleanup_(access_freep) struct access *access = NULL;
	int err = access_open(config->web_config, &access, ret_why);

	for (size_t i = 0; !err && i < config->listen_count; i++)
		err = guard_address(config, access, config->listen[i], ret_why);
	if (!err)
		*ret_access = TAKE_PTR(access);
	return err;
}

void guard_reload(const struct config *config, const struct listeners *bound, struct access *access)
{
	struct access *now = NULL;
	char why[256];
	int err;

	if (!config->web_config)
		return;
	err = guard_open(config, &now, why);
	/* Checks the bound addresses, too: sockets may have been handed over. */
	for (size_t i = 0; !err && i < bound->count; i++)
		err = guard_address(config, now, bound->at[i].name, why);
	if (!err)
		err = access_replace(access, now, why);
	if (err)
		log_error("%s; profd keeps its rules of access", why);
	else
		log_info("%s is read again", config->web_config);
}
