/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the budget is divided, and the mapping of the maps into our memory.
 */
#include "collect/unwind_maps.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

enum {
	SLOTS = 32768,       /* 256 KiB: a host of 10,000 processes fills a third */
	TABLES = 4096,       /* 128 KiB: executables that run at the same time */
	MAPPINGS_SHARE = 32, /* of the budget for mappings: at 48 MiB, 49,000 of them */
	OLD_VALUE_BYTES = 4 << 20,
	QUIET_PATIENCE = 1000, /* microseconds; programs run for ten */
};

bool unwind_maps_may_be_large(void)
{
	const struct bpf_map_create_opts options = {
		.sz = sizeof(options),
		.map_flags = BPF_F_MMAPABLE,
	};
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "large_value", sizeof(u32),
	                                        OLD_VALUE_BYTES + sizeof(u64), 1, &options);

	return fd != -E2BIG;
}

static size_t page_round(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

int unwind_maps_size(struct bpf *bpf, size_t bytes)
{
	struct profd_bpf *skeleton = bpf->skeleton;
	size_t mapping_bytes = bytes / MAPPINGS_SHARE;
	size_t fixed = (SLOTS + EXEC_TIMES) * sizeof(u64) + TABLES * sizeof(struct unwind_table);
	size_t pool_bytes = (bytes - mapping_bytes - fixed) / sizeof(u64) * sizeof(u64);
	int err;

	if (pool_bytes > OLD_VALUE_BYTES && !unwind_maps_may_be_large()) {
		log_warning("this kernel is older than 6.0: unwind tables get 4 MiB");
		pool_bytes = OLD_VALUE_BYTES;
	}
	err = bpf_map__set_value_size(skeleton->maps.unwind_pool, (u32)pool_bytes);

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
	skeleton->rodata->pool_words = (u32)(pool_bytes / sizeof(u32));
	skeleton->rodata->slot_count = SLOTS;
	return err;
}

static void *map_memory(const struct bpf_map *map)
{
	size_t bytes = page_round((size_t)bpf_map__max_entries(map) * bpf_map__value_size(map));
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* A lane that is outside at any moment after the change will see it from then on: programs announce
 * themselves before they look (lane_enter() in bpf/maps.bpf.h). */
static bool quiet(void *ctx)
{
	struct bpf *bpf = ctx;
	uint64_t patience = clock_mono_ns() + QUIET_PATIENCE * 1000ULL;

	for (u32 at = 0; at < bpf->cpu_limit * LANES; at++)
		while (bpf_busy(bpf, at / LANES, at % LANES) != BUSY_NOT)
			if (clock_mono_ns() > patience)
				return false;
	return true;
}

int unwind_maps_open(struct bpf *bpf, struct unwind_memory *ret_memory)
{
	struct profd_bpf *skeleton = bpf->skeleton;

	*ret_memory = (struct unwind_memory){
		.pool = map_memory(skeleton->maps.unwind_pool),
		.pool_words = skeleton->rodata->pool_words,
		.tables = map_memory(skeleton->maps.unwind_tables),
		.table_count = bpf_map__max_entries(skeleton->maps.unwind_tables),
		.mappings = map_memory(skeleton->maps.unwind_mappings),
		.mapping_count = bpf_map__max_entries(skeleton->maps.unwind_mappings),
		.slots = map_memory(skeleton->maps.unwind_slots),
		.slot_count = bpf_map__max_entries(skeleton->maps.unwind_slots),
		.execs = map_memory(skeleton->maps.unwind_execs),
		.epoch = &skeleton->bss->unwind_epoch,
		.quiet = quiet,
		.ctx = bpf,
	};
	if (!ret_memory->pool || !ret_memory->tables || !ret_memory->mappings ||
	    !ret_memory->slots || !ret_memory->execs)
		return -ENOMEM;
	return 0;
}

static void unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, page_round(bytes));
}

void unwind_maps_close(struct unwind_memory *memory)
{
	unmap(memory->pool, memory->pool_words * sizeof(*memory->pool));
	unmap(memory->tables, memory->table_count * sizeof(*memory->tables));
	unmap(memory->mappings, memory->mapping_count * sizeof(*memory->mappings));
	unmap(memory->slots, memory->slot_count * sizeof(*memory->slots));
	unmap(memory->execs, EXEC_TIMES * sizeof(*memory->execs));
	*memory = (struct unwind_memory){0};
}
