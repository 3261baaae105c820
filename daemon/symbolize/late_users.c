/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A small table, searched from its start.
 */
#include "symbolize/late_users.h"

#include "base/accounts.h"

#include <stddef.h>

#define LATE_FORGOTTEN_NS (15 * NSEC_PER_SEC)
enum { MAX_LATE = 5 };

static struct late_user *find(struct late_users *users, uint32_t account, uint64_t now_ns)
{
	for (size_t i = 0; i < MAX_LATE_USERS; i++) {
		struct late_user *late = &users->at[i];

		if (!late->times || late->account != account)
			continue;
		uint64_t steps = (now_ns - late->since_ns) / LATE_FORGOTTEN_NS;

		late->since_ns += steps * LATE_FORGOTTEN_NS;
		late->times -= steps < late->times ? (unsigned int)steps : late->times;
		return late->times ? late : NULL;
	}
	return NULL;
}

/* The account of the file's owner. Files of root that users were the first to map are apart, or any
 * user could make root's own files wait. */
static uint32_t account(const struct object *object)
{
	return object->owner == 0 && object->user != 0 ? UINT32_MAX : account_of(object->owner);
}

uint64_t late_users_patience_ns(struct late_users *users, const struct object *object,
                                uint64_t now_ns)
{
	const struct late_user *late = find(users, account(object), now_ns);

	if (!late)
		return PATIENCE_NS;
	return late->times >= MAX_LATE ? 0 : PATIENCE_NS >> late->times;
}

void late_users_note(struct late_users *users, const struct object *object, uint64_t now_ns)
{
	struct late_user *late = find(users, account(object), now_ns);

	if (!late) {
		late = &users->at[0];
		for (size_t i = 1; i < MAX_LATE_USERS; i++)
			if (late->times &&
			    (!users->at[i].times || users->at[i].since_ns < late->since_ns))
				late = &users->at[i];
		*late = (struct late_user){.account = account(object)};
	}
	late->since_ns = now_ns;
	late->times += late->times < MAX_LATE;
}
