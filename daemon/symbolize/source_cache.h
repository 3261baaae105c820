/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct source_cache - the lines of the source files that one answer shows. Any thread may own
 * one.
 */
#pragma once

#include "symbolize/source_text.h"

struct source_cache;

/* The budget for reading files for one answer: other requests wait meanwhile, and a user's program
 * may name any number of files of any size. Once it is used up, lines are shown without their text.
 */
extern const struct source_budget source_cache_budget;

/* Files are read by `aside`. NULL when out of memory. */
struct source_cache *source_cache_new(const struct source_budget *budget, struct aside *aside);
void source_cache_free(struct source_cache *cache);
DEFINE_CLEANUP(struct source_cache *, source_cache_free)
/* source_text_line() of a file, which is read when it is first needed. The text is valid until the
 * next call; NULL also when the file cannot be read, or after too many files. */
const char *source_cache_line(struct source_cache *cache, const struct source_root *root,
                              const char *file, uint32_t number);
