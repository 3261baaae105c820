/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two tables: the result of the last reading, and that of the current one. A process that is not
 * found again is not carried over. Both are sorted by pid, like the listing of /proc and the notes.
 */
#include "memory/reader.h"

#include "base/bounds.h"
#include "memory/reader_groups.h"
#include "memory/reader_notes.h"
#include "proc/owner.h"
#include "proc/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_TEXT_BYTES = 64 * 1024, /* the longest is the status of a user in many groups */
	YOUNG_MS = 5000, /* within this time a process may still be moved to its control group */
	/* The control group of a process is read again after the longer of REGROUP_MS and
	 * REGROUP_RESTS times its rest. */
	REGROUP_MS = 30000,
	REGROUP_RESTS = 4,
	LIST_MS = 30000, /* between two listings of all of /proc */
	/* A process that has not changed is read again after a second, then after twice as long
	 * each time. This interval is its rest. */
	FIRST_REST_MS = 1000,
	LAST_REST_MS = MEMORY_REST_MS - MEMORY_LOOK_MS,
	SPREAD = 8,     /* spreads the readings of processes that came to rest at the same time */
	EARLY_MS = 500, /* a reading may come a little before its time */
	/* When less of the host's memory is available, processes at rest are read more often,
	 * because the kernel reclaims their memory. */
	PRESSED_PERCENT = 25,
};

struct entry {
	struct memory_reading reading;
	struct memory_pages pages;
	uint64_t first_ms, grouped_ms;
	uint64_t due_ms, rest_ms;
	uint32_t group; /* number of a reader_group, or MEMORY_NO_GROUP */
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
	struct reader_notes notes;
	bool growth_noted;
	struct memory_host host;
	uint64_t now_ms, host_ms, list_ms;
	size_t len;
	char text[MAX_TEXT_BYTES]; /* of the file that was read last */
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

/* One read() is enough: the kernel returns such a file in one piece when the buffer is large
 * enough. */
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

void memory_reader_note(struct memory_reader *reader, uint32_t pid, bool ended)
{
	reader_notes_add(&reader->notes, pid, ended);
}

void memory_reader_note_all(struct memory_reader *reader)
{
	reader->notes.all = true;
}

void memory_reader_growth_noted(struct memory_reader *reader, bool noted)
{
	reader->growth_noted = noted;
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
		.reading = {.pid = pid, .user = OWNER_UNKNOWN},
		.first_ms = reader->now_ms,
		.group = MEMORY_NO_GROUP,
	};
	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		entry->reading.figures.values[i] = MEMORY_UNKNOWN;
	return !read_text(reader, pid, "stat") &&
	       !memory_parse_stat(reader->text, reader->len, &entry->reading.owner);
}

static bool is_pressed(const struct memory_reader *reader)
{
	const struct memory_host *host = &reader->host;

	return host->available_bytes < host->total_bytes / 100 * PRESSED_PERCENT;
}

static void rest(const struct memory_reader *reader, struct entry *entry, bool changed)
{
	bool may_rest = reader->growth_noted && !is_pressed(reader);
	uint64_t longest = may_rest ? LAST_REST_MS : MEMORY_LOOK_MS;
	bool young = reader->now_ms - entry->first_ms <= YOUNG_MS;

	entry->rest_ms = changed || young ? FIRST_REST_MS : 2 * entry->rest_ms;
	if (entry->rest_ms > longest)
		entry->rest_ms = longest;
	entry->due_ms = reader->now_ms + entry->rest_ms - EARLY_MS;
	if (entry->rest_ms > MEMORY_LOOK_MS)
		entry->due_ms -= entry->rest_ms / 2 * (entry->reading.pid % SPREAD) / SPREAD;
}

static bool read_status(struct memory_reader *reader, struct memory_reading *reading)
{
	if (read_text(reader, reading->pid, "status") ||
	    memory_parse_status(reader->text, reader->len, &reading->figures))
		return false;
	reading->user = owner_parse(reader->text, reader->len);
	return true;
}

/* False when the process has no address space any more: it is ending. */
static bool look_again(struct memory_reader *reader, struct entry *entry)
{
	uint32_t pid = entry->reading.pid;
	struct memory_pages pages;
	bool changed;

	if (read_text(reader, pid, "statm") ||
	    memory_parse_statm(reader->text, reader->len, &pages))
		return false;
	changed = entry->first_ms == reader->now_ms || pages.resident != entry->pages.resident ||
	          pages.shared != entry->pages.shared;
	entry->pages = pages;
	entry->reading.read_ms = reader->now_ms;
	rest(reader, entry, changed);
	return !changed || read_status(reader, &entry->reading);
}

static bool knows_group(const struct memory_reader *reader, const struct entry *entry)
{
	uint64_t known_ms = reader->now_ms - entry->grouped_ms;

	return entry->grouped_ms && reader->now_ms - entry->first_ms > YOUNG_MS &&
	       (known_ms < REGROUP_MS || known_ms < REGROUP_RESTS * entry->rest_ms);
}

static void look_for_group(struct memory_reader *reader, struct entry *entry)
{
	if (knows_group(reader, entry))
		return;
	entry->grouped_ms = reader->now_ms;
	entry->group = MEMORY_NO_GROUP;
	if (!read_text(reader, entry->reading.pid, "cgroup"))
		entry->group = reader_groups_find(&reader->groups, entry->reading.user,
		                                  reader->text, reader->len);
}

/* False when the process must not be carried over. */
static bool look(struct memory_reader *reader, struct entry *entry, bool noted)
{
	if (entry->reading.owner.kernel)
		return true;
	if (noted || reader->notes.all || reader->now_ms >= entry->due_ms) {
		if (!look_again(reader, entry))
			return false;
		look_for_group(reader, entry);
	}
	reader_groups_use(&reader->groups, entry->group, entry->reading.read_ms == reader->now_ms);
	return true;
}

/* Returns only -ENOMEM and -EFBIG, which end the reading. */
static int read_process(struct memory_reader *reader, uint32_t pid, const struct entry *before,
                        bool noted)
{
	struct entry entry, *kept;

	/* Kernel threads are not read again, so a note may mean that the pid was reused. */
	if (before && !(noted && before->reading.owner.kernel))
		entry = *before;
	else if (!first_look(reader, pid, &entry))
		return 0;
	if (!look(reader, &entry, noted))
		return 0;
	if (reader->now.count >= MAX_PROCESSES)
		return -EFBIG;
	kept = append(&reader->now);
	if (!kept)
		return -ENOMEM;
	*kept = entry;
	return 0;
}

static int read_listed(uint32_t pid, void *ctx)
{
	struct memory_reader *reader = ctx;

	return read_process(reader, pid, find(&reader->before, pid),
	                    reader_notes_has(&reader->notes, pid));
}

/* Reads the processes of the last reading and those that are noted, merged by pid. */
static int read_known(struct memory_reader *reader)
{
	const struct entry *entry = reader->before.at, *last = entry + reader->before.count;
	const struct reader_note *note = reader->notes.at, *last_note = note + reader->notes.count;
	int err = 0;

	while (!err && (entry < last || note < last_note)) {
		bool has_entry =
			entry < last && (note == last_note || entry->reading.pid <= note->pid);
		bool has_note =
			note < last_note && (entry == last || note->pid <= entry->reading.pid);

		/* Most ended processes were never read; they are skipped. */
		if (has_entry || !note->ended)
			err = read_process(reader, has_entry ? entry->reading.pid : note->pid,
			                   has_entry ? entry : NULL, has_note);
		entry += has_entry;
		note += has_note;
	}
	return err;
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
	bool list = !reader->list_ms || reader->notes.all ||
	            reader->now_ms - reader->list_ms >= LIST_MS;
	int err;

	reader->now.count = 0;
	reader_notes_sort(&reader->notes);
	reader_groups_begin(&reader->groups, reader->now_ms);
	err = list ? scan_all(read_listed, reader) : read_known(reader);
	if (err && err != -EFBIG)
		return err;
	if (list)
		reader->list_ms = reader->now_ms;
	reader_notes_clear(&reader->notes);
	if (!is_sorted(&reader->now))
		qsort(reader->now.at, reader->now.count, sizeof(*reader->now.at), compare_pid);
	return reader_groups_end(&reader->groups);
}

/* While enough memory is available, the file is read less often. */
static void read_host(struct memory_reader *reader)
{
	bool known = reader->host.total_bytes && !is_pressed(reader) &&
	             reader->now_ms - reader->host_ms < MEMORY_LOOK_MS;

	if (known || read_whole("/proc/meminfo", reader->text, &reader->len))
		return;
	reader->host_ms = reader->now_ms;
	memory_parse_host(reader->text, reader->len, &reader->host);
}

/* Fills the readings, without kernel threads. */
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
	readings->groups_refused = reader->groups.refused;
	return 0;
}

int memory_reader_read(struct memory_reader *reader, uint64_t now_ms,
                       struct memory_readings *ret_readings)
{
	struct memory_readings readings;
	struct entries swap;
	int err;

	reader->now_ms = now_ms;
	read_host(reader);
	err = read_all(reader);
	if (!err)
		err = tell(reader, &readings);
	swap = reader->before;
	reader->before = reader->now;
	reader->now = swap;
	if (err)
		return err;
	readings.host = reader->host;
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
