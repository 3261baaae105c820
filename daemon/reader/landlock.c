/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Uses system calls, because C libraries have no functions for them. The kernel reports the version
 * of its interface; the rights that each version added are listed here, because headers may be
 * older.
 */
#include "reader/landlock.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct landlock_rights brought[] = {
	{.files = (1 << 13) - 1},
	{.files = 1 << 13}, /* moving a file to another folder */
	{.files = 1 << 14}, /* truncate(2) */
	{.tcp = LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT},
	{.files = 1 << 15}, /* ioctl(2) of devices */
	{.scopes = 1 << 0 | 1 << 1},
};

struct landlock_rights landlock_known(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_rights known = {0};

	for (long i = 0; i < version && i < (long)(sizeof(brought) / sizeof(brought[0])); i++) {
		known.files |= brought[i].files;
		known.tcp |= brought[i].tcp;
		known.scopes |= brought[i].scopes;
	}
	return known;
}

int landlock_rules(const struct landlock_rights *forbidden)
{
	/* The structure has the kernel's layout. A kernel that knows fewer fields accepts the
	 * others if they are 0. */
	long rules = syscall(SYS_landlock_create_ruleset, forbidden, sizeof(*forbidden), 0);

	return rules < 0 ? -errno : (int)rules;
}

int landlock_enter(int rules)
{
	return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}

int landlock_forbid(const struct landlock_rights *forbidden)
{
	if (!forbidden->files && !forbidden->tcp && !forbidden->scopes)
		return 0;
	_cleanup_close_ int rules = landlock_rules(forbidden);

	return rules < 0 ? rules : landlock_enter(rules);
}
