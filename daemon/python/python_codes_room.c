/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which code objects are forgotten: those that there is no room for, and those not met for long.
 */
#include "python/python_codes_private.h"

#include "base/clock.h"

#include <utlist.h>

enum {
	ASK_MINUTES = 5,  /* the time after which what was not met is asked for again */
	REST_MOST = 4096, /* of a user are forgotten at once */
};

void python_codes_charge(struct python_codes *codes, struct owner *owner, size_t bytes)
{
	owner->bytes += bytes;
	codes->stats.code_bytes += bytes;
}

void python_codes_discharge(struct python_codes *codes, struct owner *owner, size_t bytes)
{
	owner->bytes -= bytes;
	codes->stats.code_bytes -= bytes;
	if (owner->bytes)
		return;
	HASH_DEL(codes->owners, owner);
	free(owner);
}

void python_codes_unref_file(struct python_codes *codes, struct source_file *file)
{
	if (--file->references > 0)
		return;
	HASH_DEL(codes->files, file);
	python_codes_discharge(codes, file->owner, file->bytes);
	free(file);
}

void python_codes_forget(struct python_codes *codes, struct code *code)
{
	HASH_DEL(codes->codes, code);
	DL_DELETE(code->owner->latest, code);
	python_codes_unref_file(codes, code->file);
	codes->stats.codes--;
	python_codes_discharge(codes, code->owner, code->bytes);
	free(code->marks);
	free(code);
}

/* The kernel half keeps a signature in one of two places; see tell_once() in
 * bpf/python/python_code.bpf.h. */
void python_codes_ask_again(struct python_codes *codes, uint64_t signature)
{
	size_t at = signature & (PYTHON_SENT - 1);

	for (size_t i = 0; codes->told && i < 2; i++, at ^= 1)
		if (__atomic_load_n(&codes->told[at], __ATOMIC_RELAXED) == signature)
			__atomic_store_n(&codes->told[at], 0, __ATOMIC_RELAXED);
}

/* The code object that has been unused for longest, of the user with the most bytes. NULL: there is
 * only `last`. */
static struct code *choose_victim(const struct python_codes *codes, const struct code *last)
{
	struct owner *owner, *next, *most = NULL;

	HASH_ITER (hh, codes->owners, owner, next) {
		bool has_another = owner->latest && (owner->latest != last || last->next);

		if (has_another && (!most || owner->bytes > most->bytes))
			most = owner;
	}
	return most ? most->latest->prev : NULL;
}

void python_codes_make_room(struct python_codes *codes, const struct code *last)
{
	while (codes->stats.code_bytes > codes->max_bytes) {
		struct code *victim = choose_victim(codes, last);

		if (!victim)
			return;
		python_codes_forget(codes, victim);
		codes->stats.codes_evicted++;
	}
}

/* Asks for what was not met for long, and forgets it a minute later: what is met meanwhile, also in
 * the half that is about to be read, is found again by then. */
static void rest_owner(struct python_codes *codes, const struct owner *owner)
{
	struct code *code = owner->latest ? owner->latest->prev : NULL;
	size_t count = 0;

	while (code && codes->minute - code->met_minute >= ASK_MINUTES) {
		struct code *next = code == owner->latest ? NULL : code->prev;

		python_codes_ask_again(codes, code->signature);
		if (codes->minute - code->met_minute > ASK_MINUTES && count < REST_MOST) {
			python_codes_forget(codes, code);
			count++;
		}
		code = next;
	}
}

void python_codes_rest(struct python_codes *codes, uint64_t now_mono_ns)
{
	uint32_t minute = (uint32_t)(now_mono_ns / (60 * NSEC_PER_SEC));
	struct owner *owner, *next;

	codes->now_ns = now_mono_ns;
	if (minute == codes->minute)
		return;
	codes->minute = minute;
	/* Forgetting may free the owner, or another one that is left with a file of this one. */
	for (owner = codes->owners; owner; owner = next) {
		python_codes_charge(codes, owner, 1);
		rest_owner(codes, owner);
		next = owner->hh.next;
		python_codes_discharge(codes, owner, 1);
	}
}
