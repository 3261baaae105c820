/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures what naming addresses of one file costs, with the daemon's client of the reader process:
 * asks for COUNT addresses at random places of the file's executable segments, and prints how many
 * were named, the seconds and the memory. names.py asks other tools for the same addresses. DEBUG
 * is FILE's separate debug file if it has one, else "-".
 */
#include "base/clock.h"
#include "names/client.h"
#include "elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINE = 256 };

/* The memory limit of the reader process when --symbol-memory is not given. */
static const uint64_t max_bytes = 96 << 20;

struct totals {
	size_t last; /* index + 1 of the address whose frames came last */
	size_t named, lined, frames;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the address of byte `at` of all executable segments; `at` is below their total size. */
static uint64_t address_at(const struct segment *segments, size_t count, uint64_t at)
{
	for (size_t i = 0; i < count; i++) {
		if (!segments[i].executable)
			continue;
		if (at < segments[i].file_bytes)
			return segments[i].address + at;
		at -= segments[i].file_bytes;
	}
	return 0;
}

static int spread(int fd, uint64_t seed, uint64_t *addresses, size_t count)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	uint64_t size = 0;
	size_t segment_count;
	int err = elf_open_fd(fd, &elf);

	if (err < 0)
		return err;
	const struct segment *segments = elf_segments(elf, &segment_count);

	for (size_t i = 0; i < segment_count; i++)
		size += segments[i].executable ? segments[i].file_bytes : 0;
	if (!size)
		return -ENODATA;
	for (size_t i = 0; i < count; i++)
		addresses[i] = address_at(segments, segment_count, next_random(&seed) % size);
	qsort(addresses, count, sizeof(*addresses), compare_addresses);
	return 0;
}

static int write_addresses(const char *path, const uint64_t *addresses, size_t count)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return -errno;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "0x%" PRIx64 "\n", addresses[i]);
	return fclose(out) == 0 ? 0 : -errno;
}

static int count_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	struct totals *totals = ctx;

	totals->frames++;
	if (index + 1 == totals->last)
		return 0;
	totals->last = index + 1;
	totals->named += frame->function != NULL;
	totals->lined += frame->line != 0;
	return 0;
}

static void print_memory(pid_t pid)
{
	char path[64], line[MAX_LINE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "VmHWM:", 6) || !strncmp(line, "RssAnon:", 8))
			fputs(line, stdout);
	}
	if (file)
		fclose(file);
}

static int ask(struct names_client *client, const struct names_query *query)
{
	struct totals totals = {0};
	uint64_t start = clock_mono_ns();
	int err = names_client_find(client, query, count_frame, &totals);

	printf("seconds: %.3f\n", (double)(clock_mono_ns() - start) / NSEC_PER_SEC);
	printf("addresses: %zu\nnamed: %zu\nlined: %zu\nframes: %zu\n", query->count, totals.named,
	       totals.lined, totals.frames);
	return err;
}

static int measure(char **argv, size_t count)
{
	_cleanup_close_ int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int debug_fd =
		strcmp(argv[3], "-") != 0 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
	_cleanup_free_ uint64_t *addresses = calloc(count, sizeof(*addresses));
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(argv[1], max_bytes);
	int err = fd < 0 ? -errno : 0;

	if (err == 0 && (!addresses || !client))
		err = -ENOMEM;
	if (err == 0) {
		names_client_deadline(client, 600 * NSEC_PER_SEC);
		err = spread(fd, strtoull(argv[5], NULL, 10), addresses, count);
	}
	if (err == 0)
		err = write_addresses(argv[6], addresses, count);
	if (err < 0)
		return err;
	struct names_query query = {
		.file = 1,
		.fds = {[FILE_ITSELF] = fd, [FILE_DEBUG] = debug_fd, [FILE_SUPPLEMENT] = -1},
		.addresses = addresses,
		.count = count,
		.lines = true,
	};

	err = ask(client, &query);
	print_memory(names_client_pid(client));
	if (err < 0)
		return err;
	/* Once more, now that the reader process has read the file. */
	printf("again:\n");
	return ask(client, &query);
}

int main(int argc, char **argv)
{
	size_t count = argc == 7 ? strtoul(argv[4], NULL, 10) : 0;
	int err;

	if (count == 0 || strtoull(argv[5], NULL, 10) == 0) {
		fprintf(stderr, "usage: names_cost PROFD FILE DEBUG|- COUNT SEED ADDRESSES-OUT\n");
		return 64;
	}
	err = measure(argv, count);
	if (err < 0)
		fprintf(stderr, "names_cost: %s: %s\n", argv[2], strerror(-err));
	return err < 0;
}
