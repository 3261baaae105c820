/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The cgroup path of a process is where systemd and container engines write down whose it is.
 */
#include "proc/identity.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_suffix(struct text word, const char *suffix)
{
	size_t len = strlen(suffix);

	return (size_t)(word.end - word.at) > len && memcmp(word.end - len, suffix, len) == 0;
}

static bool names_a_unit(struct text component)
{
	static const char *const suffixes[] = {".service", ".scope", ".slice"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (has_suffix(component, suffixes[i]))
			return true;
	return false;
}

/* The next component of a path, its slash taken. */
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

void identity_unit(const char *cgroup_text, size_t len, char *unit, size_t unit_bytes)
{
	struct text rest = text_of(cgroup_text, len), line, component;

	unit[0] = '\0';
	while (text_line(&rest, &line)) {
		/* "0::/path" is the unified hierarchy; "1:name=systemd:/path" the same on older
		 * hosts. */
		const char *path = memchr(line.at, '/', (size_t)(line.end - line.at));

		if (!path)
			continue;
		line.at = path;
		while (next_component(&line, &component))
			if (names_a_unit(component))
				snprintf(unit, unit_bytes, "%.*s",
				         (int)(component.end - component.at), component.at);
		if (unit[0])
			return;
	}
}
