/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the process's mappings again whenever they have changed. Builds the tables of each file
 * once.
 */
#include "tests/bpf/live.h"

#include "base/buf.h"
#include "proc/scan.h"
#include "tests/bpf/world.h"
#include "proc/bias.h"
#include "unwind/pieces.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { POOL_WORDS = 64 << 20 /* whole chunks */, MAX_TABLES = 4096 };

struct live {
	pid_t pid;
	struct store *store;
	struct world *world;
	struct image image;
	struct libdw_walk *libdw;
	struct buf maps; /* the text that image was read from */
	struct {
		u32 object, table;
	} tables[MAX_TABLES];
	size_t table_count;
};

struct live *live_new(pid_t pid)
{
	_cleanup_(live_freep) struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->pid = pid;
	live->store = store_new(MAX_OBJECTS);
	live->world = world_new(POOL_WORDS);
	live->image.set = mapping_set_new(NULL);
	if (!live->store || !live->world || !live->image.set)
		return NULL;
	return TAKE_PTR(live);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	libdw_walk_free(live->libdw);
	mapping_set_unref(live->image.set);
	world_free(live->world);
	store_free(live->store);
	buf_release(&live->maps);
	free(live);
}

static u32 add_piece(struct live *live, const struct object *object, struct range part)
{
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(followed_end) struct followed followed = {0};
	int err = table_build_part(object->elf, &followed, part, world_room(live->world), &table);

	if (err && err != -ENODATA)
		fprintf(stderr, "oracle: no table for %s: %s\n", object->path, strerror(-err));
	return err ? world_add_none(live->world) : world_add_table(live->world, table);
}

/* The number of an object's first table; 0 when it has none. */
static u32 table_of(struct live *live, const struct object *object)
{
	const struct pieces pieces = pieces_of(object->elf);
	u32 number = 0;

	for (size_t i = 0; i < live->table_count; i++)
		if (live->tables[i].object == object->id)
			return live->tables[i].table;
	if (live->table_count == MAX_TABLES)
		return 0;
	for (u32 i = 0; i < pieces.count; i++) {
		u32 one = add_piece(live, object, piece_range(&pieces, i));

		number = i ? number : one;
	}
	live->tables[live->table_count].object = object->id;
	live->tables[live->table_count++].table = number;
	return number;
}

static struct unwind_mapping describe(struct live *live, const struct proc_mapping *mapping)
{
	_cleanup_(object_unrefp) struct object *object = store_get(live->store, mapping->object);
	struct unwind_mapping described = {.start = mapping->start, .end = mapping->end};

	if (object && bias_of_mapping(object, mapping, &described.bias))
		described.table = table_of(live, object);
	if (described.table) {
		const struct pieces pieces = pieces_of(object->elf);

		pieces_map(&pieces, &described);
	}
	return described;
}

static int describe_all(struct live *live)
{
	size_t count = mapping_set_count(live->image.set);
	_cleanup_free_ struct unwind_mapping *mappings = calloc(count + 1, sizeof(*mappings));

	if (!mappings)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		mappings[i] = describe(live, mapping_set_at(live->image.set, i));
	return world_set_mappings(live->world, (u32)live->pid, mappings, count);
}

static bool is_as_before(const struct live *live, const struct buf *maps)
{
	return live->libdw && maps->len == live->maps.len &&
	       memcmp(maps->data, live->maps.data, maps->len) == 0;
}

static int refresh(struct live *live)
{
	_cleanup_(scan_text_release) struct scan_text text = {0};
	const struct finder finder = {.store = live->store};
	struct buf before = live->maps;
	int err = scan_read((uint32_t)live->pid, &text);

	if (err || is_as_before(live, &text.maps))
		return err;
	libdw_walk_free(live->libdw);
	live->libdw = NULL;
	err = scan_apply(&finder, (uint32_t)live->pid, &text, &live->image);
	if (!err)
		err = describe_all(live);
	if (err)
		return err;
	live->libdw = libdw_walk_new(live->pid);
	live->maps = text.maps;
	text.maps = before;
	return live->libdw ? 0 : -ESRCH;
}

static int read_live(u64 address, void *into, size_t len, void *ctx)
{
	const struct live *live = ctx;

	return target_read(live->pid, address, into, len);
}

int live_walk(struct live *live, const struct target *target, struct walker_result *ret_ours,
              struct libdw_stack *ret_libdw)
{
	struct walker_input input = {
		.maps = &live->world->maps,
		.pid = (u32)live->pid,
		.read = read_live,
		.ctx = live,
	};
	int err = refresh(live);

	if (err)
		return err;
	memcpy(input.registers, target->registers, sizeof(input.registers));
#if defined(__x86_64__)
	input.pc = target->registers[X86_REG_PC];
	walker_x86(&input, ret_ours);
#else
	input.pc = target->registers[ARM64_REG_PC];
	walker_arm64(&input, ret_ours);
#endif
	libdw_walk_thread(live->libdw, target->tid, ret_libdw);
	return 0;
}

struct spot live_spot(struct live *live, u64 address)
{
	const struct proc_mapping *mapping = mapping_set_find(live->image.set, address);
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct spot spot = {"", live->libdw ? libdw_walk_name(live->libdw, address) : "", address};
	const char *slash;

	if (!mapping)
		return spot;
	slash = strrchr(mapping->path, '/');
	spot.file = slash ? slash + 1 : mapping->path;
	object = store_get(live->store, mapping->object);
	if (object)
		object_address(object, address - mapping->start + mapping->offset, &spot.own);
	return spot;
}
