/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "object/aliases.h"

#include <stdlib.h>

struct alias *aliases_find(const struct aliases *aliases, const struct alias_name *name)
{
	struct alias *alias = NULL;

	if (name->kind)
		HASH_FIND(hh, aliases->by_name, name, sizeof(*name), alias);
	return alias;
}

void aliases_drop(struct aliases *aliases, struct alias *alias)
{
	HASH_DEL(aliases->by_name, alias);
	free(alias);
}

static struct alias *make(struct aliases *aliases, const struct alias_name *name)
{
	struct alias *alias;

	if (!name->kind)
		return NULL;
	if (HASH_COUNT(aliases->by_name) >= aliases->max)
		aliases_drop(aliases, aliases->by_name);
	alias = calloc(1, sizeof(*alias));
	if (!alias)
		return NULL;
	alias->name = *name;
	HASH_ADD(hh, aliases->by_name, name, sizeof(alias->name), alias);
	if (alias->hh.tbl)
		return alias;
	free(alias);
	return NULL;
}

void aliases_add(struct aliases *aliases, const struct alias_name *name, uint32_t id,
                 const struct stamp *stamp, uint64_t now_ns)
{
	struct alias *alias = aliases_find(aliases, name) ?: make(aliases, name);

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
