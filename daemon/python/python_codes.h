/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_codes - the code objects that were seen on stacks, by the signature that samples
 * refer to them with: function, file, first line and line table, copied while they ran. Bounded in
 * bytes: when there are too many, the user whose programs have the most bytes loses the code object
 * that has been unused for longest. Those that were not met for six minutes are forgotten: most
 * of them are those of programs that have ended. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "bpf/python.h"
#include "runtimes/runtime.h"

#include <stdbool.h>
#include <stddef.h>

struct python_codes;

#define PYTHON_CODES_STATS(STAT)                                                              \
	STAT(codes, gauge, "Python code objects whose names are kept")                        \
	STAT(code_bytes, gauge, "Memory of the names and line tables of Python code objects") \
	STAT(codes_evicted, counter, "Python code objects evicted for lack of room")          \
	STAT(lines_put_off, counter,                                                          \
	     "Long line tables of Python code not read yet because "                          \
	     "their user's share was used up")                                                \
	STAT(codes_broken, counter, "Malformed reports of Python code objects")

struct python_codes_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHON_CODES_STATS(STAT)
#undef STAT
};

struct python_codes *python_codes_new(size_t max_bytes); /* NULL when out of memory */
void python_codes_free(struct python_codes *codes);
DEFINE_CLEANUP(struct python_codes *, python_codes_free)

/* Sets the crew that fetches line tables, before the first code object is added; the crew must be
 * stopped before the codes are freed. Without a crew, or with NULL, line tables are fetched
 * synchronously, however long that takes. `execs` as in bpf/execs.h. */
void python_codes_fetch_by(struct python_codes *codes, struct crew *crew, const uint64_t *execs);
/* Sets the PYTHON_SENT signatures that the kernel half has reported, which it shares. A signature
 * that is looked for in vain is taken out, so that it is reported again. */
void python_codes_told_in(struct python_codes *codes, u64 *told);
/* Adds what the kernel half reports: a struct python_code and what follows it, from a program of
 * that user. A line table that was too long for the report is fetched from the process, if the
 * process still lives and still has the table; until then only the reported part is known. Users
 * have shares of what is fetched in a second; what exceeds them is reported again some seconds
 * later, if it is looked for then. -EBADMSG, -ENOMEM. */
int python_codes_add(struct python_codes *codes, uint32_t owner_id, const void *bytes, size_t len);
/* Finds what a frame's two words (bpf/words.h) stand for. False: the signature was never reported,
 * or is forgotten. */
bool python_codes_find(struct python_codes *codes, uint64_t signature, uint32_t offset,
                       struct runtime_frame *ret_frame);
/* Sets the time. Forgets what was not met for long, once a minute; the kernel half reports such a
 * code object again when it meets it. */
void python_codes_rest(struct python_codes *codes, uint64_t now_mono_ns);
void python_codes_get_stats(const struct python_codes *codes, struct python_codes_stats *ret_stats);
