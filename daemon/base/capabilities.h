/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The capabilities that profd uses: the daemon keeps them (privileges.h) and the doctor looks for
 * them. capabilities(7) says what each allows; linux/capability.h has their numbers.
 */
#pragma once

/* CAPABILITY(NAME, name, when, why, without, needed), in the order in which they are reported: when
 * the daemon needs the capability (privileges.c), what for, what the daemon cannot do without it,
 * and whether the daemon cannot run without it. Messages and documentation say that there are
 * six. */
#define CAPABILITIES(CAPABILITY)                                                                   \
	CAPABILITY(BPF, "bpf", ALWAYS, "loading the kernel half, part by part", "no BPF programs", \
	           true)                                                                           \
	CAPABILITY(PERFMON, "perfmon", ALWAYS, "timers of CPUs that come online later, probes",    \
	           "no perf events", true)                                                         \
	CAPABILITY(SYS_PTRACE, "sys_ptrace", ALWAYS, "/proc/PID of other users' processes",        \
	           "no access to other users' processes", false)                                   \
	CAPABILITY(DAC_READ_SEARCH, "dac_read_search", ALWAYS,                                     \
	           "files that only their owner may read",                                         \
	           "no names from files that this user may not read", false)                       \
	CAPABILITY(SYSLOG, "syslog", ALWAYS, "/proc/kallsyms, again when modules are loaded",      \
	           "no names of kernel functions", false)                                          \
	CAPABILITY(CHECKPOINT_RESTORE, "checkpoint_restore", ALWAYS, "/proc/PID/map_files",        \
	           "no names from files that were replaced", false)

/* CAPABILITY(NAME, name, when, why): those that the daemon keeps in addition when it runs as user
 * 0. */
#define ROOT_CAPABILITIES(CAPABILITY)                                                         \
	CAPABILITY(SETUID, "setuid", OF_ROOT, "reader processes change to another user")      \
	CAPABILITY(SETGID, "setgid", OF_ROOT, "reader processes change to another group")     \
	CAPABILITY(SETPCAP, "setpcap", OF_ROOT, "reader processes empty their bounding sets") \
	CAPABILITY(KILL, "kill", OF_ROOT, "killing reader processes of another user")         \
	CAPABILITY(SYS_ADMIN, "sys_admin", ASKED_OF_ROOT,                                     \
	           "kernels that require it for perf events, even with CAP_PERFMON")
