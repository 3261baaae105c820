/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_codes - the code objects that were met on stacks, by the signature that samples
 * name them with: function, file, first line and line table, copied while they ran. Bounded in
 * bytes: when there are too many, the user whose programs have most of them loses the one that was
 * not asked for longest. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "bpf/python.h"

#include <stdbool.h>
#include <stddef.h>

struct python_codes;

struct python_place {
	const char *function, *file; /* UTF-8; live until there is something new */
	uint32_t line;               /* being executed; 0: not known */
	uint32_t first_line;
	uint32_t version;  /* as in sys.hexversion >> 16 */
	uint64_t identity; /* the same for the same function, file, first line and line anywhere */
};

#define PYTHON_CODES_STATS(STAT)                                                \
	STAT(codes, gauge, "Code objects whose names are kept")                 \
	STAT(code_bytes, gauge, "Memory of their names and line tables")        \
	STAT(codes_evicted, counter, "Code objects forgotten for lack of room") \
	STAT(codes_broken, counter, "Descriptions of code objects that made no sense")

struct python_codes_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHON_CODES_STATS(STAT)
#undef STAT
};

struct python_codes *python_codes_new(size_t max_bytes); /* NULL when out of memory */
void python_codes_free(struct python_codes *codes);
DEFINE_CLEANUP(struct python_codes *, python_codes_free)

/* Before the first is added; the crew is stopped before the codes are freed. NULL, as without it:
 * line tables are fetched at once, however long that takes. `execs` as bpf/execs.h has them. */
void python_codes_fetch_by(struct python_codes *codes, struct crew *crew, const uint64_t *execs);
/* Takes what the kernel half tells: a struct python_code and what follows it, of a program of that
 * user. A line table that was too long for that is fetched from the process, if it still lives and
 * still has it; until then it is known as far as it was told. -EBADMSG, -ENOMEM. */
int python_codes_add(struct python_codes *codes, uint32_t owner_id, const void *bytes, size_t len);
/* What a frame's two words (bpf/python.h) stand for. false when the signature was never told, or is
 * forgotten. */
bool python_codes_find(struct python_codes *codes, uint64_t signature, uint32_t offset,
                       struct python_place *ret_place);
void python_codes_get_stats(const struct python_codes *codes, struct python_codes_stats *ret_stats);
