/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct host - what the checks share: the capabilities of this process, and the results of the
 * trial. Private to this folder; read-only once made.
 */
#pragma once

#include "base/capabilities.h"
#include "collect/trial.h"
#include "doctor/finding.h"
#include "doctor/options.h"

#include <sys/utsname.h>

enum host_capability {
#define CAPABILITY(number, name, when, why, without, needed) HOST_CAP_##number,
	CAPABILITIES(CAPABILITY)
#undef CAPABILITY
		HOST_CAPABILITY_COUNT,
};

/* The other processes that have a program. */
struct others {
	size_t seen, refused;
	int refused_pid, refused_err; /* one of those whose mappings cannot be read */
	/* A process whose mappings can be read, of another user if there is one; 0: none. */
	int pid;
	uint64_t start, end; /* its first mapping */
};

struct host {
	const struct doctor_options *options;
	struct utsname name;
	/* Effective capabilities, one bit each; none if the process has a user namespace of its
	 * own. */
	uint64_t capabilities;
	bool own_users; /* not in the initial user namespace */
	struct others others;
	struct trial trial;
};

void host_find(struct host *host, const struct doctor_options *options);
void host_release(struct host *host);
bool host_has(const struct host *host, enum host_capability capability);
/* Whether `capabilities` has this one by the kernel's rules: CAP_SYS_ADMIN includes those that were
 * split from it. Pure. */
bool capability_in(uint64_t capabilities, enum host_capability capability);

/* Looks at every process once. */
void others_find(struct others *ret_others);

/* Whether this process has a namespace, such as "pid", other than the one that the kernel booted
 * with. Also false if the kernel has no such namespaces. */
bool host_in_own_namespace(const char *name);
/* Reads the first line of a small file, without its newline. 0 or a negative errno. */
int host_read_line(const char *path, char *line, size_t size);

/* A check sets one finding, which has its name already. */
typedef void check_fn(const struct host *host, struct finding *finding);
/* CHECK(function, name, needed), in the order of the output. check_kind() comes between the two
 * lists, once for each kind of profile. */
#define CHECKS_BEFORE_KINDS(CHECK)                             \
	CHECK(check_kernel, "kernel", true)                    \
	CHECK(check_btf, "BTF", true)                          \
	CHECK(check_capabilities, "capabilities", true)        \
	CHECK(check_paranoia, "perf events", true)             \
	CHECK(check_pids, "pid namespace", true)               \
	CHECK(check_clocks, "clocks", false)                   \
	CHECK(check_lockdown, "lockdown", true)                \
	CHECK(check_selinux, "SELinux", false)                 \
	CHECK(check_jit, "BPF JIT", true)                      \
	CHECK(check_programs, "BPF programs", true)            \
	CHECK(check_program_types, "BPF program types", false) \
	CHECK(check_map_types, "BPF map types", false)         \
	CHECK(check_helpers, "BPF helpers", false)             \
	CHECK(check_process_events, "process events", true)
#define CHECKS_AFTER_KINDS(CHECK)                        \
	CHECK(check_exec, "exec", false)                 \
	CHECK(check_kills, "/oom", false)                \
	CHECK(check_probes, "/heap", false)              \
	CHECK(check_kernel_names, "kernel names", false) \
	CHECK(check_maps, "process maps", false)         \
	CHECK(check_mapped_files, "mapped files", false) \
	CHECK(check_memory, "process memory", false)     \
	CHECK(check_groups, "control groups", false)     \
	CHECK(check_open_files, "open files", false)     \
	CHECK(check_debuginfod, "debuginfod", false)     \
	CHECK(check_cuda, "gpu", false)                  \
	CHECK(check_nvml, "NVML", false)

#define CHECK(function, name, needed) check_fn function;
CHECKS_BEFORE_KINDS(CHECK)
CHECKS_AFTER_KINDS(CHECK)
#undef CHECK
/* Checks a kind of profile. */
void check_kind(const struct host *host, int kind, struct finding *finding);
/* Checks an address to listen on. */
void check_address(const char *text, struct finding *finding);

/* Pure: whether kernel.perf_event_paranoid is at a level that a distribution has added to the
 * kernel's, which requires CAP_SYS_ADMIN, and `held` does not have that. A text without a number
 * forbids nothing. */
bool paranoia_forbids(const char *level, uint64_t held);
/* Pure: the selected word of "none [integrity] confidentiality"; "" if none is. */
void lockdown_chosen(const char *line, char ret_chosen[32]);
