/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit - the names of code that programs generate at run time, as the programs tell them: by
 * /tmp/perf-PID.map (jit/jit_map.h) or a jitdump (jit/jit_dump_file.h). A program whose generated
 * code is sampled is met; its files are then looked for, and read before each drain while the
 * program is being sampled.
 *
 * Generated code is replaced by other code at the same address. So a name is given at once, by what
 * was told up to the end of the half that is drained. Code that is told later gives its name to
 * earlier samples only if nothing else was told at its place before.
 *
 * Bounded in programs and bytes, with a share for each user; what was not met for longest goes
 * first. The loop thread owns it; jit_find_later() is for any thread.
 */
#pragma once

#include "jit/jit_codes.h"

#include <stdbool.h>
#include <stdint.h>

struct crew;
struct image;
struct jit;

enum {
	JIT_PROGRAMS = 1024,
	JIT_BYTES = 32 << 20,
	JIT_CODES_EACH = 131072, /* of one program */
};

struct jit *jit_new(void); /* NULL when out of memory */
/* After the crew has been freed. */
void jit_free(struct jit *jit);
/* From now on files are read, by this crew; NULL: no longer. */
void jit_read_by(struct jit *jit, struct crew *crew);

/* To be called before a drain. Requests the readings; crew_settle() waits for them. */
void jit_read(struct jit *jit);
/* The number of the program whose generated code was sampled. 0: there is no room for it. */
uint32_t jit_meet(struct jit *jit, const struct image *image);

/* What generates code in a program that was met: "java", "node" ... NULL: not known. */
const char *jit_runtime(const struct jit *jit, const struct image *image);

enum jit_found {
	JIT_KNOWN,
	JIT_UNKNOWN,  /* the name may be told later */
	JIT_REPLACED, /* other code was replaced there while samples were taken */
};

struct jit_place {
	const char *name, *file;   /* `file` may be "" */
	uint32_t line, first_line; /* of the address, and of the code; 0: not known */
};

/* Finds code of a program by its address at the time of the drain. The place is valid until the
 * next call of jit_meet() or of the crew. For JIT_UNKNOWN `*ret_since` is what jit_find_later() is
 * to be told.
 */
enum jit_found jit_find(const struct jit *jit, uint32_t number, uint64_t address,
                        struct jit_place *ret_place, uint32_t *ret_since);
void jit_note_replaced(struct jit *jit); /* a frame has no name because of JIT_REPLACED */
/* The same for an address that was not known earlier. For JIT_KNOWN fn() is called with the place,
 * which is valid meanwhile. */
typedef void jit_place_fn(const struct jit_place *place, void *ctx);
enum jit_found jit_find_later(struct jit *jit, uint32_t number, uint32_t since, uint64_t address,
                              jit_place_fn *fn, void *ctx);

#define JIT_STATS(STAT)                                                                        \
	STAT(programs, gauge, "Programs that were sampled in generated code")                  \
	STAT(programs_told, gauge, "Such programs that tell of their code")                    \
	STAT(codes, gauge, "Pieces of generated code whose names are known")                   \
	STAT(bytes, gauge, "Memory for the names of generated code")                           \
	STAT(programs_refused, counter,                                                        \
	     "Times that a program's generated code had no names for lack of room, in all or " \
	     "for its user")                                                                   \
	STAT(codes_refused, counter, "Names of generated code refused for the same reason")    \
	STAT(replaced, counter,                                                                \
	     "Frames of generated code without a name because code was replaced meanwhile")

struct jit_stats {
#define STAT(name, type, help) uint64_t name;
	JIT_STATS(STAT)
#undef STAT
};

void jit_get_stats(const struct jit *jit, struct jit_stats *ret_stats);
