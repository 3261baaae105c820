/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends four messages within the limit, so three may be late.
 */
#include "watchdog.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

enum { MESSAGES = 4 };

static bool is_for_another(const char *pid)
{
	uint64_t wanted;

	return pid &&
	       (text_parse_u64(pid, 1, UINT32_MAX, &wanted) < 0 || wanted != (uint64_t)getpid());
}

void watchdog_init(struct watchdog *watchdog)
{
	const char *limit = getenv("WATCHDOG_USEC");
	uint64_t limit_us;

	*watchdog = (struct watchdog){0};
	if (limit && !is_for_another(getenv("WATCHDOG_PID")) &&
	    text_parse_u64(limit, 1, UINT64_MAX / NSEC_PER_USEC, &limit_us) == 0)
		watchdog->gap_ns = limit_us * NSEC_PER_USEC / MESSAGES;
	/* The variables are for this process, not for processes that it starts. */
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

bool watchdog_progress(struct watchdog *watchdog, uint64_t now_mono_ns)
{
	if (!watchdog->gap_ns || now_mono_ns - watchdog->told_mono_ns < watchdog->gap_ns)
		return false;
	watchdog->told_mono_ns = now_mono_ns;
	return true;
}
