/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel, its build options and its settings. If the trial has shown that something works, it
 * works, whatever a file says.
 */
#include "doctor/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_loaded(const struct host *host)
{
	return host->trial.programs.tried && !host->trial.programs.err;
}

void check_kernel(const struct host *host, struct finding *finding)
{
	const struct utsname *name = &host->name;
	unsigned int major = 0, minor = 0;
	const char *fix = NULL;

	if (sscanf(name->release, "%u.%u", &major, &minor) != 2 ||
	    (!is_loaded(host) && (major < 5 || (major == 5 && minor < 17))))
		fix = "Run Linux 5.17 or later";
	else if (strcmp(name->machine, "x86_64") != 0 && strcmp(name->machine, "aarch64") != 0)
		fix = "Run profd on x86-64 or arm64";
	if (fix)
		finding_bad(finding, FINDING_missing, fix, "%s %s %s", name->sysname, name->release,
		            name->machine);
	else
		finding_good(finding, "%s %s %s", name->sysname, name->release, name->machine);
}

void check_btf(const struct host *host, struct finding *finding)
{
	int err = bpf_find_btf();

	(void)host;
	if (!err)
		finding_good(finding, BPF_BTF_FILE);
	else
		finding_bad(finding, FINDING_missing,
		            "Run a kernel built with CONFIG_DEBUG_INFO_BTF=y, with sysfs on /sys",
		            BPF_BTF_FILE ": %s", strerror(-err));
}

void lockdown_chosen(const char *line, char ret_chosen[32])
{
	const char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
	size_t len = end ? (size_t)(end - begin) - 1 : 0;

	if (len >= 32)
		len = 31;
	if (len)
		memcpy(ret_chosen, begin + 1, len);
	ret_chosen[len] = '\0';
}

void check_lockdown(const struct host *host, struct finding *finding)
{
	char line[128], chosen[32] = "";
	int err = host_read_line("/sys/kernel/security/lockdown", line, sizeof(line));

	if (!err)
		lockdown_chosen(line, chosen);
	if (!strcmp(chosen, "confidentiality") && !is_loaded(host))
		finding_bad(finding, FINDING_missing, "Boot with lockdown=integrity or less",
		            "confidentiality, which forbids BPF to read kernel memory");
	else if (chosen[0])
		finding_good(finding, "%s", chosen);
	else if (is_loaded(host))
		finding_good(finding, "does not forbid BPF");
	/* The list of security modules exists wherever securityfs is mounted. */
	else if (!access("/sys/kernel/security/lsm", F_OK))
		finding_good(finding, "not in this kernel");
	else
		finding_bad(finding, FINDING_unknown, "Mount securityfs on /sys/kernel/security",
		            "cannot tell without securityfs");
}

void check_selinux(const struct host *host, struct finding *finding)
{
	char line[8];
	int err = host_read_line("/sys/fs/selinux/enforce", line, sizeof(line));

	if (err == -ENOENT)
		finding_good(finding, "not enabled");
	else if (!err && line[0] == '0')
		finding_good(finding, "permissive");
	else if (is_loaded(host))
		finding_good(finding, "enforcing, and this process may use BPF");
	else
		finding_bad(finding, FINDING_unknown,
		            "Run profd doctor in the daemon's domain, and allow that domain the "
		            "class bpf",
		            "cannot tell whether SELinux forbids BPF");
}

void check_jit(const struct host *host, struct finding *finding)
{
	char line[8];
	int err = host_read_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line));

	if (is_loaded(host) || (!err && line[0] != '0'))
		finding_good(finding, "on");
	else if (!err)
		finding_bad(finding, FINDING_missing, "Run sysctl net.core.bpf_jit_enable=1",
		            "off, but bpf_loop() requires it");
	else
		finding_bad(finding, FINDING_unknown, "Run profd as root",
		            "cannot tell: /proc/sys/net/core/bpf_jit_enable: %s", strerror(-err));
}
