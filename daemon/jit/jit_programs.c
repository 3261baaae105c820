/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of programs, and what their owners may keep in it.
 */
#include "jit/jit_dump_file.h"
#include "jit/jit_private.h"
#include "jit/jit_runtime.h"
#include "proc/image.h"
#include "proc/owner.h"

#include <utlist.h>

/* A file that is not there, or may be another one by now, is looked for from this interval on. */
#define FIRST_REST_NS NSEC_PER_SEC
/* Between two looks at the mappings of a program. */
#define LOOK_NS (900 * NSEC_PER_MSEC)

struct jit *jit_new(void)
{
	struct jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	pthread_mutex_init(&jit->lock, NULL);
	jit->programs.whole = JIT_PROGRAMS;
	jit->bytes.whole = JIT_BYTES;
	jit->under_way.whole = JIT_UNDER_WAY;
	jit->looks.whole = JIT_LOOKS;
	return jit;
}

struct jit_program *jit_program_find(const struct jit *jit, uint32_t number)
{
	struct jit_program *program;

	HASH_FIND(hh_number, jit->by_number, &number, sizeof(number), program);
	return program;
}

void jit_program_free(struct jit *jit, struct jit_program *program)
{
	jit_files_close(jit, program);
	jit_codes_release(&program->codes);
	jit_ranges_release(&program->gone);
	jit_ranges_release(&program->gone_before);
	free(program);
}

static void charge(struct jit *jit, struct jit_program *program, size_t bytes)
{
	shares_give(&jit->bytes, program->owner, program->bytes);
	shares_add(&jit->bytes, program->owner, bytes);
	program->bytes = bytes;
}

/* The caller holds the lock. */
static void remove_program(struct jit *jit, struct jit_program *program)
{
	HASH_DELETE(hh, jit->by_key, program);
	HASH_DELETE(hh_number, jit->by_number, program);
	DL_DELETE(jit->by_use, program);
	charge(jit, program, 0);
	shares_give(&jit->programs, program->owner, 1);
	program->is_out = true;
	if (!program->is_read)
		jit_program_free(jit, program);
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
	shares_clear(&jit->under_way);
	shares_clear(&jit->looks);
	jit_debts_clear(&jit->debts);
	pthread_mutex_destroy(&jit->lock);
	free(jit);
}

void jit_read_by(struct jit *jit, struct crew *crew)
{
	jit->crew = crew;
}

/* Removes the program that its owner has met longest ago, if it is not read any more. */
static bool make_room(struct jit *jit, uint32_t owner, const struct jit_program *except)
{
	uint64_t now_ns = clock_mono_ns();
	struct jit_program *program = jit->by_use;

	while (program && (program->owner != owner || program == except))
		program = program->next;
	if (!program || now_ns - program->met_ns < JIT_MET_NS)
		return false;
	pthread_mutex_lock(&jit->lock);
	remove_program(jit, program);
	pthread_mutex_unlock(&jit->lock);
	return true;
}

static bool take(struct jit *jit, struct shares *shares, uint32_t owner, uint64_t amount,
                 const struct jit_program *for_program)
{
	while (!shares_take_beside_root(shares, owner, amount))
		if (!make_room(jit, owner, for_program))
			return false;
	return true;
}

/* NULL when there is no room. */
static struct jit_program *add_program(struct jit *jit, const struct jit_program_key *key)
{
	uint32_t owner = owner_read((uint32_t)key->pid);
	struct jit_program *program;

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
	program->where = (struct jit_where){.pid = (uint32_t)key->pid, .began_ns = key->began_ns};
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		program->files[i] = JIT_FILE_CLOSED;
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

/* What its mappings say. A program maps its jitdump as if it were code, so that profilers find it.
 */
static void look_at(struct jit *jit, struct jit_program *program, const struct mapping_set *set)
{
	size_t count = mapping_set_count(set);
	const char *path = NULL;
	uint64_t number;

	if (!shares_take(&jit->looks, program->owner, count))
		return;
	program->looked_ns = program->met_ns;
	for (size_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);

		/* Equal paths are one string. */
		if (mapping->path == path)
			continue;
		path = mapping->path;
		program->runtime = jit_runtime_of(path, program->runtime);
		if (!jit_dump_file_is(path, &number))
			continue;
		program->where.dump_start = mapping->start;
		program->where.dump_end = mapping->end;
		program->where.dump_number = number;
	}
}

uint32_t jit_meet(struct jit *jit, const struct image *image)
{
	const struct jit_program_key key = {image->pid, image->start_mono_ns};
	struct jit_program *program;
	bool is_new;

	HASH_FIND(hh, jit->by_key, &key, sizeof(key), program);
	is_new = !program;
	if (is_new)
		program = add_program(jit, &key);
	if (!program) {
		jit->stats.programs_refused++;
		return 0;
	}
	program->met_ns = clock_mono_ns();
	if (program->met_ns >= program->due_ns && program->met_ns - program->looked_ns > LOOK_NS)
		look_at(jit, program, image->set);
	DL_DELETE(jit->by_use, program);
	DL_APPEND(jit->by_use, program);
	/* It may end before the next drain. */
	program->is_waiting |= is_new;
	if (is_new)
		jit_reading_begin(jit, program);
	return program->number;
}

const char *jit_runtime(const struct jit *jit, const struct image *image)
{
	const struct jit_program_key key = {image->pid, image->start_mono_ns};
	const struct jit_program *program;

	HASH_FIND(hh, jit->by_key, &key, sizeof(key), program);
	return program ? jit_runtime_name(program->runtime) : NULL;
}

void jit_program_lay(struct jit *jit, struct jit_program *program, struct jit_codes *told)
{
	size_t bytes = jit_codes_bytes(told);
	int err;

	/* What has no room replaces what was there all the same. */
	if (program->codes.count + told->count > JIT_CODES_EACH ||
	    !take(jit, &jit->bytes, program->owner, bytes, program)) {
		jit->stats.codes_refused += told->count;
		jit_codes_forget(told);
		bytes = 0;
	}
	program->readings++;
	program->fresh = program->fresh ?: program->readings;
	pthread_mutex_lock(&jit->lock);
	err = jit_codes_lay(&program->codes, told, program->readings, &program->gone);
	if (err)
		jit_codes_release(&program->codes);
	pthread_mutex_unlock(&jit->lock);
	shares_give(&jit->bytes, program->owner, bytes);
	charge(jit, program, jit_codes_bytes(&program->codes));
}
