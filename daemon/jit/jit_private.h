/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct jit. The loop thread alone changes programs, so it
 * reads them without the lock; other threads read them with it.
 */
#pragma once

#include "base/clock.h"
#include "base/crew.h"
#include "base/shares.h"
#include "base/table.h"
#include "jit/jit.h"
#include "jit/jit_debts.h"
#include "jit/jit_file.h"

#include <pthread.h>

/* A program's files are read for this time after its generated code was last sampled. */
#define JIT_MET_NS (10 * NSEC_PER_SEC)

enum {
	JIT_PROVIDERS = 2,
	JIT_UNDER_WAY = 16, /* a reading takes a megabyte */
	JIT_LOOKS = 65536,
};

/* Hashed and compared as bytes. */
struct jit_program_key {
	uint64_t pid, began_ns;
};

struct jit_program {
	struct jit_program_key key;
	uint32_t number, owner;
	uint8_t runtime; /* jit/jit_runtime.h */
	struct jit_codes codes;
	size_t bytes;          /* of the codes */
	uint32_t readings;     /* that have told something */
	uint32_t fresh;        /* the first of them since the last drain began; 0: none */
	uint32_t fresh_before; /* the same for the drain before */
	bool is_waiting;       /* is to be read */
	bool is_read, is_out;  /* a reading is under way; it was removed meanwhile */
	bool is_behind;        /* its files may have more than was read up to the last drain */
	bool is_incomplete;    /* they have more than the latest reading has read */
	struct jit_ranges gone, gone_before; /* of code that `fresh` readings have replaced */
	struct jit_where where;
	struct jit_file files[JIT_PROVIDERS]; /* of the reading, while there is one */
	uint64_t met_ns, due_ns, rest_ns;     /* due: files are to be opened */
	uint64_t looked_ns;                   /* when its jitdump was looked for in its mappings */
	UT_hash_handle hh, hh_number;
	struct jit_program *prev, *next; /* those met longest ago first */
};

struct jit {
	struct crew *crew;
	pthread_mutex_t lock;
	struct jit_program *by_key, *by_number, *by_use;
	struct shares programs, bytes;
	struct shares under_way; /* readings */
	struct shares looks;     /* mappings looked at since the last drain */
	uint32_t round;          /* number of drains */
	struct jit_debts debts;
	uint32_t last_number;
	struct jit_stats stats;
};

/* The lock is held by the caller, if other threads may ask. */
struct jit_program *jit_program_find(const struct jit *jit, uint32_t number);
/* Adds what was told, if there is room; `told` may keep some of it. */
void jit_program_lay(struct jit *jit, struct jit_program *program, struct jit_codes *told);
/* Requests a reading of the program's files, if one is due and may be made. */
void jit_reading_begin(struct jit *jit, struct jit_program *program);
/* For a program that is no longer in the table: has its files closed, and frees it. */
void jit_program_free(struct jit *jit, struct jit_program *program);
/* Has the files closed by a job of the crew; without one the kernel does it when the daemon has
 * ended. */
void jit_files_close(struct jit *jit, struct jit_program *program);
