/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A user without entries is forgotten. Users are few, so the one with most entries is found by
 * going through all of them.
 */
#include "object/aliases.h"

#include "base/accounts.h"

#include <stdlib.h>

#include <utlist.h>

struct alias_user {
	uint32_t account;
	size_t count;
	struct alias *by_use;
	UT_hash_handle hh;
};

static struct alias_user *get_user(struct aliases *aliases, uint32_t account)
{
	struct alias_user *user;

	HASH_FIND(hh, aliases->by_user, &account, sizeof(account), user);
	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->account = account;
	HASH_ADD(hh, aliases->by_user, account, sizeof(account), user);
	if (user->hh.tbl)
		return user;
	free(user);
	return NULL;
}

static void drop_unused(struct aliases *aliases, struct alias_user *user)
{
	if (user->count)
		return;
	HASH_DEL(aliases->by_user, user);
	free(user);
}

static void charge(struct alias_user *user, struct alias *alias)
{
	alias->user = user;
	DL_APPEND(user->by_use, alias);
	user->count++;
}

struct alias *aliases_find(struct aliases *aliases, const struct alias_name *name)
{
	struct alias *alias = NULL;

	if (name->kind)
		HASH_FIND(hh, aliases->by_name, name, sizeof(*name), alias);
	if (alias) {
		DL_DELETE(alias->user->by_use, alias);
		DL_APPEND(alias->user->by_use, alias);
	}
	return alias;
}

void aliases_drop(struct aliases *aliases, struct alias *alias)
{
	struct alias_user *user = alias->user;

	DL_DELETE(user->by_use, alias);
	user->count--;
	drop_unused(aliases, user);
	HASH_DEL(aliases->by_name, alias);
	free(alias);
}

static void make_room(struct aliases *aliases)
{
	const struct alias_user *user, *most = aliases->by_user;

	if (HASH_COUNT(aliases->by_name) < aliases->max)
		return;
	for (user = aliases->by_user; user; user = user->hh.next)
		if (user->count > most->count)
			most = user;
	aliases_drop(aliases, most->by_use);
}

static struct alias *make(struct aliases *aliases, uint32_t account, const struct alias_name *name)
{
	struct alias_user *user;
	struct alias *alias;

	if (!name->kind)
		return NULL;
	make_room(aliases);
	alias = calloc(1, sizeof(*alias));
	user = alias ? get_user(aliases, account) : NULL;
	if (!user) {
		free(alias);
		return NULL;
	}
	alias->name = *name;
	HASH_ADD(hh, aliases->by_name, name, sizeof(alias->name), alias);
	if (alias->hh.tbl) {
		charge(user, alias);
		return alias;
	}
	free(alias);
	drop_unused(aliases, user);
	return NULL;
}

void aliases_add(struct aliases *aliases, uint32_t user, const struct alias_name *name, uint32_t id,
                 const struct stamp *stamp, uint64_t now_ns)
{
	struct alias *alias = aliases_find(aliases, name) ?: make(aliases, account_of(user), name);

	if (!alias)
		return;
	alias->id = id;
	alias->stamp = *stamp;
	alias->added_ns = now_ns;
}

void aliases_clear(struct aliases *aliases)
{
	while (aliases->by_name)
		aliases_drop(aliases, aliases->by_name);
}
