/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The loop thread alone changes programs, so it reads them without the lock; other threads read
 * them with it. Files are opened, read and closed by jobs of the crew.
 */
#include "jit/jit.h"

#include "base/clock.h"
#include "base/crew.h"
#include "base/shares.h"
#include "base/table.h"
#include "jit/jit_map.h"
#include "proc/owner.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/* A program's file is read for this time after its generated code was last sampled. */
#define MET_NS (10 * NSEC_PER_SEC)
/* A file that is not there, or may be another one by now, is looked for at these intervals. */
#define FIRST_REST_NS NSEC_PER_SEC
#define REST_NS       (5 * NSEC_PER_SEC)

/* Hashed and compared as bytes. */
struct program_key {
	uint64_t pid, began_ns;
};

struct program {
	struct program_key key;
	uint32_t number, owner;
	struct jit_codes codes;
	size_t bytes;         /* of the codes */
	uint32_t readings;    /* that have told something */
	uint32_t fresh;       /* the first of them since the last drain; 0: none */
	uint32_t begun;       /* readings since the last drain */
	bool is_read, is_out; /* a reading is under way; it was removed meanwhile */
	struct jit_map map;   /* the reading's, while there is one */
	uint64_t met_ns, due_ns, rest_ns;
	UT_hash_handle hh, hh_number;
	struct program *prev, *next; /* those met longest ago first */
};

struct jit {
	struct crew *crew;
	pthread_mutex_t lock;
	struct program *by_key, *by_number, *by_use;
	struct shares programs, bytes;
	uint32_t last_number;
	struct jit_stats stats;
};

struct reading {
	struct crew_job job;
	struct jit *jit;
	struct program *program;
	uint32_t pid;
	uint64_t began_ns;
	bool opens;
	struct jit_map map;
	struct jit_codes told;
	bool has_more;
};

struct jit *jit_new(void)
{
	struct jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	pthread_mutex_init(&jit->lock, NULL);
	jit->programs.whole = JIT_PROGRAMS;
	jit->bytes.whole = JIT_BYTES;
	return jit;
}

/* On the crew, because closing a file may wait. */
static void run_close(struct crew_job *job)
{
	jit_map_close(&((struct reading *)job)->map);
}

static void closed(struct crew_job *job, int err)
{
	struct reading *reading = (struct reading *)job;

	(void)err;
	free(reading);
}

/* Where no job can close the file, the kernel closes it when the daemon has ended. */
static void program_free(struct jit *jit, struct program *program)
{
	struct reading *reading =
		program->map.fd >= 0 && jit->crew ? calloc(1, sizeof(*reading)) : NULL;

	if (reading) {
		reading->job = (struct crew_job){.owner = program->owner,
		                                 .device = program->map.device,
		                                 .gives_back = true,
		                                 .run = run_close,
		                                 .done = closed};
		reading->map = program->map;
		if (crew_submit(jit->crew, &reading->job))
			free(reading);
	}
	jit_codes_release(&program->codes);
	free(program);
}

static void charge(struct jit *jit, struct program *program, size_t bytes)
{
	shares_give(&jit->bytes, program->owner, program->bytes);
	shares_add(&jit->bytes, program->owner, bytes);
	program->bytes = bytes;
}

/* The caller holds the lock. */
static void remove_program(struct jit *jit, struct program *program)
{
	HASH_DELETE(hh, jit->by_key, program);
	HASH_DELETE(hh_number, jit->by_number, program);
	DL_DELETE(jit->by_use, program);
	charge(jit, program, 0);
	shares_give(&jit->programs, program->owner, 1);
	program->is_out = true;
	if (!program->is_read)
		program_free(jit, program);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	jit->crew = NULL;
	while (jit->by_use)
		remove_program(jit, jit->by_use);
	shares_clear(&jit->programs);
	shares_clear(&jit->bytes);
	pthread_mutex_destroy(&jit->lock);
	free(jit);
}

void jit_read_by(struct jit *jit, struct crew *crew)
{
	jit->crew = crew;
}

/* Removes the program that its owner has met longest ago, if it is not read any more. */
static bool make_room(struct jit *jit, uint32_t owner, const struct program *except)
{
	uint64_t now_ns = clock_mono_ns();
	struct program *program = jit->by_use;

	while (program && (program->owner != owner || program == except))
		program = program->next;
	if (!program || now_ns - program->met_ns < MET_NS)
		return false;
	pthread_mutex_lock(&jit->lock);
	remove_program(jit, program);
	pthread_mutex_unlock(&jit->lock);
	return true;
}

static bool take(struct jit *jit, struct shares *shares, uint32_t owner, uint64_t amount,
                 const struct program *for_program)
{
	while (!shares_take_beside_root(shares, owner, amount))
		if (!make_room(jit, owner, for_program))
			return false;
	return true;
}

/* NULL when there is no room. */
static struct program *add_program(struct jit *jit, const struct program_key *key)
{
	uint32_t owner = owner_read((uint32_t)key->pid);
	struct program *program;

	if (!take(jit, &jit->programs, owner, 1, NULL))
		return NULL;
	program = calloc(1, sizeof(*program));
	if (!program) {
		shares_give(&jit->programs, owner, 1);
		return NULL;
	}
	program->key = *key;
	program->owner = owner;
	program->number = ++jit->last_number ?: ++jit->last_number;
	program->map = JIT_MAP_CLOSED;
	program->rest_ns = FIRST_REST_NS / 2;
	pthread_mutex_lock(&jit->lock);
	HASH_ADD(hh, jit->by_key, key, sizeof(program->key), program);
	if (program->hh.tbl)
		HASH_ADD(hh_number, jit->by_number, number, sizeof(program->number), program);
	if (program->hh.tbl && !program->hh_number.tbl)
		HASH_DELETE(hh, jit->by_key, program);
	pthread_mutex_unlock(&jit->lock);
	if (!program->hh_number.tbl) {
		shares_give(&jit->programs, owner, 1);
		free(program);
		return NULL;
	}
	DL_APPEND(jit->by_use, program);
	return program;
}

uint32_t jit_meet(struct jit *jit, uint32_t pid, uint64_t began_ns)
{
	const struct program_key key = {pid, began_ns};
	struct program *program;

	HASH_FIND(hh, jit->by_key, &key, sizeof(key), program);
	if (!program)
		program = add_program(jit, &key);
	if (!program) {
		jit->stats.programs_refused++;
		return 0;
	}
	program->met_ns = clock_mono_ns();
	DL_DELETE(jit->by_use, program);
	DL_APPEND(jit->by_use, program);
	return program->number;
}

static struct program *find_program(const struct jit *jit, uint32_t number)
{
	struct program *program;

	HASH_FIND(hh_number, jit->by_number, &number, sizeof(number), program);
	return program;
}

/* Adds what was told, if there is room. */
static void lay(struct jit *jit, struct program *program, struct jit_codes *told)
{
	size_t bytes = jit_codes_bytes(told);

	if (program->codes.count + told->count > JIT_CODES_EACH ||
	    !take(jit, &jit->bytes, program->owner, bytes, program)) {
		jit->stats.codes_refused += told->count;
		return;
	}
	program->readings++;
	program->fresh = program->fresh ?: program->readings;
	pthread_mutex_lock(&jit->lock);
	jit_codes_lay(&program->codes, told, program->readings);
	pthread_mutex_unlock(&jit->lock);
	shares_give(&jit->bytes, program->owner, bytes);
	charge(jit, program, jit_codes_bytes(&program->codes));
}

static void run_reading(struct crew_job *job)
{
	struct reading *reading = (struct reading *)job;

	if (reading->opens)
		jit_map_open(&reading->map, reading->pid, reading->began_ns);
	if (reading->map.fd >= 0)
		jit_map_read(&reading->map, &reading->told, &reading->has_more);
}

static void begin_reading(struct jit *jit, struct program *program);

static void rest(struct program *program)
{
	program->rest_ns *= 2;
	if (program->rest_ns > REST_NS || program->map.fd >= 0)
		program->rest_ns = REST_NS;
	program->due_ns = clock_mono_ns() + program->rest_ns;
}

static void end_reading(struct crew_job *job, int err)
{
	struct reading *reading = (struct reading *)job;
	struct program *program = reading->program;
	struct jit *jit = reading->jit;

	program->is_read = false;
	program->map = reading->map;
	if (program->is_out) {
		program_free(jit, program);
	} else {
		if (reading->opens)
			rest(program);
		if (!err && reading->told.count)
			lay(jit, program, &reading->told);
		if (!err && reading->has_more)
			begin_reading(jit, program);
	}
	jit_codes_release(&reading->told);
	free(reading);
}

static void begin_reading(struct jit *jit, struct program *program)
{
	bool opens = clock_mono_ns() >= program->due_ns;
	struct reading *reading;

	if (program->is_read || program->begun == JIT_READINGS_EACH || !jit->crew ||
	    (program->map.fd < 0 && !opens))
		return;
	reading = calloc(1, sizeof(*reading));
	if (!reading)
		return;
	reading->job = (struct crew_job){.owner = program->owner,
	                                 .device = crew_process((uint32_t)program->key.pid),
	                                 .run = run_reading,
	                                 .done = end_reading};
	reading->jit = jit;
	reading->program = program;
	reading->pid = (uint32_t)program->key.pid;
	reading->began_ns = program->key.began_ns;
	reading->opens = opens;
	reading->map = program->map;
	if (crew_submit(jit->crew, &reading->job)) {
		free(reading);
		return;
	}
	program->begun++;
	program->is_read = true;
	program->map = JIT_MAP_CLOSED;
}

void jit_read(struct jit *jit)
{
	uint64_t now_ns = clock_mono_ns();

	for (struct program *program = jit->by_use; program; program = program->next) {
		program->fresh = 0;
		program->begun = 0;
		if (now_ns - program->met_ns < MET_NS)
			begin_reading(jit, program);
	}
}

enum jit_found jit_find(struct jit *jit, uint32_t number, uint64_t address, const char **ret_name,
                        uint32_t *ret_since)
{
	const struct program *program = find_program(jit, number);
	const struct jit_code *code = program ? jit_codes_find(&program->codes, address) : NULL;

	/* If there was no code in any reading, none can have been replaced. */
	*ret_since = program && program->codes.count ? program->readings : 0;
	/* What is being read may be about other code at the address. */
	if (!code || program->is_read)
		return JIT_UNKNOWN;
	if (program->fresh && code->since >= program->fresh && code->has_replaced) {
		jit->stats.replaced++;
		return JIT_REPLACED;
	}
	*ret_name = code->name;
	return JIT_KNOWN;
}

enum jit_found jit_find_later(struct jit *jit, uint32_t number, uint32_t since, uint64_t address,
                              char ret_name[JIT_NAME_BYTES])
{
	enum jit_found found = JIT_UNKNOWN;
	const struct program *program;
	const struct jit_code *code;

	pthread_mutex_lock(&jit->lock);
	program = find_program(jit, number);
	code = program ? jit_codes_find(&program->codes, address) : NULL;
	if (code) {
		found = code->since > since && code->has_replaced ? JIT_REPLACED : JIT_KNOWN;
		snprintf(ret_name, JIT_NAME_BYTES, "%s", code->name);
	}
	pthread_mutex_unlock(&jit->lock);
	return found;
}

void jit_get_stats(const struct jit *jit, struct jit_stats *ret_stats)
{
	*ret_stats = jit->stats;
	ret_stats->bytes = jit->bytes.taken;
	ret_stats->programs = jit->programs.taken;
	for (const struct program *program = jit->by_use; program; program = program->next) {
		ret_stats->codes += program->codes.count;
		ret_stats->programs_told += program->codes.count > 0;
	}
}
