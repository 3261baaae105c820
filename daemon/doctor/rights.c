/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What this process may do, and whether it is outside all containers.
 */
#include "doctor/host.h"
#include "kernel/perf.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *without;
	bool needed;
} capabilities[HOST_CAPABILITY_COUNT] = {
#define CAPABILITY(number, name, when, why, without, needed) {"CAP_" #number, without, needed},
	CAPABILITIES(CAPABILITY)
#undef CAPABILITY
};

static void name_user(char user[32])
{
	uid_t uid = geteuid();

	if (uid)
		snprintf(user, 32, "user %u", uid);
	else
		snprintf(user, 32, "root");
}

void check_capabilities(const struct host *host, struct finding *finding)
{
	_cleanup_(buf_release) struct buf lacking = BUF_INIT, what = BUF_INIT;
	enum finding_state state = FINDING_limited;
	char user[32];

	name_user(user);
	if (host->own_users) {
		finding_bad(finding, FINDING_missing, "Run profd in the host's user namespace",
		            "%s in a user namespace, whose capabilities do not permit BPF", user);
		return;
	}
	for (int i = 0; i < HOST_CAPABILITY_COUNT; i++) {
		if (host_has(host, (enum host_capability)i))
			continue;
		if (capabilities[i].needed)
			state = FINDING_missing;
		buf_printf(&lacking, "%s%s", lacking.len ? ", " : "", capabilities[i].name);
		buf_printf(&what, "%s%s", what.len ? ", " : "", capabilities[i].without);
	}
	if (!lacking.len) {
		finding_good(finding, "%s, with all six capabilities", user);
		return;
	}
	buf_clear(&lacking);
	buf_add_text(&lacking, "Run profd as root, or with ");
	for (int i = 0, n = 0; i < HOST_CAPABILITY_COUNT; i++)
		if (!host_has(host, (enum host_capability)i))
			buf_printf(&lacking, "%s%s", n++ ? ", " : "", capabilities[i].name);
	finding_bad(finding, state, buf_text(&lacking), "%s: %s", user, buf_text(&what));
}

bool paranoia_forbids(const char *level, uint64_t held)
{
	return strtol(level, NULL, 10) > MAX_KERNEL_PARANOIA && !(held >> CAP_SYS_ADMIN & 1);
}

void check_paranoia(const struct host *host, struct finding *finding)
{
	const struct trial_part *part = &host->trial.process_events;
	char level[16];
	int err = host_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));

	if (err == -ENOENT)
		finding_bad(finding, FINDING_missing,
		            "Run a kernel built with CONFIG_PERF_EVENTS=y", "not in this kernel");
	else if (err)
		finding_bad(finding, FINDING_unknown, "Run profd as root",
		            "cannot tell: /proc/sys/kernel/perf_event_paranoid: %s",
		            strerror(-err));
	/* The mainline kernel treats levels above its 2 like 2. */
	else if (paranoia_forbids(level, host->capabilities) && (part->err || !part->tried))
		finding_bad(finding, FINDING_missing,
		            "Run sysctl kernel.perf_event_paranoid=2, or run profd as root",
		            "kernel.perf_event_paranoid is %s, which requires CAP_SYS_ADMIN",
		            level);
	else
		finding_good(finding, "kernel.perf_event_paranoid is %s", level);
}

void check_pids(const struct host *host, struct finding *finding)
{
	(void)host;
	/* BPF programs use the host's pids, /proc those of the container. */
	if (host_in_own_namespace("pid"))
		finding_bad(finding, FINDING_missing,
		            "Use the host's: --pid=host, or hostPID: true in Kubernetes",
		            "a container's own, in which pids differ from the host's");
	else
		finding_good(finding, "the host's");
}

void check_clocks(const struct host *host, struct finding *finding)
{
	long long seconds = 0;
	long nanoseconds = 0;
	char line[128];

	(void)host;
	if (!host_read_line("/proc/self/timens_offsets", line, sizeof(line)))
		sscanf(line, "monotonic %lld %ld", &seconds, &nanoseconds);
	if (seconds || nanoseconds)
		finding_bad(finding, FINDING_limited, "Run profd in the host's time namespace",
		            "a time namespace is %lld.%09ld s off: profd matches samples with the "
		            "mappings of another time",
		            seconds, nanoseconds);
	else
		finding_good(finding, "the host's");
}
