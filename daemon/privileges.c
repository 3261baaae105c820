/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Uses the kernel's own calls, which affect the calling thread only.
 */
#include "privileges.h"

#include "base/log.h"
#include "kernel/perf.h"
#include "kernel/uprobes.h"
#include "reader/landlock.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum when {
	ALWAYS,
	OF_ROOT,       /* always, if the daemon is user 0 */
	ASKED_OF_ROOT, /* the same, on kernels that require it */
};

static const struct {
	unsigned int number;
	enum when when;
	const char *name;
} capabilities[CAPABILITY_COUNT] = {
#define CAPABILITY(number, name, when, why, without, needed) {CAP_##number, when, name},
	CAPABILITIES(CAPABILITY)
#undef CAPABILITY
#define CAPABILITY(number, name, when, why) {CAP_##number, when, name},
		ROOT_CAPABILITIES(CAPABILITY)
#undef CAPABILITY
};

struct sets {
	uint64_t effective, permitted;
};

static int get_sets(struct sets *ret_sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &header, words) < 0)
		return -errno;
	ret_sets->effective = words[0].effective | (uint64_t)words[1].effective << 32;
	ret_sets->permitted = words[0].permitted | (uint64_t)words[1].permitted << 32;
	return 0;
}

/* No capability is inheritable, so none is ambient either. */
static int set_sets(struct sets sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {
		{(uint32_t)sets.effective, (uint32_t)sets.permitted, 0},
		{(uint32_t)(sets.effective >> 32), (uint32_t)(sets.permitted >> 32), 0},
	};

	return syscall(SYS_capset, &header, words) < 0 ? -errno : 0;
}

static uint64_t all_of(enum when when)
{
	uint64_t set = 0;

	for (size_t i = 0; i < CAPABILITY_COUNT; i++)
		if (capabilities[i].when == when)
			set |= 1ULL << capabilities[i].number;
	return set;
}

/* On distributions that have raised the level of perf events, and on kernels where uprobes are perf
 * events: maintained kernels have "perf: Revert to requiring CAP_SYS_ADMIN for uprobes". */
static bool kernel_asks_for_admin(void)
{
	return perf_wants_admin() || !uprobes_are_multi();
}

static uint64_t of_root(void)
{
	return all_of(OF_ROOT) | (kernel_asks_for_admin() ? all_of(ASKED_OF_ROOT) : 0);
}

/* The bounding set limits what a program started by root gets. Other users lack CAP_SETPCAP to
 * change it, and their programs get nothing anyway. All of profd's capabilities stay in the set: if
 * profd's own file has them as file capabilities, the kernel refuses to run it again, as a reader
 * process, when one of them is missing from the set. */
static void shrink_bounding_set(void)
{
	uint64_t kept = all_of(ALWAYS) | of_root();

	for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
		if (!(kept >> number & 1) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
			return;
}

int privileges_reduce(void)
{
	struct sets sets;
	int err = get_sets(&sets);

	if (err < 0)
		return err;
	shrink_bounding_set();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	sets.permitted &= all_of(ALWAYS) | (geteuid() == 0 ? of_root() : 0);
	sets.effective = sets.permitted;
	return set_sets(sets);
}

void privileges_warn_of_readers(void)
{
	const uint64_t needed = 1ULL << CAP_SETUID | 1ULL << CAP_SETGID;
	struct sets sets;

	if (geteuid() == 0 && get_sets(&sets) == 0 && (sets.permitted & needed) != needed)
		log_warning("CAP_SETUID or CAP_SETGID is missing: reader processes stay user 0, "
		            "without capabilities");
	if (!landlock_known().files)
		log_info(
			"Landlock is not available: reader processes can open all files that their "
			"user can open");
}

void privileges_get(struct privileges *ret_privileges)
{
	struct sets sets = {0};
	size_t count = 0;

	get_sets(&sets);
	for (size_t i = 0; i < CAPABILITY_COUNT; i++)
		if (sets.permitted >> capabilities[i].number & 1)
			ret_privileges->names[count++] = capabilities[i].name;
	ret_privileges->names[count] = NULL;
}
