/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks what profd can read of the kernel's names and of other processes, by reading one of these.
 * Nothing that is read is kept.
 */
#include "doctor/host.h"

#include "proc/process_memory.h"
#include "memory/control_group.h"
#include "object/reach.h"
#include "symbolize/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PEEK_BYTES = 16 };

void check_kernel_names(const struct host *host, struct finding *finding)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	int err = kallsyms_read(&symtab);
	char restricted[8] = "?";

	host_read_line("/proc/sys/kernel/kptr_restrict", restricted, sizeof(restricted));
	if (!err)
		finding_good(finding, "profd can read /proc/kallsyms");
	else if (err == -EACCES && !host_has(host, HOST_CAP_SYSLOG))
		finding_bad(finding, FINDING_limited, "Run profd as root, or with CAP_SYSLOG",
		            "hidden without CAP_SYSLOG (kernel.kptr_restrict is %s)", restricted);
	else if (err == -EACCES)
		finding_bad(finding, FINDING_limited, "Run sysctl kernel.kptr_restrict=1",
		            "hidden: kernel.kptr_restrict is %s", restricted);
	else
		finding_bad(finding, FINDING_limited,
		            "Run a kernel built with CONFIG_KALLSYMS=y, and do not hide kernel "
		            "files from the service (ProtectKernelTunables=no)",
		            "/proc/kallsyms: %s", strerror(-err));
}

/* 1 if the process has a program and its first mapping is known, 0 if it has none or is gone, or
 * the negative errno of reading its mappings. */
static int read_first_mapping(int pid, uint64_t *ret_start, uint64_t *ret_end)
{
	char path[64], line[256];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	err = host_read_line(path, line, sizeof(line));
	if (err == -ENOENT || err == -ESRCH)
		return 0;
	return err ?: sscanf(line, "%" SCNx64 "-%" SCNx64, ret_start, ret_end) == 2;
}

static bool is_of_another_user(int pid)
{
	struct stat folder;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &folder) && folder.st_uid != geteuid();
}

static void look_at(struct others *others, int pid)
{
	uint64_t start, end;
	int found = read_first_mapping(pid, &start, &end);

	if (!found)
		return;
	others->seen++;
	if (found < 0) {
		others->refused++;
		others->refused_pid = pid;
		others->refused_err = found;
	} else if (!others->pid || is_of_another_user(pid)) {
		others->pid = pid;
		others->start = start;
		others->end = end;
	}
}

void others_find(struct others *ret_others)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	*ret_others = (struct others){0};
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && pid != getpid())
			look_at(ret_others, pid);
	}
	closedir(folder);
}

/* Reports a refusal of something that only the owner of a process, or a process with a capability,
 * may do. */
static void tell_refusal(const struct host *host, enum host_capability capability, const char *name,
                         struct finding *finding, const char *value)
{
	char fix[FINDING_FIX_BYTES] = "Configure the security modules to permit it";

	if (!host_has(host, capability))
		snprintf(fix, sizeof(fix), "Run profd as root, or with %s", name);
	finding_bad(finding, FINDING_limited, fix, "%s", value);
}

void check_maps(const struct host *host, struct finding *finding)
{
	const struct others *others = &host->others;
	char value[128];

	snprintf(value, sizeof(value), "profd can read the maps of %zu of %zu processes",
	         others->seen - others->refused, others->seen);
	if (!others->refused) {
		finding_good(finding, "%s", value);
		return;
	}
	snprintf(value + strlen(value), sizeof(value) - strlen(value),
	         ", but not of process %d: %s", others->refused_pid,
	         strerror(-others->refused_err));
	tell_refusal(host, HOST_CAP_SYS_PTRACE, "CAP_SYS_PTRACE", finding, value);
}

/* Whether there is a process to try on. If not, sets the finding. */
static bool have_other(const struct host *host, struct finding *finding)
{
	if (host->others.pid)
		return true;
	if (host->others.refused)
		finding_bad(finding, FINDING_unknown, "Run profd as root, or with CAP_SYS_PTRACE",
		            "cannot tell without CAP_SYS_PTRACE");
	else
		finding_bad(finding, FINDING_unknown, "Run profd doctor while another process runs",
		            "cannot tell: there is no other process");
	return false;
}

void check_mapped_files(const struct host *host, struct finding *finding)
{
	const struct others *others = &host->others;
	char value[128];

	if (!have_other(host, finding))
		return;
	int fd = reach_mapped((uint32_t)others->pid, others->start, others->end, NULL);
	if (fd >= 0)
		close(fd);
	/* The process has ended, or does not begin with a file: nothing was refused. */
	if (fd >= 0 || fd == -ENOENT || fd == -ESRCH || fd == -ENOEXEC) {
		finding_good(finding, "profd can open them, also replaced and deleted files");
		return;
	}
	snprintf(value, sizeof(value), "profd cannot open replaced and deleted files: %s",
	         strerror(-fd));
	tell_refusal(host, HOST_CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", finding, value);
}

/* The page is not in memory, or the process has ended: the access was permitted. */
static bool is_permitted(int err)
{
	return !err || err == -EFAULT || err == -ESRCH;
}

void check_memory(const struct host *host, struct finding *finding)
{
	const struct others *others = &host->others;
	char peek[PEEK_BYTES], scope[8] = "", value[128];
	int err;

	if (!have_other(host, finding))
		return;
	err = process_memory_read((uint32_t)others->pid, others->start, peek, sizeof(peek));
	host_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (is_permitted(err) && (host_has(host, HOST_CAP_SYS_PTRACE) || !others->refused)) {
		finding_good(finding, "profd can read it, to find interpreters");
	} else if (is_permitted(err)) {
		tell_refusal(host, HOST_CAP_SYS_PTRACE, "CAP_SYS_PTRACE", finding,
		             "profd can find Python in this user's processes only");
	} else if (scope[0] == '3') {
		finding_bad(finding, FINDING_limited,
		            "Boot with kernel.yama.ptrace_scope=2 or less",
		            "profd cannot find Python: kernel.yama.ptrace_scope is 3, which "
		            "forbids it to all processes");
	} else {
		snprintf(value, sizeof(value), "profd cannot find Python: %s", strerror(-err));
		tell_refusal(host, HOST_CAP_SYS_PTRACE, "CAP_SYS_PTRACE", finding, value);
	}
}

void check_groups(const struct host *host, struct finding *finding)
{
	_cleanup_(buf_release) struct buf mounts = BUF_INIT;
	_cleanup_free_ struct control_group_mount *mount = calloc(1, sizeof(*mount));
	int err = buf_read_file(&mounts, "/proc/self/mountinfo", MAX_PROC_FILE_BYTES);

	(void)host;
	if (!err)
		err = mount ? control_group_parse_mounts(buf_text(&mounts), mounts.len, mount)
		            : -ENOMEM;
	if (err)
		finding_bad(finding, FINDING_limited, "Mount cgroup2 on /sys/fs/cgroup",
		            "memory limits are unknown: no control groups are mounted");
	else
		finding_good(finding, "version %u, %s", mount->version, mount->point);
}
