/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads that are reported get the names that are in a program's memory: here this process's
 * memory, in which the addresses of a made-up program are mapped.
 */
#include "python/python_threads.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/execs.h"
#include "cpython/python_names.h"
#include "object/reach.h"
#include "python/python_programs.h"
#include "tests/unit/python_memory.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDENT = 0x7f0000001000, IMAGE = 77, GONE = MAX_PYTHON_NAMED + (1 << 22) };
/* As many programs and threads as there is room for. */
enum { MANY_PROGRAMS = 4096, MANY_THREADS = 16384 };

struct fixture {
	uv_loop_t loop;
	struct python_memory *memory;
	struct python_threads *threads;
	bool unknown; /* the process is not known to run Python */
	uint32_t pid;
	uint32_t owner; /* the user of each reported process */
	uint64_t *execs;
};

static bool describe(void *ctx, uint32_t pid, struct python_process *ret_process)
{
	struct fixture *fixture = ctx;

	ck_assert_uint_eq(pid, fixture->pid);
	*ret_process = fixture->memory->process;
	return !fixture->unknown;
}

static uint32_t owner_of(void *ctx, uint32_t pid)
{
	(void)pid;
	return ((struct fixture *)ctx)->owner;
}

static void map_memory(const struct python_memory *memory)
{
	void *at =
		mmap((void *)(uintptr_t)PYTHON_MEMORY, PYTHON_MEMORY_BYTES, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	ck_assert_ptr_eq(at, (void *)(uintptr_t)PYTHON_MEMORY);
	memcpy(at, memory->bytes, PYTHON_MEMORY_BYTES);
}

/* Sets up a process with two named threads. */
static void fixture_init(struct fixture *fixture)
{
	*fixture = (struct fixture){
		.pid = (uint32_t)getpid(),
		.memory = python_memory_new(5),
		.execs = calloc(EXEC_TIMES, sizeof(uint64_t)),
	};
	ck_assert_ptr_nonnull(fixture->execs);
	struct python_memory *memory = fixture->memory;
	const uint64_t threads[][2] = {
		{IDENT,
	         python_memory_thread(memory, INSTANCE_SHARED, python_memory_ascii(memory, "one"))},
		{IDENT + 8,
	         python_memory_thread(memory, INSTANCE_SHARED, python_memory_ascii(memory, "two"))},
	};

	python_memory_interpreter(memory, threads, 2);
	map_memory(memory);
	ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
	fixture->threads = python_threads_new(&fixture->loop, &(struct python_threads_hooks){
								      .describe = describe,
								      .owner = owner_of,
								      .ctx = fixture,
								      .execs = fixture->execs,
							      });
	ck_assert_ptr_nonnull(fixture->threads);
}

static void fixture_release(struct fixture *fixture)
{
	python_threads_stop(fixture->threads);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	python_threads_free(fixture->threads);
	ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
	munmap((void *)(uintptr_t)PYTHON_MEMORY, PYTHON_MEMORY_BYTES);
	free(fixture->memory);
	free(fixture->execs);
}

static void tell_of(struct fixture *fixture, uint32_t tid, uint64_t ident, uint64_t began_ns)
{
	const struct python_thread_told told = {
		.word = WORD_THREAD | ident,
		.pid = fixture->pid,
		.tid = tid,
		.image = IMAGE,
		.time_ns = clock_mono_ns(),
		.began_ns = began_ns,
	};

	ck_assert(python_threads_add(fixture->threads, &told, sizeof(told)));
}

static void tell(struct fixture *fixture, uint32_t tid, uint64_t ident)
{
	tell_of(fixture, tid, ident, reach_began_boot_ns(fixture->pid));
}

static const char *name_of(struct fixture *fixture, uint32_t tid)
{
	return python_threads_name(fixture->threads, fixture->pid, IMAGE, tid, clock_mono_ns());
}

/* Runs the loop until nothing is left to do, all retries included. */
static struct python_threads_stats settle(struct fixture *fixture)
{
	struct python_threads_stats stats;

	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	python_threads_get_stats(fixture->threads, &stats);
	return stats;
}

START_TEST(a_thread_gets_its_name)
{
	_cleanup_(fixture_release) struct fixture fixture;
	struct python_threads_stats stats;

	fixture_init(&fixture);
	ck_assert_ptr_null(name_of(&fixture, fixture.pid));
	tell(&fixture, fixture.pid, IDENT);
	ck_assert_ptr_null(name_of(&fixture, fixture.pid));
	stats = settle(&fixture);
	ck_assert_str_eq(name_of(&fixture, fixture.pid), "one");
	ck_assert_uint_eq(stats.threads, 1);
	ck_assert_uint_eq(stats.threads_named, 1);
	ck_assert_uint_eq(stats.threads_readings, 1);
	ck_assert_uint_eq(stats.threads_readings_empty, 0);
	/* Reported again: nothing more is read. */
	tell(&fixture, fixture.pid, IDENT);
	ck_assert_uint_eq(settle(&fixture).threads_readings, 1);
	/* Another program in the process, which was not reported. */
	ck_assert_ptr_null(
		python_threads_name(fixture.threads, fixture.pid, IMAGE + 1, fixture.pid, 0));
	ck_assert_ptr_null(name_of(&fixture, fixture.pid + 1));
}
END_TEST

/* Another program runs under the pid by now, perhaps with other privileges. */
START_TEST(memory_of_another_program_gives_none)
{
	_cleanup_(fixture_release) struct fixture fixture;
	uint64_t *exec_ns;

	fixture_init(&fixture);
	exec_ns = &fixture.execs[fixture.pid & (EXEC_TIMES - 1)];
	*exec_ns = clock_mono_ns() + NSEC_PER_SEC;
	tell(&fixture, fixture.pid, IDENT);
	ck_assert_uint_eq(settle(&fixture).threads_named, 0);
	*exec_ns = 0;
	tell(&fixture, fixture.pid, IDENT + 8);
	ck_assert_uint_eq(settle(&fixture).threads_named, 1);
	ck_assert_str_eq(name_of(&fixture, fixture.pid), "two");
}
END_TEST

START_TEST(memory_of_a_younger_process_gives_none)
{
	_cleanup_(fixture_release) struct fixture fixture;

	fixture_init(&fixture);
	tell_of(&fixture, fixture.pid, IDENT, reach_began_boot_ns(fixture.pid) - NSEC_PER_SEC);
	ck_assert_uint_eq(settle(&fixture).threads_named, 0);
}
END_TEST

/* Another thread may get its ident at once, and would get the name. */
START_TEST(one_that_has_ended_gets_none)
{
	_cleanup_(fixture_release) struct fixture fixture;
	struct python_threads_stats stats;

	fixture_init(&fixture);
	tell(&fixture, GONE, IDENT);
	stats = settle(&fixture);
	ck_assert_ptr_null(name_of(&fixture, GONE));
	ck_assert_uint_eq(stats.threads_named, 0);
	ck_assert_uint_eq(stats.threads_readings_empty, stats.threads_readings);
	ck_assert_uint_gt(stats.threads_readings, 1);
	ck_assert_uint_lt(stats.threads_readings, 6);
}
END_TEST

START_TEST(one_that_had_the_ident_before_keeps_its_name)
{
	_cleanup_(fixture_release) struct fixture fixture;

	fixture_init(&fixture);
	tell(&fixture, fixture.pid, IDENT);
	settle(&fixture);
	tell(&fixture, GONE, IDENT);
	tell(&fixture, fixture.pid + 1, IDENT + 8);
	settle(&fixture);
	ck_assert_str_eq(name_of(&fixture, fixture.pid), "one");
	/* The same thread ID with another ident is another thread. */
	tell(&fixture, fixture.pid, IDENT + 8);
	ck_assert_ptr_null(name_of(&fixture, fixture.pid));
	settle(&fixture);
	ck_assert_str_eq(name_of(&fixture, fixture.pid), "two");
}
END_TEST

START_TEST(a_program_that_is_not_known_is_not_read)
{
	_cleanup_(fixture_release) struct fixture fixture;

	fixture_init(&fixture);
	fixture.unknown = true;
	tell(&fixture, fixture.pid, IDENT);
	ck_assert_uint_eq(settle(&fixture).threads_readings, 0);
	/* Such a version passes the names of its threads to the kernel itself. */
	fixture.unknown = false;
	fixture.memory->process.interpreter_modules = 0;
	tell(&fixture, fixture.pid, IDENT + 8);
	ck_assert_uint_eq(settle(&fixture).threads_readings, 0);
	ck_assert_ptr_null(name_of(&fixture, fixture.pid));
}
END_TEST

START_TEST(there_is_room_for_so_many)
{
	_cleanup_(fixture_release) struct fixture fixture;
	struct python_threads_stats stats;

	fixture_init(&fixture);
	for (uint32_t i = 0; i < MAX_PYTHON_NAMED + 10; i++)
		tell(&fixture, GONE + i, IDENT + 1000 + i);
	stats = settle(&fixture);
	ck_assert_uint_eq(stats.threads, MAX_PYTHON_NAMED);
	ck_assert_uint_eq(stats.threads_refused, 10);
}
END_TEST

static struct python_threads_stats tell_of_many(struct fixture *fixture, uint32_t threads)
{
	struct python_thread_told told = {.word = WORD_THREAD | IDENT, .image = IMAGE};
	struct python_threads_stats stats;

	for (uint32_t i = 0; i < MANY_PROGRAMS; i++) {
		told.pid = fixture->owner * MANY_PROGRAMS + i + 1;
		for (told.tid = 1; told.tid <= threads; told.tid++)
			ck_assert(python_threads_add(fixture->threads, &told, sizeof(told)));
	}
	python_threads_get_stats(fixture->threads, &stats);
	return stats;
}

/* A user with many programs leaves room for other users, and so does one with many threads. */
START_TEST(users_have_shares)
{
	_cleanup_(fixture_release) struct fixture fixture;

	fixture_init(&fixture);
	fixture.owner = 1;
	ck_assert_uint_eq(tell_of_many(&fixture, 1).threads, MANY_PROGRAMS / 2);
	fixture.owner = 2;
	ck_assert_uint_eq(tell_of_many(&fixture, 1).threads, MANY_PROGRAMS / 2 + MANY_PROGRAMS / 4);
	fixture.owner = 1;
	struct python_threads_stats stats = tell_of_many(&fixture, 10);
	uint64_t all = stats.threads;
	ck_assert_uint_gt(stats.threads_refused, 0);
	ck_assert_uint_lt(all, MANY_THREADS / 2 + MANY_PROGRAMS / 2);
	fixture.owner = 2;
	ck_assert_uint_gt(tell_of_many(&fixture, 2).threads, all);
	fixture.owner = 3;
	all = tell_of_many(&fixture, 0).threads;
	ck_assert_uint_gt(tell_of_many(&fixture, 1).threads, all);
}
END_TEST

static struct python_program *add_due(struct python_programs *programs, uint32_t owner,
                                      uint64_t due_ns)
{
	struct python_program *program =
		python_programs_add(programs, (uint32_t)due_ns, IMAGE, owner);

	ck_assert_ptr_nonnull(program);
	program->due_ns = due_ns;
	return program;
}

/* A user with programs that are slow to read waits for others, and not they for that user. */
START_TEST(users_take_turns)
{
	const uint64_t cost_ns = 30 * NSEC_PER_MSEC;
	struct python_programs programs;
	struct python_program *slow[3], *quick;

	python_programs_init(&programs);
	ck_assert_ptr_null(python_programs_due(&programs, 10));
	for (uint32_t i = 0; i < 3; i++)
		slow[i] = add_due(&programs, 1, i + 1);
	quick = add_due(&programs, 2, 6);
	ck_assert_ptr_eq(python_programs_due(&programs, 10), slow[0]);
	python_programs_note(&programs, slow[0], cost_ns);
	slow[0]->due_ns = 0;
	ck_assert_ptr_eq(python_programs_due(&programs, 10), quick);
	/* Only what is due. */
	ck_assert_ptr_eq(python_programs_due(&programs, 5), slow[1]);
	ck_assert_ptr_eq(python_programs_due(&programs, 0), slow[1]);
	python_programs_note(&programs, quick, 2 * cost_ns);
	ck_assert_ptr_eq(python_programs_due(&programs, 10), slow[1]);
	slow[1]->due_ns = slow[2]->due_ns = 0;
	ck_assert_ptr_eq(python_programs_due(&programs, 10), quick);
	python_programs_release(&programs);
}
END_TEST

START_TEST(other_records_are_left_alone)
{
	_cleanup_(fixture_release) struct fixture fixture;
	struct python_thread_told told = {.word = WORD_THREAD | IDENT, .pid = 1, .tid = 1};

	fixture_init(&fixture);
	ck_assert(!python_threads_add(fixture.threads, &told, sizeof(told) - 1));
	told.word = IDENT;
	ck_assert(!python_threads_add(fixture.threads, &told, sizeof(told)));
	told.word = WORD_THREAD;
	ck_assert(python_threads_add(fixture.threads, &told, sizeof(told)));
	ck_assert_uint_eq(settle(&fixture).threads, 0);
}
END_TEST

START_TEST(stops_while_a_program_is_read)
{
	_cleanup_(fixture_release) struct fixture fixture;

	fixture_init(&fixture);
	tell(&fixture, fixture.pid, IDENT);
	uv_run(&fixture.loop, UV_RUN_ONCE);
	python_threads_stop(fixture.threads);
	tell(&fixture, fixture.pid, IDENT + 8);
}
END_TEST

Suite *python_threads_suite(void)
{
	Suite *suite = suite_create("python_threads");
	TCase *tcase = tcase_create("python_threads");

	tcase_add_test(tcase, a_thread_gets_its_name);
	tcase_add_test(tcase, memory_of_another_program_gives_none);
	tcase_add_test(tcase, memory_of_a_younger_process_gives_none);
	tcase_add_test(tcase, one_that_has_ended_gets_none);
	tcase_add_test(tcase, one_that_had_the_ident_before_keeps_its_name);
	tcase_add_test(tcase, a_program_that_is_not_known_is_not_read);
	tcase_add_test(tcase, there_is_room_for_so_many);
	tcase_add_test(tcase, users_have_shares);
	tcase_add_test(tcase, users_take_turns);
	tcase_add_test(tcase, other_records_are_left_alone);
	tcase_add_test(tcase, stops_while_a_program_is_read);
	suite_add_tcase(suite, tcase);
	return suite;
}
