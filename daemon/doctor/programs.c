/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The results of the trial, part by part.
 */
#include "doctor/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const after_programs = "First fix the finding about BPF programs";

static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES;
}

static void tell_unknown(const char *capability, struct finding *finding)
{
	char fix[FINDING_FIX_BYTES];

	snprintf(fix, sizeof(fix), "Run profd as root, or with %s", capability);
	finding_bad(finding, FINDING_unknown, fix, "cannot tell without %s", capability);
}

/* Reports a refusal. The result is unknown if the process lacks the capability: with it, the call
 * may work or not. */
static void tell_refusal(const struct host *host, enum host_capability capability,
                         const char *capability_name, const char *call, int err,
                         struct finding *finding)
{
	char fix[FINDING_FIX_BYTES];

	if (host_has(host, capability)) {
		snprintf(fix, sizeof(fix),
		         "Configure lockdown, security modules and seccomp (the system call "
		         "filter of containers and services) to permit %s",
		         call);
		finding_bad(finding, FINDING_missing, fix, "the kernel refuses %s: %s", call,
		            strerror(-err));
		return;
	}
	tell_unknown(capability_name, finding);
}

void check_programs(const struct host *host, struct finding *finding)
{
	const struct trial_part *part = &host->trial.programs;

	if (!part->err)
		finding_good(finding, "the kernel loads them");
	else if (is_refusal(part->err) && !host_has(host, HOST_CAP_BPF))
		tell_refusal(host, HOST_CAP_BPF, "CAP_BPF", "bpf()", part->err, finding);
	else if (is_refusal(part->err))
		tell_refusal(host, HOST_CAP_PERFMON, "CAP_PERFMON", "bpf()", part->err, finding);
	else
		finding_bad(finding, FINDING_missing,
		            "Fix the other findings; --verbose shows the kernel's messages", "%s",
		            part->why[0] ? part->why : strerror(-part->err));
}

static void check_features(const struct host *host, enum bpf_feature_kind kind,
                           struct finding *finding)
{
	const struct bpf_features *features = &host->trial.features[kind];
	bool is_loaded = !host->trial.programs.err;

	if (features->lacking.len)
		finding_bad(finding, FINDING_missing, "Run Linux 5.17 or later with BPF built in",
		            "no %s", buf_text(&features->lacking));
	else if (!is_loaded && !host_has(host, HOST_CAP_BPF))
		tell_unknown("CAP_BPF", finding);
	else if (!is_loaded && !host_has(host, HOST_CAP_PERFMON))
		tell_unknown("CAP_PERFMON", finding);
	else if (!features->used.len)
		finding_bad(finding, FINDING_unknown, after_programs,
		            "cannot tell while the BPF programs cannot be prepared");
	else
		finding_good(finding, "%s", buf_text(&features->used));
}

void check_program_types(const struct host *host, struct finding *finding)
{
	check_features(host, BPF_FEATURE_PROGRAM_TYPES, finding);
}

void check_map_types(const struct host *host, struct finding *finding)
{
	check_features(host, BPF_FEATURE_MAP_TYPES, finding);
}

void check_helpers(const struct host *host, struct finding *finding)
{
	check_features(host, BPF_FEATURE_HELPERS, finding);
}

static void tell_perf_failure(const struct host *host, const struct trial_part *part,
                              struct finding *finding)
{
	if (is_refusal(part->err))
		tell_refusal(host, HOST_CAP_PERFMON, "CAP_PERFMON", "perf_event_open()", part->err,
		             finding);
	else
		finding_bad(finding, FINDING_missing,
		            "Run a kernel built with CONFIG_PERF_EVENTS=y, and permit as many open "
		            "files as it has CPUs",
		            "%s", part->why[0] ? part->why : strerror(-part->err));
}

void check_process_events(const struct host *host, struct finding *finding)
{
	const struct trial_part *part = &host->trial.process_events;

	if (!part->err && part->tried)
		finding_good(finding, "fork, exec, mmap, exit on %u CPUs", host->trial.cpus_online);
	else
		tell_perf_failure(host, part, finding);
}

static void check_timer(const struct host *host, struct finding *finding)
{
	const struct trial *trial = &host->trial;
	const struct trial_part *part = &trial->sources[KIND_cpu];

	if (part->err || !part->tried)
		tell_perf_failure(host, part, finding);
	else if (!strcmp(trial->event, "cycles"))
		finding_good(finding, "%s: %s on %u CPUs", source_cpu.summary, trial->event,
		             trial->cpus_online);
	else
		finding_bad(finding, FINDING_limited,
		            "If this is a virtual machine, configure its host to provide a PMU",
		            "%s: %s on %u CPUs, without hardware counters: samples of code that "
		            "disables interrupts show the code after it",
		            source_cpu.summary, trial->event, trial->cpus_online);
}

static void check_part(const struct trial_part *part, const char *without, const char *fix,
                       const char *good, struct finding *finding)
{
	if (!part->tried)
		finding_bad(finding, FINDING_unknown, after_programs,
		            "cannot tell while the BPF programs do not load");
	else if (part->err)
		finding_bad(finding, FINDING_limited, fix, "%s: %s", without,
		            part->why[0] ? part->why : strerror(-part->err));
	else
		finding_good(finding, "%s", good);
}

void check_kind(const struct host *host, int kind, struct finding *finding)
{
	if (kind == KIND_cpu)
		check_timer(host, finding);
	else
		check_part(&host->trial.sources[kind], "this kind is off", sources[kind]->fix,
		           sources[kind]->summary, finding);
}

void check_exec(const struct host *host, struct finding *finding)
{
	check_part(&host->trial.exec, "the first stacks after an exec may be wrong",
	           "Run a kernel that has the tracepoint sched_process_exec", "profd can trace it",
	           finding);
}

void check_kills(const struct host *host, struct finding *finding)
{
	check_part(&host->trial.kills, "profiles of killed processes are not kept",
	           "Run a kernel that has the tracepoint mark_victim",
	           "the kernel reports kills for lack of memory", finding);
}

void check_probes(const struct host *host, struct finding *finding)
{
	const struct trial *trial = &host->trial;
	char price[96];

	snprintf(price, sizeof(price), "a hit takes %.1f us, its return %.1f us more",
	         trial->price.emulated_ns / 1000, trial->price.return_ns / 1000);
	if (trial->probes.err || !trial->probes.tried)
		check_part(&trial->probes, "heaps of processes cannot be profiled",
		           "Run a kernel built with CONFIG_UPROBE_EVENTS=y", "", finding);
	else if (!trial->multi_probes)
		finding_bad(finding, FINDING_limited, "Run Linux 6.10 or later",
		            "probes are attached one by one, and take seconds to detach; %s",
		            price);
	else if (!trial->probe_sessions)
		finding_bad(finding, FINDING_limited, "Run Linux 6.13 or later",
		            "each call of an allocator takes two probes; %s", price);
	else
		finding_good(finding, "one probe covers a call and its return; %s", price);
}
