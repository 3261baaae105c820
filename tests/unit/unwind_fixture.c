/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Set up before each test, and torn down after it.
 */
#include "tests/unit/unwind_fixture.h"
#include "tests/unit/open_mapped.h"

#include "base/clock.h"
#include "tests/unit/frame_image.h"
#include "unwind/table.h"
#include "unwind/tables.h"

#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const struct file_key no_file;
struct unwind_fixture fixture;

static bool quiet(void *ctx)
{
	ck_assert_ptr_eq(ctx, &fixture.memory);
	fixture.asked++;
	return fixture.is_quiet;
}

static uint32_t open_chunks(uint32_t first, uint32_t count, uint32_t **ret_words, void *ctx)
{
	ck_assert_ptr_eq(ctx, &fixture.memory);
	ck_assert_uint_le(first + count, fixture.memory.chunk_count);
	if (!fixture.has_memory)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_ptr_null(fixture.chunks[first + i]);
		fixture.chunks[first + i] = calloc(CHUNK_WORDS, sizeof(uint32_t));
		fixture.hidden[first + i] = false;
		ret_words[i] = fixture.chunks[first + i];
	}
	return count;
}

static void hide_chunk(uint32_t number, void *ctx)
{
	ck_assert_ptr_eq(ctx, &fixture.memory);
	ck_assert_ptr_nonnull(fixture.chunks[number]);
	fixture.hidden[number] = true;
}

/* The chunk is hidden, and no walker is running. */
static void close_chunk(uint32_t number, void *ctx)
{
	ck_assert_ptr_eq(ctx, &fixture.memory);
	ck_assert(fixture.hidden[number] && fixture.is_quiet);
	free(fixture.chunks[number]);
	fixture.chunks[number] = NULL;
}

uint32_t *fixture_words(uint32_t base)
{
	ck_assert_uint_ne(base, 0);
	ck_assert_ptr_nonnull(fixture.chunks[base >> CHUNK_BITS]);
	return fixture.chunks[base >> CHUNK_BITS] + (base & (CHUNK_WORDS - 1));
}

size_t fixture_chunks(void)
{
	size_t count = 0;

	for (uint32_t i = 0; i < CHUNKS; i++)
		count += fixture.chunks[i] && !fixture.hidden[i];
	return count;
}

void fixture_drop_chunks(void)
{
	for (uint32_t i = 0; i < CHUNKS; i++) {
		free(fixture.chunks[i]);
		fixture.chunks[i] = NULL;
	}
}

uint32_t fixture_number(const struct unwind_mapping *mapping, uint64_t address)
{
	uint64_t piece = ((address - mapping->bias) >> PIECE_BITS) -
	                 ((mapping->start - mapping->bias) >> PIECE_BITS);

	ck_assert_uint_ne(mapping->table, 0);
	ck_assert(!mapping->pieces || piece <= mapping->pieces);
	return mapping->pieces ? mapping->table + (uint32_t)piece : mapping->table;
}

struct object *fixture_open_file(uint32_t pieces)
{
	char path[] = "/tmp/profd-pieces-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct frame_image image;
	struct stat status;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	for (uint32_t i = 0; i < pieces; i++)
		put_eh_fde(&image.eh, cie, IMAGE_TEXT + (uint64_t)i * PIECE_BYTES, 0x100, NULL, 0);
	frame_image_seal(&image);
	/* The entries lie inside the text; their own segment comes first, so an address there is
	 * found in it. */
	Elf64_Phdr text = image.segments[0];
	text.p_memsz = text.p_filesz = (pieces - 1) * PIECE_BYTES + 0x1000;
	image.segments[0] = image.segments[1];
	image.segments[1] = text;
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &image, sizeof(image)), sizeof(image));
	if (text.p_filesz > sizeof(image))
		ck_assert_int_eq(ftruncate(fd, (off_t)text.p_filesz), 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	const struct file_key key = {.inode = status.st_ino};
	const struct object *object = open_mapped(fixture.store, &key, 0, 0, path);
	unlink(path);
	ck_assert_ptr_nonnull(object);
	return store_get(fixture.store, object->id);
}

void fixture_set_up(void)
{
	ck_assert_int_eq(uv_loop_init(&fixture.loop), 0);
	fixture.store = store_new(256);
	fixture.procs = procs_new(fixture.store);
	fixture.memory = (struct unwind_memory){
		.chunk_count = CHUNKS,
		.open_chunks = open_chunks,
		.hide_chunk = hide_chunk,
		.close_chunk = close_chunk,
		.tables = calloc(TABLES, sizeof(*fixture.memory.tables)),
		.table_count = TABLES,
		.mappings = calloc(MAPPINGS, sizeof(*fixture.memory.mappings)),
		.mapping_count = MAPPINGS,
		.slots = calloc(SLOTS, sizeof(*fixture.memory.slots)),
		.slot_count = SLOTS,
		.execs = calloc(EXEC_TIMES, sizeof(*fixture.memory.execs)),
		.epoch = &fixture.epoch,
		.quiet = quiet,
		.ctx = &fixture.memory,
	};
	fixture.is_quiet = fixture.has_memory = true;
	fixture.asked = 0;
}

void fixture_tear_down(void)
{
	if (fixture.unwinder) {
		unwinder_stop(fixture.unwinder);
		uv_run(&fixture.loop, UV_RUN_DEFAULT);
		unwinder_free(fixture.unwinder);
		fixture.unwinder = NULL;
	}
	ck_assert_int_eq(uv_loop_close(&fixture.loop), 0);
	procs_free(fixture.procs);
	store_free(fixture.store);
	fixture_drop_chunks();
	free(fixture.memory.tables);
	free(fixture.memory.mappings);
	free(fixture.memory.slots);
	free(fixture.memory.execs);
}

void fixture_start(void)
{
	fixture.unwinder =
		unwinder_new(&fixture.loop, fixture.procs, fixture.store, &fixture.memory);
	ck_assert_ptr_nonnull(fixture.unwinder);
}

void fixture_sync_now(void)
{
	unwinder_sync(fixture.unwinder, clock_mono_ns());
}

struct unwinder_stats fixture_stats(void)
{
	struct unwinder_stats result;

	unwinder_get_stats(fixture.unwinder, &result);
	return result;
}

struct tables *fixture_new_tables(void)
{
	struct tables *tables = tables_new(&fixture.loop, fixture.store, &fixture.memory);

	ck_assert_ptr_nonnull(tables);
	return tables;
}

struct unwinder_stats fixture_stats_of(const struct tables *tables)
{
	struct unwinder_stats stats = {0};

	tables_get_stats(tables, &stats);
	return stats;
}

void fixture_look(struct tables *tables, uint32_t epoch)
{
	tables_look(tables, epoch);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
}

void fixture_end_tables(struct tables *tables)
{
	tables_stop(tables);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	tables_free(tables);
}

const struct mapping_set *fixture_own_mappings(void)
{
	const struct image *image = procs_image(fixture.procs, (uint32_t)getpid(), clock_mono_ns());

	ck_assert_ptr_nonnull(image);
	return image->set;
}

uint64_t fixture_slot_of(uint32_t pid)
{
	const uint64_t *bucket =
		&fixture.memory.slots[(pid * SLOTS_PER_BUCKET) & (fixture.memory.slot_count - 1)];

	for (int i = 0; i < SLOTS_PER_BUCKET; i++) {
		if (bucket[i] >> SLOT_PID_SHIFT == pid)
			return bucket[i];
	}
	return 0;
}

uint32_t fixture_first_of(uint64_t slot)
{
	return slot >> SLOT_FIRST_SHIFT & SLOT_FIRST_MAX;
}

const struct unwind_mapping *fixture_find_mapping(uint32_t pid, uint64_t address)
{
	uint64_t slot = fixture_slot_of(pid);

	for (uint32_t i = 0; i < (slot & SLOT_COUNT_MAX); i++) {
		const struct unwind_mapping *mapping =
			&fixture.memory.mappings[fixture_first_of(slot) + i];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

static uint64_t fixture_built(void)
{
	struct unwinder_stats now = fixture_stats();

	return now.tables + now.tables_without + now.tables_failed;
}

void fixture_build_all(void)
{
	uint64_t before = 0;

	/* One call of unwinder_look() builds at most one table that no walk has missed. */
	do {
		fixture_sync_now();
		unwinder_look(fixture.unwinder);
		uv_run(&fixture.loop, UV_RUN_DEFAULT);
	} while (fixture_built() != before && (before = fixture_built()));
}

uint32_t fixture_find_op(uint32_t id, uint64_t own)
{
	const struct unwind_table *shared = &fixture.memory.tables[id];

	ck_assert_uint_ne(shared->base, 0);
	struct table table = {.text = shared->text,
	                      .blocks = shared->blocks,
	                      .words = fixture_words(shared->base)};
	return table_find(&table, own);
}
