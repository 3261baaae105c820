/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Divides the budget, and maps the BPF maps into the daemon's memory.
 */
#include "kernel/unwind_maps.h"

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "bpf/profd.skel.h"
#include "kernel/outer_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SLOTS = 32768, /* 256 KiB: a host of 10,000 processes fills a third */
	/* 512 KiB: executables and pieces of them that run at the same time. Programs that use CUDA
	 * map the most, and each container has its own copies. */
	TABLES = 16384,
	MAPPINGS_SHARE = 32, /* of the budget for mappings: at 48 MiB, 49,000 of them */
	CHUNK_BYTES = CHUNK_WORDS * sizeof(u32),
	QUIET_PATIENCE = 1000, /* microseconds; programs run for ten */
};

struct unwind_chunk {
	int fd; /* 0: there is no such chunk */
	u32 *words;
};

static size_t page_round(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/* The kernel memory of a chunk. The kernel puts its own data about a map into pages before the
 * values. */
static size_t chunk_cost(void)
{
	return CHUNK_BYTES + (size_t)sysconf(_SC_PAGESIZE);
}

int unwind_maps_size(struct bpf *bpf, size_t bytes)
{
	struct profd_bpf *skeleton = bpf->skeleton;
	size_t mapping_bytes = bytes / MAPPINGS_SHARE;
	size_t fixed = (SLOTS + EXEC_TIMES) * sizeof(u64) + TABLES * sizeof(struct unwind_table);
	size_t chunks = (bytes - mapping_bytes - fixed) / chunk_cost();
	int err = bpf_map__set_max_entries(skeleton->maps.unwind_chunks, (u32)chunks);

	if (!err)
		err = bpf_map__set_max_entries(
			skeleton->maps.unwind_mappings,
			(u32)(mapping_bytes / sizeof(struct unwind_mapping)));
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.unwind_tables, TABLES);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.unwind_slots, SLOTS);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.unwind_execs, EXEC_TIMES);
	skeleton->rodata->slot_count = SLOTS;
	return err;
}

static void *map_memory(const struct bpf_map *map)
{
	size_t bytes = page_round((size_t)bpf_map__max_entries(map) * bpf_map__value_size(map));
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Waits until each lane was seen idle. A lane that is idle at any moment after a change sees the
 * change from then on, because programs show that they are busy before they look (lane_enter() in
 * bpf/maps.bpf.h). False: that took too long. */
static bool quiet(void *ctx)
{
	const struct unwind_maps *maps = ctx;
	const struct bpf *bpf = maps->bpf;
	uint64_t patience = clock_mono_ns() + QUIET_PATIENCE * 1000ULL;

	for (u32 at = 0; at < bpf->cpu_limit * LANES; at++)
		while (bpf_busy(bpf, at / LANES, at % LANES) != BUSY_NOT)
			if (clock_mono_ns() > patience)
				return false;
	return true;
}

static int make_chunk(struct unwind_chunk *chunk)
{
	const struct bpf_map_create_opts options = {
		.sz = sizeof(options),
		.map_flags = BPF_F_MMAPABLE,
	};
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", sizeof(u32),
	                                        CHUNK_BYTES, 1, &options);
	void *words;

	if (fd < 0)
		return fd;
	words = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		return -errno;
	*chunk = (struct unwind_chunk){TAKE_FD(fd), words};
	return 0;
}

static void unmake_chunk(struct unwind_chunk *chunk)
{
	munmap(chunk->words, CHUNK_BYTES);
	close(chunk->fd);
	*chunk = (struct unwind_chunk){0};
}

/* Makes as many of `*count` chunks as there is memory for. 0, or why these were not all. */
static int make_chunks(struct unwind_maps *maps, uint32_t first, uint32_t *count)
{
	int err = 0;

	for (uint32_t i = 0; i < *count && !err; i++) {
		err = make_chunk(&maps->chunks[first + i]);
		if (err)
			*count = i;
	}
	return err;
}

static int outer_of(const struct unwind_maps *maps)
{
	return bpf_map__fd(maps->bpf->skeleton->maps.unwind_chunks);
}

static uint32_t open_chunks(uint32_t first, uint32_t count, uint32_t **ret_words, void *ctx)
{
	struct unwind_maps *maps = ctx;
	uint32_t made = count, known = 0, fds[MAX_UNWIND_CHUNKS];
	int refused = 0, err = make_chunks(maps, first, &made);

	for (uint32_t i = 0; i < made; i++) {
		fds[i] = (uint32_t)maps->chunks[first + i].fd;
		ret_words[i] = maps->chunks[first + i].words;
	}
	if (made)
		known = outer_map_put(outer_of(maps), first, fds, made, &refused);
	if (refused)
		err = refused;
	if (err && !maps->said_refused)
		log_warning("cannot get more memory for unwind tables: %s", strerror(-err));
	maps->said_refused |= err != 0;
	for (uint32_t i = known; i < made; i++)
		unmake_chunk(&maps->chunks[first + i]);
	maps->chunk_bytes += known * chunk_cost();
	return known;
}

static void hide_chunk(uint32_t number, void *ctx)
{
	outer_map_remove(outer_of(ctx), number);
}

static void close_chunk(uint32_t number, void *ctx)
{
	struct unwind_maps *maps = ctx;

	unmake_chunk(&maps->chunks[number]);
	maps->chunk_bytes -= chunk_cost();
}

int unwind_maps_open(struct unwind_maps *maps, struct bpf *bpf)
{
	struct profd_bpf *skeleton = bpf->skeleton;

	*maps = (struct unwind_maps){.bpf = bpf};
	maps->memory = (struct unwind_memory){
		.chunk_count = bpf_map__max_entries(skeleton->maps.unwind_chunks),
		.open_chunks = open_chunks,
		.hide_chunk = hide_chunk,
		.close_chunk = close_chunk,
		.tables = map_memory(skeleton->maps.unwind_tables),
		.table_count = bpf_map__max_entries(skeleton->maps.unwind_tables),
		.mappings = map_memory(skeleton->maps.unwind_mappings),
		.mapping_count = bpf_map__max_entries(skeleton->maps.unwind_mappings),
		.slots = map_memory(skeleton->maps.unwind_slots),
		.slot_count = bpf_map__max_entries(skeleton->maps.unwind_slots),
		.execs = map_memory(skeleton->maps.unwind_execs),
		.epoch = &skeleton->bss->unwind_epoch,
		.quiet = quiet,
		.ctx = maps,
	};
	maps->chunks = calloc(maps->memory.chunk_count + 1, sizeof(*maps->chunks));
	if (!maps->chunks || !maps->memory.tables || !maps->memory.mappings ||
	    !maps->memory.slots || !maps->memory.execs)
		return -ENOMEM;
	return 0;
}

static void unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, page_round(bytes));
}

void unwind_maps_close(struct unwind_maps *maps)
{
	const struct unwind_memory *memory = &maps->memory;

	for (uint32_t i = 0; maps->chunks && i < memory->chunk_count; i++)
		if (maps->chunks[i].words)
			close_chunk(i, maps);
	free(maps->chunks);
	unmap(memory->tables, memory->table_count * sizeof(*memory->tables));
	unmap(memory->mappings, memory->mapping_count * sizeof(*memory->mappings));
	unmap(memory->slots, memory->slot_count * sizeof(*memory->slots));
	unmap(memory->execs, EXEC_TIMES * sizeof(*memory->execs));
	*maps = (struct unwind_maps){0};
}
