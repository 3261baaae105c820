/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known of the code at an address.
 */
#include "jit/jit_private.h"

static struct jit_place place_in(const struct jit_code *code, uint64_t address)
{
	struct jit_place place = {.name = code->name, .file = ""};

	if (code->lines) {
		place.line = jit_lines_find(code->lines, address, &place.file);
		place.first_line = jit_lines_first(code->lines);
	}
	return place;
}

/* The last reading that told what was so before the samples that are drained now. */
static uint32_t settled(const struct jit_program *program)
{
	uint32_t fresh = program->fresh_before ?: program->fresh;

	/* If there was no code in any reading, none can have been replaced. */
	if (!program->codes.count)
		return 0;
	return fresh ? fresh - 1 : program->readings;
}

/* Whether there was code at the address that other code has just replaced. */
static bool is_gone(const struct jit_program *program, uint64_t address)
{
	return jit_ranges_have(&program->gone, address) ||
	       jit_ranges_have(&program->gone_before, address);
}

void jit_note_replaced(struct jit *jit)
{
	jit->stats.replaced++;
}

enum jit_found jit_find(const struct jit *jit, uint32_t number, uint64_t address,
                        struct jit_place *ret_place, uint32_t *ret_since)
{
	const struct jit_program *program = jit_program_find(jit, number);
	const struct jit_code *code = program ? jit_codes_find(&program->codes, address) : NULL;

	*ret_since = program ? settled(program) : 0;
	if (program && !code && is_gone(program, address))
		return JIT_REPLACED;
	/* What is not read yet may be about other code at the address. */
	if (!code || program->is_behind)
		return JIT_UNKNOWN;
	if (code->since > *ret_since && code->has_replaced)
		return JIT_REPLACED;
	*ret_place = place_in(code, address);
	return JIT_KNOWN;
}

enum jit_found jit_find_later(struct jit *jit, uint32_t number, uint32_t since, uint64_t address,
                              jit_place_fn *fn, void *ctx)
{
	enum jit_found found = JIT_UNKNOWN;
	const struct jit_program *program;
	const struct jit_code *code;

	pthread_mutex_lock(&jit->lock);
	program = jit_program_find(jit, number);
	/* What is not read yet may be about the time of the sample. */
	code = program && !program->is_incomplete ? jit_codes_find(&program->codes, address) : NULL;
	if (code)
		found = code->since > since && code->has_replaced ? JIT_REPLACED : JIT_KNOWN;
	if (found == JIT_KNOWN) {
		const struct jit_place place = place_in(code, address);

		fn(&place, ctx);
	}
	pthread_mutex_unlock(&jit->lock);
	return found;
}

void jit_get_stats(const struct jit *jit, struct jit_stats *ret_stats)
{
	*ret_stats = jit->stats;
	ret_stats->bytes = jit->bytes.taken;
	ret_stats->programs = jit->programs.taken;
	for (const struct jit_program *program = jit->by_use; program; program = program->next) {
		ret_stats->codes += program->codes.count;
		ret_stats->programs_told += program->codes.count > 0;
	}
}
