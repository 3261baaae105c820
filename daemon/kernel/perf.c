/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens perf events, explains why one cannot be opened, and reads lists of CPUs.
 */
#include "kernel/perf.h"

#include "base/buf.h"
#include "base/text.h"
#include "bpf/abi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, int pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int perf_open_cpu(struct perf_event_attr *attr, uint32_t cpu)
{
	return open_event(attr, -1, (int)cpu);
}

int perf_open_own(struct perf_event_attr *attr)
{
	return open_event(attr, 0, -1);
}

/* kernel.perf_event_paranoid; 0 also if it is negative, which forbids nothing. */
static uint64_t paranoia(void)
{
	_cleanup_(buf_release) struct buf file = BUF_INIT;
	struct text text;
	uint64_t level;

	if (buf_read_file(&file, "/proc/sys/kernel/perf_event_paranoid", 64))
		return 0;
	text = text_of(buf_text(&file), file.len);
	return text_decimal(&text, &level) ? level : 0;
}

bool perf_wants_admin(void)
{
	return paranoia() > MAX_KERNEL_PARANOIA;
}

void perf_explain(int err, char why[256])
{
	uint64_t level = paranoia();

	if (err == -EACCES && level > MAX_KERNEL_PARANOIA)
		snprintf(why, 256,
		         "cannot open perf events (%s): kernel.perf_event_paranoid is %" PRIu64
		         ", which requires CAP_SYS_ADMIN; set it to %d, or run profd as root",
		         strerror(-err), level, MAX_KERNEL_PARANOIA);
	else
		snprintf(why, 256,
		         "cannot open perf events (%s): run profd as root, or with CAP_PERFMON",
		         strerror(-err));
}

int cpulist_parse(const char *text, size_t len, bool *set, size_t count)
{
	struct text rest = text_of(text, len);

	memset(set, 0, count * sizeof(*set));
	while (rest.at < rest.end && *rest.at != '\n') {
		uint64_t first, last;

		if (!text_decimal(&rest, &first))
			return -EBADMSG;
		last = first;
		if (text_char(&rest, '-') && !text_decimal(&rest, &last))
			return -EBADMSG;
		for (uint64_t cpu = first; cpu <= last && cpu < count; cpu++)
			set[cpu] = true;
		if (!text_char(&rest, ','))
			break;
	}
	return rest.at == rest.end || *rest.at == '\n' ? 0 : -EBADMSG;
}

static int read_cpulist(const char *path, bool *set, size_t count)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	int err = buf_read_file(&text, path, 4096);

	return err ? err : cpulist_parse(buf_text(&text), text.len, set, count);
}

int cpulist_online(bool *set, size_t count)
{
	return read_cpulist("/sys/devices/system/cpu/online", set, count);
}

int cpulist_limit(uint32_t *ret_limit)
{
	bool possible[MAX_CPUS];
	int err = read_cpulist("/sys/devices/system/cpu/possible", possible, MAX_CPUS);

	if (err)
		return err;
	*ret_limit = 0;
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (possible[cpu])
			*ret_limit = cpu + 1;
	return 0;
}
