/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the kernel's texts about memory, and as a series of figures: paths never lead out of
 * their mount, and a series returns the figures that were added.
 */
#include "memory/control_group.h"
#include "memory/figures.h"
#include "memory/growth.h"
#include "memory/series.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_texts(const char *bytes, size_t size)
{
	struct memory_pages pages;
	struct memory_figures figures;
	struct memory_owner owner;
	struct memory_host host;
	uint64_t value;
	uint32_t pid;

	memory_parse_statm(bytes, size, &pages);
	if (!memory_parse_status(bytes, size, &figures) && memory_held(&figures) % 1024)
		abort();
	if (!memory_parse_stat(bytes, size, &owner) && strlen(owner.comm) >= sizeof(owner.comm))
		abort();
	memory_parse_host(bytes, size, &host);
	memory_parse_pss(bytes, size, &value);
	if (!memory_parse_tgid(bytes, size, &pid) && pid > INT32_MAX)
		abort();
}

static void read_groups(const char *bytes, size_t size)
{
	struct control_group_mount mount = {.version = 1, .root = "/a"};
	char path[MAX_CONTROL_GROUP_BYTES];
	uint64_t limit;

	for (mount.version = 1; mount.version <= 2; mount.version++)
		if (!control_group_parse_path(bytes, size, &mount, path) &&
		    (path[0] != '/' || strstr(path, "/../")))
			abort();
	if (!control_group_parse_mounts(bytes, size, &mount) &&
	    (mount.version < 1 || mount.version > 2 || strlen(mount.point) >= MAX_PATH_BYTES))
		abort();
	control_group_parse_limit(bytes, size, &limit);
	control_group_parse_file(bytes, size);
}

/* Ten bytes for each point. */
static void keep_series(const uint8_t *data, size_t size)
{
	struct series series = {0};
	struct series_point point = {0}, got;
	struct growth growth = {0};
	struct floors floors;
	struct series_cursor cursor;
	uint32_t count = 0;

	floors_begin(&floors, 0, 0, 0);
	for (; size >= 10; data += 10, size -= 10) {
		memcpy(&point.figures.values[data[0] % MEMORY_FIGURE_COUNT], data + 1, 8);
		point.ms += (uint64_t)data[9] * 100;
		if (series_add(&series, &point))
			break;
		floors_add(&floors, point.ms, point.figures.values[0], data[0] & 0x40);
		if (data[0] & 0x80)
			series_expire(&series, point.ms - (point.ms > 5000 ? 5000 : point.ms));
	}
	cursor = series_begin(&series);
	while (series_next(&cursor, &got))
		count++;
	if (count != series.count || (count && memcmp(&got, &series.last, sizeof(got)) != 0))
		abort();
	growth_judge(&floors, point.figures.values[0], &growth);
	if (growth.leaking && growth.since_ms > point.ms)
		abort();
	series_release(&series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_texts((const char *)data, size);
	read_groups((const char *)data, size);
	keep_series(data, size);
	return 0;
}
