/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwinder over ordinary memory in place of the shared one: what the walker would find there,
 * when memory is used again, and what happens when there is not enough of it.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "unwind/op.h"
#include "unwind/table.h"
#include "unwind/tables.h"
#include "unwind/unwinder.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum {
	POOL_WORDS = 1 << 23,
	TABLES = 256,
	MAPPINGS = 4096,
	SLOTS = 1024,
	PID = 4100000, /* nobody has it, or those after it */
	STORM = 100000,
};

static const struct file_key no_file;
static uv_loop_t loop;
static struct store *store;
static struct procs *procs;
static struct unwind_memory memory;
static struct unwinder *unwinder;
static uint32_t epoch;
static bool is_quiet;
static int asked;

static bool quiet(void *ctx)
{
	ck_assert_ptr_eq(ctx, &memory);
	asked++;
	return is_quiet;
}

static void set_up(void)
{
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	store = store_new(256);
	procs = procs_new(store);
	memory = (struct unwind_memory){
		.pool = calloc(POOL_WORDS, sizeof(*memory.pool)),
		.pool_words = POOL_WORDS,
		.tables = calloc(TABLES, sizeof(*memory.tables)),
		.table_count = TABLES,
		.mappings = calloc(MAPPINGS, sizeof(*memory.mappings)),
		.mapping_count = MAPPINGS,
		.slots = calloc(SLOTS, sizeof(*memory.slots)),
		.slot_count = SLOTS,
		.execs = calloc(EXEC_TIMES, sizeof(*memory.execs)),
		.epoch = &epoch,
		.quiet = quiet,
		.ctx = &memory,
	};
	is_quiet = true;
	asked = 0;
}

static void tear_down(void)
{
	if (unwinder) {
		unwinder_stop(unwinder);
		uv_run(&loop, UV_RUN_DEFAULT);
		unwinder_free(unwinder);
		unwinder = NULL;
	}
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	procs_free(procs);
	store_free(store);
	free(memory.pool);
	free(memory.tables);
	free(memory.mappings);
	free(memory.slots);
	free(memory.execs);
}

static void start(void)
{
	unwinder = unwinder_new(&loop, procs, store, &memory);
	ck_assert_ptr_nonnull(unwinder);
}

static void sync_now(void)
{
	unwinder_sync(unwinder, clock_mono_ns());
}

static struct unwinder_stats stats(void)
{
	struct unwinder_stats result;

	unwinder_get_stats(unwinder, &result);
	return result;
}

static const struct mapping_set *own_mappings(void)
{
	const struct image *image = procs_image(procs, (uint32_t)getpid(), clock_mono_ns());

	ck_assert_ptr_nonnull(image);
	return image->set;
}

static uint64_t slot_of(uint32_t pid)
{
	const uint64_t *bucket = &memory.slots[(pid * SLOTS_PER_BUCKET) & (memory.slot_count - 1)];

	for (int i = 0; i < SLOTS_PER_BUCKET; i++) {
		if (bucket[i] >> SLOT_PID_SHIFT == pid)
			return bucket[i];
	}
	return 0;
}

static uint32_t first_of(uint64_t slot)
{
	return slot >> SLOT_FIRST_SHIFT & SLOT_FIRST_MAX;
}

static const struct unwind_mapping *find_mapping(uint32_t pid, uint64_t address)
{
	uint64_t slot = slot_of(pid);

	for (uint32_t i = 0; i < (slot & SLOT_COUNT_MAX); i++) {
		const struct unwind_mapping *mapping = &memory.mappings[first_of(slot) + i];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

static void build_all(void)
{
	sync_now();
	uv_run(&loop, UV_RUN_DEFAULT);
}

/* The walk's look-up of one address, in the shared memory. */
static uint32_t look_up(uint32_t pid, uint64_t address)
{
	const struct unwind_mapping *mapping = find_mapping(pid, address);

	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_ne(mapping->table, 0);
	const struct unwind_table *shared = &memory.tables[mapping->table];
	ck_assert_uint_ne(shared->base, 0);
	struct table table = {.text = shared->text,
	                      .blocks = shared->blocks,
	                      .words = &memory.pool[shared->base]};
	return table_find(&table, address - mapping->bias);
}

START_TEST(this_process_can_be_walked)
{
	own_mappings();
	start();
	build_all();
	/* A function's first byte, in the program and in a library. */
	uint32_t op = look_up((uint32_t)getpid(), (uint64_t)(uintptr_t)table_find);
	if (op >> OP_BASE_SHIFT != OP_NAMED)
		ck_assert_uint_eq(op >> OP_BASE_SHIFT, OP_SP);
	ck_assert_uint_eq(look_up((uint32_t)getpid(), (uint64_t)(uintptr_t)uv_run), op);

	struct unwinder_stats now = stats();
	ck_assert_uint_gt(now.tables, 3);
	ck_assert_uint_eq(now.tables_pending, 0);
	ck_assert_uint_eq(now.tables_built, now.tables);
	ck_assert_uint_eq(now.tables_failed, 0);
	ck_assert_uint_eq(now.processes, 1);
	ck_assert_uint_gt(now.rows, 10000);
	ck_assert_uint_gt(now.table_bytes, 4 * now.rows);
	ck_assert_uint_lt(now.table_bytes, now.table_bytes_max);
	ck_assert_uint_gt(now.build_seconds, 0);
	ck_assert_uint_eq(now.processes_refused, 0);
	ck_assert_int_eq(asked, 0); /* nothing was replaced */
}
END_TEST

START_TEST(stays_in_step)
{
	procs_exec(procs, PID, "one", 1);
	start();
	sync_now();
	ck_assert_uint_eq(slot_of(PID), 0); /* nothing mapped */
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	procs_mmap(procs, PID, 0x5000, 0x6000, 0, &no_file, "[jit]");
	ck_assert_uint_eq(slot_of(PID), 0);
	sync_now();
	ck_assert_uint_eq(slot_of(PID) & SLOT_COUNT_MAX, 2);
	ck_assert_uint_eq(find_mapping(PID, 0x5fff)->table, 0);
	ck_assert_ptr_null(find_mapping(PID, 0x4000));

	/* A child has the same run, until it changes. */
	procs_fork(procs, PID, PID + 1, 2);
	sync_now();
	ck_assert_uint_eq(first_of(slot_of(PID + 1)), first_of(slot_of(PID)));
	ck_assert_uint_eq(stats().mappings, 2);
	procs_mmap(procs, PID + 1, 0x8000, 0x9000, 0, &no_file, "");
	sync_now();
	ck_assert_uint_ne(first_of(slot_of(PID + 1)), first_of(slot_of(PID)));
	ck_assert_ptr_nonnull(find_mapping(PID + 1, 0x8000));
	ck_assert_ptr_null(find_mapping(PID, 0x8000));
	ck_assert_uint_eq(stats().processes, 2);

	procs_exit(procs, PID, PID, 3);
	sync_now();
	ck_assert_uint_eq(slot_of(PID), 0);
	procs_exec(procs, PID + 1, "two", 4);
	sync_now();
	ck_assert_uint_eq(slot_of(PID + 1), 0);
	ck_assert_uint_eq(stats().processes, 0);
	ck_assert_uint_eq(stats().mappings, 0);
}
END_TEST

START_TEST(walkers_keep_what_they_read)
{
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	procs_exec(procs, PID, "one", 1);
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	start();
	sync_now();
	uint32_t first = first_of(slot_of(PID));

	is_quiet = false;
	for (uint64_t i = 1; i < 20; i++) {
		procs_mmap(procs, PID, 0x1000 + 0x10000 * i, 0x3000 + 0x10000 * i, 0, &no_file, "");
		sync_now();
		ck_assert_uint_ne(first_of(slot_of(PID)), first);
		ck_assert_uint_eq(slot_of(PID) & SLOT_COUNT_MAX, i + 1);
		ck_assert_uint_eq(memory.mappings[first].start, 0x1000);
		ck_assert_int_eq(asked, (int)i);
	}
	ck_assert_uint_eq(stats().mappings, 20 * 21 / 2);
	is_quiet = true;
	sync_now();
	ck_assert_uint_eq(stats().mappings, 20);
	sync_now();
	ck_assert_int_eq(asked, 20); /* nothing to ask for any more */
	procs_fork(procs, PID, PID + 1, 2);
	procs_mmap(procs, PID + 1, 0x1000, 0x2000, 0, &no_file, "");
	sync_now();
	ck_assert_uint_eq(first_of(slot_of(PID + 1)), first); /* given out again */
}
END_TEST

/* A walker on another thread: whatever run it finds must stay whole for as long as it is busy. */
struct walker {
	uv_thread_t thread;
	int busy, stop;
	unsigned long runs, torn;
};

static void walk(void *arg)
{
	struct walker *walker = arg;
	uint64_t *slot = &memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)];

	while (!__atomic_load_n(&walker->stop, __ATOMIC_RELAXED)) {
		__atomic_exchange_n(&walker->busy, 1, __ATOMIC_SEQ_CST);
		uint64_t value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		volatile struct unwind_mapping *run = &memory.mappings[first_of(value)];
		/* Slowly, so that the other one gets on meanwhile. */
		for (uint32_t i = 0; i < 1000 * (value & SLOT_COUNT_MAX); i++) {
			uint32_t at = i % (value & SLOT_COUNT_MAX);
			walker->torn += run[at].end - run[at].start != run[0].end - run[0].start;
		}
		__atomic_fetch_add(&walker->runs, value != 0, __ATOMIC_RELAXED);
		__atomic_store_n(&walker->busy, 0, __ATOMIC_RELEASE);
	}
}

static bool walker_is_out(void *ctx)
{
	struct walker *walker = ctx;

	for (int tries = 0; tries < 100; tries++) {
		if (!__atomic_load_n(&walker->busy, __ATOMIC_SEQ_CST))
			return true;
		sched_yield();
	}
	return false;
}

START_TEST(a_walker_meanwhile)
{
	struct walker walker = {0};

	memory.mapping_count = 64;
	memory.quiet = walker_is_out;
	memory.ctx = &walker;
	start();
	ck_assert_int_eq(uv_thread_create(&walker.thread, walk, &walker), 0);
	uint64_t begin = clock_mono_ns();
	for (uint64_t i = 1; __atomic_load_n(&walker.runs, __ATOMIC_RELAXED) < 5000 &&
	                     clock_mono_ns() - begin < 5 * NSEC_PER_SEC;
	     i++) {
		procs_exec(procs, PID, "next", i);
		for (uint64_t j = 0; j < 7; j++)
			procs_mmap(procs, PID, j << 20, (j << 20) + (i % 200 + 1) * 4096, 0,
			           &no_file, "");
		unwinder_sync(unwinder, i);
		procs_expire(procs, i);
	}
	__atomic_store_n(&walker.stop, 1, __ATOMIC_RELAXED);
	uv_thread_join(&walker.thread);
	ck_assert_uint_gt(walker.runs, 0);
	ck_assert_uint_eq(walker.torn, 0);
}
END_TEST

START_TEST(exec_withdraws)
{
	uint32_t at = PID & (EXEC_TIMES - 1);

	procs_exec(procs, PID, "one", 1);
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	start();
	unwinder_sync(unwinder, 100);
	ck_assert_uint_ne(slot_of(PID), 0);

	/* What the kernel half does; then more comes of the time before. */
	memory.execs[at] = 200;
	memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)] = 0;
	procs_mmap(procs, PID, 0x8000, 0x9000, 0, &no_file, "");
	unwinder_sync(unwinder, 150);
	ck_assert_uint_eq(slot_of(PID), 0);
	unwinder_sync(unwinder, 199);
	ck_assert_uint_eq(slot_of(PID), 0);
	procs_exec(procs, PID, "two", 200);
	procs_mmap(procs, PID, 0x4000, 0x5000, 0, &no_file, "");
	unwinder_sync(unwinder, 250);
	ck_assert_uint_eq(slot_of(PID) & SLOT_COUNT_MAX, 1);
	ck_assert_ptr_nonnull(find_mapping(PID, 0x4000));

	/* Another's exec leaves what is there alone, and only puts off what is new. */
	memory.execs[at] = 300;
	procs_mmap(procs, PID, 0x6000, 0x7000, 0, &no_file, "");
	unwinder_sync(unwinder, 299);
	ck_assert_uint_eq(slot_of(PID) & SLOT_COUNT_MAX, 1);
	unwinder_sync(unwinder, 300);
	ck_assert_uint_eq(slot_of(PID) & SLOT_COUNT_MAX, 2);

	/* A slot that was cleared comes back when its process is told of again. */
	memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)] = 0;
	procs_fork(procs, PID, PID + 1, 301);
	procs_mmap(procs, PID, 0x6000, 0x7000, 0, &no_file, "");
	unwinder_sync(unwinder, 400);
	ck_assert_uint_ne(slot_of(PID), 0);
	ck_assert_uint_eq(stats().processes, 2);
}
END_TEST

START_TEST(storm_of_forks)
{
	const struct mapping_set *set = own_mappings();
	uint64_t spent = 0, most = 0;

	start();
	build_all();
	for (uint32_t i = 0; i < STORM; i++) {
		procs_fork(procs, (uint32_t)getpid(), PID + i % 90000, i);
		if (i >= 300)
			procs_exit(procs, PID + (i - 300) % 90000, PID + (i - 300) % 90000, i);
		if (i % 50)
			continue;
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		sync_now();
		uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		spent += took;
		most = took > most ? took : most;
		if (i % 5000 == 0)
			procs_expire(procs, i);
		ck_assert_uint_eq(stats().mappings, mapping_set_count(set));
		ck_assert_uint_le(stats().processes, 402);
	}
	ck_assert_uint_eq(stats().processes_refused, 0);
	ck_assert_uint_eq(first_of(slot_of(PID + (STORM - 100) % 90000)),
	                  first_of(slot_of((uint32_t)getpid())));
	/* 20 seconds of 5,000 forks and exits a second, in less than 5 % of a core. */
	ck_assert_msg(spent < NSEC_PER_SEC, "%lu ms", (unsigned long)(spent / NSEC_PER_MSEC));
	if (getenv("UNWINDER_TIMES"))
		printf("storm: %lu ns a fork and exit, longest call %lu us\n",
		       (unsigned long)(spent / STORM), (unsigned long)(most / 1000));
}
END_TEST

START_TEST(more_changes_than_are_noted)
{
	procs_exec(procs, PID, "parent", 1);
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	memory.slot_count = SLOTS / 2;
	start();
	sync_now();
	for (uint32_t i = 1; i < 20000; i++) {
		procs_fork(procs, PID, PID + i, 2);
		procs_exit(procs, PID + i, PID + i, 3);
	}
	for (uint32_t i = 1; i <= 100; i++)
		procs_fork(procs, PID, PID + i, 4);
	procs_mmap(procs, PID, 0x8000, 0x9000, 0, &no_file, "");
	procs_fork(procs, PID, PID + 20001, 5);
	sync_now();
	ck_assert_uint_eq(stats().processes, 102);
	ck_assert_ptr_nonnull(find_mapping(PID + 20001, 0x8000));
	ck_assert_ptr_nonnull(find_mapping(PID + 77, 0x1000));
}
END_TEST

START_TEST(no_room_for_processes)
{
	memory.slot_count = SLOTS_PER_BUCKET;
	procs_exec(procs, PID, "parent", 1);
	procs_mmap(procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	for (uint32_t i = 1; i < 20; i++)
		procs_fork(procs, PID, PID + i, 2);
	start();
	sync_now();
	ck_assert_uint_eq(stats().processes, SLOTS_PER_BUCKET);
	ck_assert_uint_eq(stats().processes_refused, 12);
	/* Those that were refused are tried again when others have gone. */
	for (uint32_t i = 0; i < 20; i++) {
		if (slot_of(PID + i))
			procs_exit(procs, PID + i, PID + i, 3);
	}
	sync_now();
	for (int i = 0; i < 4 && stats().processes < SLOTS_PER_BUCKET; i++) {
		usleep(60 * 1000);
		sync_now();
		sync_now();
	}
	ck_assert_uint_eq(stats().processes, SLOTS_PER_BUCKET);
}
END_TEST

START_TEST(no_room_for_mappings)
{
	memory.mapping_count = 12; /* grains 1 and 2: eight mappings */
	start();
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(procs, PID, 0x1000 * i * 2, 0x1000 * (i * 2 + 1), 0, &no_file, "");
	procs_exec(procs, PID, "large", 1);
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(procs, PID, 0x1000 * i * 2, 0x1000 * (i * 2 + 1), 0, &no_file, "");
	procs_exec(procs, PID + 1, "small", 1);
	procs_mmap(procs, PID + 1, 0x1000, 0x3000, 0, &no_file, "");
	sync_now();
	ck_assert_uint_eq(slot_of(PID), 0);
	ck_assert_uint_ne(slot_of(PID + 1), 0);
	ck_assert_uint_eq(stats().processes_refused, 1);
	/* It grew out of its room: what it had is not true any more. */
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(procs, PID + 1, 0x10000 * i, 0x10000 * i + 0x1000, 0, &no_file, "");
	sync_now();
	ck_assert_uint_eq(slot_of(PID + 1), 0);
	ck_assert_uint_eq(stats().mappings, 0);
}
END_TEST

START_TEST(no_memory_at_all)
{
	memory.slot_count = memory.mapping_count = memory.table_count = memory.pool_words = 0;
	own_mappings();
	start();
	build_all();
	build_all();
	ck_assert_uint_eq(stats().processes, 0);
	ck_assert_uint_eq(stats().tables, 0);
}
END_TEST

START_TEST(few_descriptors)
{
	memory.table_count = 3;
	own_mappings();
	start();
	build_all();
	ck_assert_uint_le(stats().tables + stats().tables_without, 2);
	ck_assert_uint_gt(stats().processes_refused, 0);
	ck_assert_uint_eq(stats().processes, 1);
}
END_TEST

START_TEST(objects_that_left_the_store)
{
	struct store *small = store_new(2);
	struct procs *others = procs_new(small);

	procs_image(others, (uint32_t)getpid(), clock_mono_ns());
	unwinder = unwinder_new(&loop, others, small, &memory);
	build_all();
	ck_assert_uint_le(stats().tables, 2);
	ck_assert_uint_eq(stats().processes, 1);
	unwinder_stop(unwinder);
	uv_run(&loop, UV_RUN_DEFAULT);
	unwinder_free(unwinder);
	unwinder = NULL;
	procs_free(others);
	store_free(small);
}
END_TEST

START_TEST(stopped_while_building)
{
	own_mappings();
	start();
	sync_now();
	ck_assert(uv_loop_alive(&loop));
	unwinder_stop(unwinder);
	unwinder_stop(unwinder);
	sync_now();
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(stats().tables, 0);
	procs_fork(procs, (uint32_t)getpid(), PID, 1); /* nobody listens */
}
END_TEST

START_TEST(never_started)
{
	start();
	unwinder_free(unwinder);
	unwinder = NULL;
	unwinder_free(NULL);
}
END_TEST

/* The executables that this process maps: as many as fit, and their sizes when built. */
struct shelf {
	struct object *objects[TABLES];
	uint32_t ids[TABLES];
	size_t words[TABLES], count;
};

static void fill_shelf(struct shelf *shelf)
{
	const struct mapping_set *set = own_mappings();

	*shelf = (struct shelf){0};
	for (size_t i = 0; i < mapping_set_count(set); i++) {
		struct object *object = store_get(store, mapping_set_at(set, i)->object);
		struct table *table = NULL;
		bool known = !object || object->text.file_bytes > 4 << 20;

		for (size_t j = 0; !known && j < shelf->count; j++)
			known = shelf->objects[j] == object;
		if (known || table_build(object->elf, false, POOL_WORDS, &table)) {
			object_unref(object);
			continue;
		}
		shelf->objects[shelf->count] = object;
		shelf->words[shelf->count++] = table->word_count;
		table_free(table);
	}
	ck_assert_uint_ge(shelf->count, 3);
}

static void empty_shelf(struct shelf *shelf, struct tables *tables)
{
	for (size_t i = 0; i < shelf->count; i++)
		object_unref(shelf->objects[i]);
	tables_stop(tables);
	uv_run(&loop, UV_RUN_DEFAULT);
	tables_free(tables);
}

static void look(struct tables *tables, uint32_t at_epoch)
{
	tables_look(tables, at_epoch);
	uv_run(&loop, UV_RUN_DEFAULT);
	if (tables_retired(tables))
		tables_reclaim(tables);
	uv_run(&loop, UV_RUN_DEFAULT);
}

static size_t largest(const struct shelf *shelf)
{
	size_t most = 0;

	for (size_t i = 0; i < shelf->count; i++)
		most = shelf->words[i] > most ? shelf->words[i] : most;
	return most;
}

START_TEST(tables_make_way)
{
	struct shelf shelf;
	uint32_t at = 2;

	fill_shelf(&shelf);
	memory.pool_words = largest(&shelf) + 2 * BLOCK_BYTES;
	struct tables *tables = tables_new(&loop, store, &memory);
	for (size_t i = 0; i < shelf.count; i++)
		shelf.ids[i] = tables_take(tables, shelf.objects[i]);
	look(tables, at);
	/* Nobody walks: nothing is replaced. */
	for (; at < 40; at++)
		look(tables, at);
	struct unwinder_stats first = {0};
	tables_get_stats(tables, &first);
	ck_assert_uint_gt(first.tables, 0);
	ck_assert_uint_gt(first.tables_pending, 0);
	ck_assert_uint_eq(first.tables_evicted, 0);

	/* Each in turn is wanted, and gets room. */
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < shelf.count; i++) {
			struct unwind_table *shared = &memory.tables[shelf.ids[i]];

			if (shared->base)
				continue;
			for (int tries = 0; tries < 8 && !shared->base; tries++) {
				shared->missed += 5;
				at += 20;
				look(tables, at);
			}
			ck_assert_uint_ne(shared->base, 0);
			ck_assert_uint_eq(shared->missed, 0);
			ck_assert_uint_eq(shared->used, at);
		}
	}
	struct unwinder_stats last = {0};
	tables_get_stats(tables, &last);
	ck_assert_uint_gt(last.tables_evicted, shelf.count);
	ck_assert_uint_le(last.table_bytes, last.table_bytes_max);
	ck_assert_uint_eq(last.tables_failed, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(tables_in_use_stay)
{
	struct shelf shelf;
	uint32_t at = 10;

	fill_shelf(&shelf);
	memory.pool_words = largest(&shelf) + 2 * BLOCK_BYTES;
	struct tables *tables = tables_new(&loop, store, &memory);
	for (size_t i = 0; i < shelf.count; i++)
		shelf.ids[i] = tables_take(tables, shelf.objects[i]);
	look(tables, at);
	for (; at < 100; at++) {
		for (size_t i = 0; i < shelf.count; i++) {
			struct unwind_table *shared = &memory.tables[shelf.ids[i]];

			if (shared->base)
				shared->used = at;
			else
				shared->missed++;
		}
		look(tables, at);
	}
	struct unwinder_stats now = {0};
	tables_get_stats(tables, &now);
	ck_assert_uint_eq(now.tables_evicted, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(evicted_words_wait_for_walkers)
{
	struct shelf shelf;
	size_t i, wanted;

	fill_shelf(&shelf);
	memory.pool_words = largest(&shelf) + 2 * BLOCK_BYTES;
	struct tables *tables = tables_new(&loop, store, &memory);
	/* All that fit, then the largest: it needs what they have. */
	for (wanted = 0; shelf.words[wanted] != largest(&shelf); wanted++)
		;
	for (i = 0; i < shelf.count; i++)
		shelf.ids[i] = i == wanted ? 0 : tables_take(tables, shelf.objects[i]);
	look(tables, 10);
	shelf.ids[wanted] = tables_take(tables, shelf.objects[wanted]);
	uint32_t *copy = malloc(memory.pool_words * sizeof(*copy));
	memcpy(copy, memory.pool, memory.pool_words * sizeof(*copy));
	memory.tables[shelf.ids[wanted]].missed = 1;
	tables_look(tables, 100);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (uint32_t epochs = 101; epochs < 105; epochs++)
		tables_look(tables, epochs);
	/* Unpublished, but not touched. */
	ck_assert(tables_retired(tables));
	ck_assert_mem_eq(copy, memory.pool, memory.pool_words * sizeof(*copy));
	ck_assert_uint_eq(memory.tables[shelf.ids[wanted]].base, 0);
	while (tables_retired(tables))
		tables_reclaim(tables);
	ck_assert_uint_ne(memory.tables[shelf.ids[wanted]].base, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	free(copy);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(unmapped_tables_go_first)
{
	struct shelf shelf;
	size_t i, wanted;

	fill_shelf(&shelf);
	memory.table_count = 3;
	struct tables *tables = tables_new(&loop, store, &memory);
	shelf.ids[0] = tables_take(tables, shelf.objects[0]);
	shelf.ids[1] = tables_take(tables, shelf.objects[1]);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[0]), shelf.ids[0]);
	look(tables, 2);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[2]), 0);
	tables_give(tables, shelf.ids[0]);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[2]), 0); /* one mapping is left */
	tables_give(tables, shelf.ids[0]);
	ck_assert_uint_ne(memory.tables[shelf.ids[0]].base, 0); /* kept for the next process */
	wanted = 2;
	shelf.ids[wanted] = tables_take(tables, shelf.objects[wanted]);
	ck_assert_uint_eq(shelf.ids[wanted], shelf.ids[0]);
	ck_assert_uint_eq(memory.tables[shelf.ids[0]].base, 0);
	look(tables, 3);
	ck_assert_uint_ne(memory.tables[shelf.ids[wanted]].base, 0);
	for (i = 0; i < 2; i++)
		tables_give(tables, shelf.ids[i + 1]);
	tables_give(tables, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

Suite *unwinder_suite(void)
{
	Suite *suite = suite_create("unwinder");
	TCase *tcase = tcase_create("unwinder");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, this_process_can_be_walked);
	tcase_add_test(tcase, stays_in_step);
	tcase_add_test(tcase, walkers_keep_what_they_read);
	tcase_add_test(tcase, a_walker_meanwhile);
	tcase_add_test(tcase, exec_withdraws);
	tcase_add_test(tcase, storm_of_forks);
	tcase_add_test(tcase, more_changes_than_are_noted);
	tcase_add_test(tcase, no_room_for_processes);
	tcase_add_test(tcase, no_room_for_mappings);
	tcase_add_test(tcase, no_memory_at_all);
	tcase_add_test(tcase, few_descriptors);
	tcase_add_test(tcase, objects_that_left_the_store);
	tcase_add_test(tcase, stopped_while_building);
	tcase_add_test(tcase, never_started);
	tcase_add_test(tcase, tables_make_way);
	tcase_add_test(tcase, tables_in_use_stay);
	tcase_add_test(tcase, evicted_words_wait_for_walkers);
	tcase_add_test(tcase, unmapped_tables_go_first);
	suite_add_tcase(suite, tcase);
	return suite;
}
