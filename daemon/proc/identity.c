/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * systemd and container engines encode in the cgroup path of a process the unit, container or pod
 * that it belongs to. They agree on no format, but a container's id is always 64 hexadecimal
 * digits, and a pod's id is its uid. The names are chosen by a user that may make cgroups: root or,
 * below user@UID.service, that user. So they are truncated to fit and are not interpreted any
 * further.
 */
#include "proc/identity.h"

#include "base/buf.h"
#include "object/stat_fields.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	ID_DIGITS = 64,
	SHOWN_DIGITS = 12,
	MAX_CGROUP_BYTES = 256 * 1024, /* a path in each of at most 16 hierarchies */
	MAX_STAT_BYTES = 4096,
};

static size_t length(struct text text)
{
	return (size_t)(text.end - text.at);
}

static bool take_suffix(struct text *word, const char *suffix)
{
	size_t len = strlen(suffix);

	if (length(*word) <= len || memcmp(word->end - len, suffix, len) != 0)
		return false;
	word->end -= len;
	return true;
}

static bool take_prefix(struct text *word, const char *prefix)
{
	size_t len = strlen(prefix);

	if (length(*word) <= len || memcmp(word->at, prefix, len) != 0)
		return false;
	word->at += len;
	return true;
}

static bool is_hex(struct text text, size_t digits)
{
	if (length(text) != digits)
		return false;
	for (const char *at = text.at; at < text.end; at++)
		if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')))
			return false;
	return true;
}

/* In a unit's name, bytes that it cannot contain are escaped as \xNN; '-' is one of them. */
static void put_unescaped(char *out, size_t out_bytes, struct text word)
{
	size_t len = 0;

	while (word.at < word.end && len + 1 < out_bytes) {
		uint64_t value;

		if (length(word) >= 4 && word.at[0] == '\\' && word.at[1] == 'x') {
			struct text digits = {word.at + 2, word.at + 4};

			if (text_hex(&digits, &value) && digits.at == digits.end && value) {
				out[len++] = (char)value;
				word.at += 4;
				continue;
			}
		}
		out[len++] = *word.at++;
	}
	out[len] = '\0';
}

static void find_unit(struct text component, struct identity *identity)
{
	static const char *const suffixes[] = {".service", ".scope", ".slice",
	                                       ".socket",  ".mount", ".swap"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		struct text stem = component;

		if (take_suffix(&stem, suffixes[i]))
			snprintf(identity->unit, sizeof(identity->unit), "%.*s",
			         (int)length(component), component.at);
	}
}

/* Accepts ID, ENGINE-ID.scope, and SLICE:ENGINE:ID. */
static bool find_id(struct text component, struct identity *identity)
{
	struct text id = component, engine = component;

	take_suffix(&id, ".scope");
	if (length(id) > ID_DIGITS) {
		id.at = id.end - ID_DIGITS;
		if (id.at[-1] != '-' && id.at[-1] != ':')
			return false;
		engine.end = id.at - 1;
		/* A monitor runs outside the container that it is named after. */
		if (text_equals(engine, "conmon") || take_suffix(&engine, "-conmon"))
			return false;
	}
	if (!is_hex(id, ID_DIGITS))
		return false;
	snprintf(identity->container, sizeof(identity->container), "%.*s", SHOWN_DIGITS, id.at);
	return true;
}

static void find_container(struct text component, struct text parent, struct identity *identity)
{
	struct text name = component;
	bool named;

	if (find_id(component, identity))
		return;
	named = (take_prefix(&name, "machine-") && take_suffix(&name, ".scope")) ||
	        (take_prefix(&name, "systemd-nspawn@") && take_suffix(&name, ".service")) ||
	        take_prefix(&name, "lxc.payload.") || text_equals(parent, "lxc");
	if (named)
		put_unescaped(identity->container, sizeof(identity->container), name);
}

/* A UUID, in a slice's name with '_' for '-', or the hash that replaces it in a static pod. */
static bool is_uid(struct text uid)
{
	static const unsigned int groups[] = {8, 4, 4, 4, 12};

	if (is_hex(uid, 32))
		return true;
	for (size_t i = 0; i < 5; i++) {
		struct text group = {uid.at, uid.at + groups[i]};

		if (length(uid) < groups[i] || !is_hex(group, groups[i]))
			return false;
		uid.at = group.end;
		if (i < 4 && !text_char(&uid, '-') && !text_char(&uid, '_'))
			return false;
	}
	return uid.at == uid.end;
}

/* Accepts podUID, kubepods-podUID.slice and kubepods-burstable-podUID.slice, each also with a ':'
 * and more text after it. */
static void find_pod(struct text component, struct identity *identity)
{
	const char *colon = memchr(component.at, ':', length(component));
	const char *at;

	if (colon)
		component.end = colon;
	take_suffix(&component, ".slice");
	for (at = component.end; at - component.at >= 3; at--)
		if (memcmp(at - 3, "pod", 3) == 0)
			break;
	if (at - component.at < 3 || (at - component.at > 3 && at[-4] != '-'))
		return;
	component.at = at;
	if (!is_uid(component))
		return;
	snprintf(identity->pod, sizeof(identity->pod), "%.*s", (int)length(component),
	         component.at);
	for (char *c = identity->pod; *c; c++)
		if (*c == '_')
			*c = '-';
}

/* The next component of a path, without its slash. */
static bool next_component(struct text *path, struct text *ret_component)
{
	while (text_char(path, '/'))
		;
	if (path->at == path->end)
		return false;
	ret_component->at = path->at;
	while (path->at < path->end && *path->at != '/')
		path->at++;
	ret_component->end = path->at;
	return true;
}

/* user@UID.service is the user's own systemd: below it the user may make cgroups of any name. */
static bool is_users(struct text component)
{
	uint64_t uid;

	return take_prefix(&component, "user@") && text_decimal(&component, &uid) &&
	       text_equals(component, ".service");
}

/* PREFIX/NAME, truncated to fit. */
static void put_below(char *out, size_t out_bytes, struct text prefix, const char *name)
{
	size_t len = (size_t)snprintf(out, out_bytes, "%.*s", (int)length(prefix), prefix.at);

	if (*name && len < out_bytes)
		snprintf(out + len, out_bytes - len, "/%s", name);
}

static void parse_path(struct text path, struct identity *identity)
{
	struct text component, parent = {path.at, path.at}, user = {0};
	struct identity below = {0}, *into = identity;

	take_suffix(&path, " (deleted)");
	while (next_component(&path, &component)) {
		find_unit(component, into);
		find_container(component, parent, into);
		find_pod(component, into);
		parent = component;
		if (into == identity && is_users(component)) {
			user = component;
			into = &below;
		}
	}
	if (*below.unit)
		put_below(identity->unit, sizeof(identity->unit), user, below.unit);
	if (*below.container)
		put_below(identity->container, sizeof(identity->container), user, below.container);
}

enum hierarchy { SYSTEMDS, UNIFIED, CONTROLLERS, HIERARCHIES };

/* "0::/path" is the unified hierarchy, "1:name=systemd:/path" systemd's own on older hosts, and
 * "3:cpu:/path" that of a controller. */
static bool parse_line(struct text line, enum hierarchy *ret_hierarchy, struct text *ret_path)
{
	uint64_t number;

	if (!text_decimal(&line, &number) || !text_char(&line, ':'))
		return false;
	*ret_hierarchy = CONTROLLERS;
	if (length(line) > 0 && *line.at == ':')
		*ret_hierarchy = UNIFIED;
	else if (take_prefix(&line, "name=systemd"))
		*ret_hierarchy = SYSTEMDS;
	line.at = memchr(line.at, ':', length(line));
	if (!line.at)
		return false;
	line.at++;
	*ret_path = line;
	return true;
}

/* Sets only fields that are still empty: systemd's own hierarchy, which comes first, is the most
 * exact, and the path in a controller's hierarchy may end above the unit. */
static void fill(struct identity *identity, const struct identity *from)
{
	if (!identity->unit[0])
		memcpy(identity->unit, from->unit, sizeof(identity->unit));
	if (!identity->container[0])
		memcpy(identity->container, from->container, sizeof(identity->container));
	if (!identity->pod[0])
		memcpy(identity->pod, from->pod, sizeof(identity->pod));
}

void identity_parse(const char *cgroup_text, size_t len, struct identity *ret_identity)
{
	*ret_identity = (struct identity){.references = 1};
	for (enum hierarchy wanted = 0; wanted < HIERARCHIES; wanted++) {
		struct text rest = text_of(cgroup_text, len), line, path;
		enum hierarchy hierarchy;

		while (text_line(&rest, &line)) {
			struct identity found = {0};

			if (!parse_line(line, &hierarchy, &path) || hierarchy != wanted)
				continue;
			parse_path(path, &found);
			fill(ret_identity, &found);
		}
	}
}

bool identity_equal(const struct identity *a, const struct identity *b)
{
	return !strcmp(a->unit, b->unit) && !strcmp(a->container, b->container) &&
	       !strcmp(a->pod, b->pod);
}

/* Whether the process has an address space, by its size in /proc/PID/stat. The link /proc/PID/exe
 * would tell as well, but the kernel makes who reads it wait while the process executes a program.
 */
static bool has_memory(uint32_t pid)
{
	_cleanup_(buf_release) struct buf stat = BUF_INIT;
	uint64_t bytes;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return !buf_read_file(&stat, path, MAX_STAT_BYTES) &&
	       stat_number(buf_text(&stat), stat.len, STAT_MEMORY, &bytes) && bytes;
}

/* An ending process gives up first its address space, then its cgroup: a legacy hierarchy shows it
 * in the root until its parent has waited for it. Kernel threads have no address space either; they
 * have no identity. */
static bool has_left(uint32_t pid, const struct identity *identity)
{
	return !identity->unit[0] && !identity->container[0] && !identity->pod[0] &&
	       !has_memory(pid);
}

int identity_read(uint32_t pid, struct identity *like, struct identity **ret_identity)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct identity parsed, *identity;
	char path[48];
	int err;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	err = buf_read_file(&text, path, MAX_CGROUP_BYTES);
	if (err)
		return err == -ENOMEM ? err : -ESRCH;
	identity_parse(buf_text(&text), text.len, &parsed);
	if (has_left(pid, &parsed))
		return -ESRCH;
	if (like && identity_equal(like, &parsed)) {
		*ret_identity = identity_ref(like);
		return 0;
	}
	identity = malloc(sizeof(*identity));
	if (!identity)
		return -ENOMEM;
	*identity = parsed;
	*ret_identity = identity;
	return 0;
}

struct identity *identity_ref(struct identity *identity)
{
	if (identity)
		identity->references++;
	return identity;
}

void identity_unref(struct identity *identity)
{
	if (identity && --identity->references == 0)
		free(identity);
}
