/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_pages - a section's bytes, of which only those that were needed are there: room for
 * all of it is taken, and memory for what is read.
 */
#pragma once

#include "base/cleanup.h"
#include "object/elf.h"

struct frame_pages;

/* Of own addresses. NULL when out of memory. */
struct frame_pages *frame_pages_new(const struct elf *elf, uint64_t address, size_t len);
void frame_pages_free(struct frame_pages *pages);
/* All of them; those that are not loaded are 0. */
const uint8_t *frame_pages_bytes(const struct frame_pages *pages);
/* Makes a range be there; false when the file does not hold it. */
bool frame_pages_load(struct frame_pages *pages, size_t offset, size_t len);
