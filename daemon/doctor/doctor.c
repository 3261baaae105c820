/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs all checks, one after the other.
 */
#include "doctor/doctor.h"

#include "base/bounds.h"
#include "doctor/host.h"
#include "ingest/source.h"

#include <stdio.h>
#include <sysexits.h>

struct check {
	const char *name;
	bool needed;
	check_fn *fn;
};

#define CHECK(function, name, needed) {name, needed, function},
static const struct check before_kinds[] = {CHECKS_BEFORE_KINDS(CHECK)};
static const struct check after_kinds[] = {CHECKS_AFTER_KINDS(CHECK)};
#undef CHECK

#define KIND(name, samples, lost) "type=" #name,
static const char *const kind_names[KIND_COUNT] = {PROFILE_KINDS(KIND)};
#undef KIND

enum {
	BEFORE = sizeof(before_kinds) / sizeof(before_kinds[0]),
	AFTER = sizeof(after_kinds) / sizeof(after_kinds[0]),
	MAX_FINDINGS = BEFORE + KIND_COUNT + AFTER + MAX_LISTENERS,
};

struct findings {
	struct finding at[MAX_FINDINGS];
	size_t count;
};

static struct finding *add(struct findings *findings, const char *check, bool needed)
{
	struct finding *finding = &findings->at[findings->count++];

	*finding = (struct finding){.check = check, .needed = needed};
	return finding;
}

static void add_checks(struct findings *findings, const struct host *host,
                       const struct check *checks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		checks[i].fn(host, add(findings, checks[i].name, checks[i].needed));
}

static void find_all(struct findings *findings, const struct host *host)
{
	const struct doctor_options *options = host->options;

	add_checks(findings, host, before_kinds, BEFORE);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		check_kind(host, kind, add(findings, kind_names[kind], sources[kind]->is_required));
	add_checks(findings, host, after_kinds, AFTER);
	for (size_t i = 0; i < options->listen_count && i < MAX_LISTENERS; i++)
		check_address(options->listen[i], add(findings, "listen", true));
}

int doctor_run(const struct doctor_options *options)
{
	_cleanup_(host_release) struct host host;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct findings findings = {0};
	int err = 0;

	host_find(&host, options);
	find_all(&findings, &host);
	if (options->json)
		err = findings_json(findings.at, findings.count, &out);
	else
		findings_text(findings.at, findings.count, &out);
	if (err || buf_error(&out) || fputs(buf_text(&out), stdout) < 0 || fflush(stdout))
		return EX_IOERR;
	return findings_status(findings.at, findings.count);
}
