/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the texts of /proc/PID/maps, stat and cgroup: a reported line lies inside the input.
 */
#include "proc/identity.h"
#include "object/maps.h"
#include "proc/parent.h"

#include <stdlib.h>
#include <string.h>

struct input {
	const char *begin, *end;
};

static int check(const struct maps_line *line, void *ctx)
{
	const struct input *input = ctx;

	if (line->start >= line->end || line->path < input->begin ||
	    line->path + line->path_len > input->end)
		abort();
	return 0;
}

static void check_executable(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t rest, len;

	if (!text)
		return;
	memcpy(text, data, size);
	len = maps_leave_executable(text, size, &rest);
	if (len > size || rest > len || (rest && memchr(text + len - rest, '\n', rest)))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {(const char *)data, (const char *)data + size};
	struct identity identity;

	maps_parse(input.begin, size, check, &input);
	check_executable(data, size);
	if (parent_parse(input.begin, size) > INT32_MAX)
		abort();
	identity_parse(input.begin, size, &identity);
	if (memchr(identity.unit, '/', sizeof(identity.unit)) ||
	    strlen(identity.pod) >= sizeof(identity.pod))
		abort();
	return 0;
}
