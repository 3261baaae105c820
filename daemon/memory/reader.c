/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two tables side by side, what was read and what is being read: a process that is not found again
 * is not carried over. /proc lists processes by pid, so both are sorted.
 */
#include "memory/reader.h"

#include "base/bounds.h"
#include "memory/reader_groups.h"
#include "proc/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_TEXT_BYTES = 64 * 1024, /* status of one who is in many groups is the longest */
	YOUNG_MS = 5000, /* for as long a process is moved to the group that it is started in */
	REGROUP_MS = 30000,
	/* A process in which nothing has changed for so many readings is at rest: one reading in
	 * four looks at it, each at another quarter of them. */
	REST_READINGS = 8,
	REST_PERIOD = 4,
};

struct entry {
	struct memory_reading reading;
	struct memory_pages pages;
	uint64_t first_ms, grouped_ms;
	uint32_t group;     /* by its number; MEMORY_NO_GROUP */
	uint32_t unchanged; /* readings in a row */
};

struct entries {
	struct entry *at;
	size_t count, capacity;
};

struct memory_reader {
	struct entries before, now;
	struct memory_reading *readings; /* with room for `now` */
	size_t readings_capacity;
	struct reader_groups groups;
	uint64_t now_ms;
	uint32_t count; /* of readings */
	size_t len;
	char text[MAX_TEXT_BYTES]; /* of the file read last */
};

struct memory_reader *memory_reader_new(void)
{
	struct memory_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader_groups_init(&reader->groups);
	return reader;
}

void memory_reader_free(struct memory_reader *reader)
{
	if (!reader)
		return;
	free(reader->before.at);
	free(reader->now.at);
	free(reader->readings);
	reader_groups_release(&reader->groups);
	free(reader);
}

/* The kernel gives such a file in one piece to who has room for it. */
static int read_whole(const char *path, char text[MAX_TEXT_BYTES], size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, MAX_TEXT_BYTES);

	if (len < 0)
		return -ESRCH;
	*ret_len = (size_t)len;
	return 0;
}

static int read_of(uint32_t pid, const char *name, char text[MAX_TEXT_BYTES], size_t *ret_len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return read_whole(path, text, ret_len);
}

static int read_text(struct memory_reader *reader, uint32_t pid, const char *name)
{
	return read_of(pid, name, reader->text, &reader->len);
}

static int compare_pid(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return (left->reading.pid > right->reading.pid) - (left->reading.pid < right->reading.pid);
}

static const struct entry *find(const struct entries *entries, uint32_t pid)
{
	const struct entry key = {.reading.pid = pid};

	if (!entries->count)
		return NULL;
	return bsearch(&key, entries->at, entries->count, sizeof(key), compare_pid);
}

static struct entry *append(struct entries *entries)
{
	if (entries->count == entries->capacity) {
		size_t capacity = entries->capacity ? entries->capacity * 2 : 256;
		struct entry *at = reallocarray(entries->at, capacity, sizeof(*at));

		if (!at)
			return NULL;
		entries->at = at;
		entries->capacity = capacity;
	}
	return &entries->at[entries->count++];
}

static bool first_look(struct memory_reader *reader, uint32_t pid, struct entry *entry)
{

	*entry = (struct entry){
		.reading.pid = pid, .first_ms = reader->now_ms, .group = MEMORY_NO_GROUP};
	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		entry->reading.figures.values[i] = MEMORY_UNKNOWN;
	return !read_text(reader, pid, "stat") &&
	       !memory_parse_stat(reader->text, reader->len, &entry->reading.owner);
}

/* False when it has no memory any more: it is ending. */
static bool look_again(struct memory_reader *reader, struct entry *entry)
{
	uint32_t pid = entry->reading.pid;
	struct memory_pages pages;

	if (entry->unchanged >= REST_READINGS && (pid + reader->count) % REST_PERIOD)
		return true;
	if (read_text(reader, pid, "statm") ||
	    memory_parse_statm(reader->text, reader->len, &pages))
		return false;
	if (entry->first_ms != reader->now_ms && !memcmp(&pages, &entry->pages, sizeof(pages))) {
		entry->unchanged++;
		return true;
	}
	entry->unchanged = 0;
	entry->pages = pages;
	return !read_text(reader, pid, "status") &&
	       !memory_parse_status(reader->text, reader->len, &entry->reading.figures);
}

static void look_for_group(struct memory_reader *reader, struct entry *entry)
{
	uint64_t now_ms = reader->now_ms;

	if (entry->grouped_ms && now_ms - entry->first_ms > YOUNG_MS &&
	    now_ms - entry->grouped_ms < REGROUP_MS) {
		reader_groups_use(&reader->groups, entry->group);
		return;
	}
	entry->grouped_ms = now_ms;
	entry->group = MEMORY_NO_GROUP;
	if (!read_text(reader, entry->reading.pid, "cgroup"))
		entry->group = reader_groups_find(&reader->groups, reader->text, reader->len);
}

/* Only -ENOMEM and -EFBIG end the scan. */
static int read_process(uint32_t pid, void *ctx)
{
	struct memory_reader *reader = ctx;
	const struct entry *before = find(&reader->before, pid);
	struct entry entry, *kept;

	if (before)
		entry = *before;
	else if (!first_look(reader, pid, &entry))
		return 0;
	if (!entry.reading.owner.kernel) {
		if (!look_again(reader, &entry))
			return 0;
		look_for_group(reader, &entry);
	}
	if (reader->now.count >= MAX_PROCESSES)
		return -EFBIG;
	kept = append(&reader->now);
	if (!kept)
		return -ENOMEM;
	*kept = entry;
	return 0;
}

static bool is_sorted(const struct entries *entries)
{
	for (size_t i = 1; i < entries->count; i++)
		if (entries->at[i - 1].reading.pid >= entries->at[i].reading.pid)
			return false;
	return true;
}

static int read_all(struct memory_reader *reader)
{
	int err;

	reader->now.count = 0;
	reader_groups_begin(&reader->groups);
	err = scan_all(read_process, reader);
	if (err && err != -EFBIG)
		return err;
	if (!is_sorted(&reader->now))
		qsort(reader->now.at, reader->now.count, sizeof(*reader->now.at), compare_pid);
	return reader_groups_end(&reader->groups);
}

/* Without the kernel's threads. */
static int tell(struct memory_reader *reader, struct memory_readings *readings)
{
	if (reader->readings_capacity < reader->now.capacity) {
		struct memory_reading *at =
			reallocarray(reader->readings, reader->now.capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		reader->readings = at;
		reader->readings_capacity = reader->now.capacity;
	}
	*readings = (struct memory_readings){.processes = reader->readings};
	for (size_t i = 0; i < reader->now.count; i++) {
		const struct entry *entry = &reader->now.at[i];
		struct memory_reading *reading = &reader->readings[readings->process_count];

		if (entry->reading.owner.kernel)
			continue;
		*reading = entry->reading;
		reading->group = reader_groups_index(&reader->groups, entry->group);
		readings->process_count++;
	}
	readings->groups = reader_groups_all(&reader->groups, &readings->group_count);
	return 0;
}

int memory_reader_read(struct memory_reader *reader, uint64_t now_ms,
                       struct memory_readings *ret_readings)
{
	struct memory_readings readings;
	struct entries swap;
	int err;

	reader->now_ms = now_ms;
	reader->count++;
	err = read_all(reader);
	if (!err)
		err = tell(reader, &readings);
	swap = reader->before;
	reader->before = reader->now;
	reader->now = swap;
	if (err)
		return err;
	if (!read_whole("/proc/meminfo", reader->text, &reader->len))
		memory_parse_host(reader->text, reader->len, &readings.host);
	*ret_readings = readings;
	return 0;
}

int memory_read_pss(uint32_t pid, uint64_t *ret_bytes)
{
	char text[MAX_TEXT_BYTES];
	size_t len;

	if (read_of(pid, "smaps_rollup", text, &len) || memory_parse_pss(text, len, ret_bytes))
		return -ESRCH;
	return 0;
}
