/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_pages - the bytes of a section, read as they are needed. Address space for the whole
 * section is reserved; memory is used only for what was read.
 */
#pragma once

#include "base/cleanup.h"
#include "elf/elf.h"

struct frame_pages;

/* `address` is an own address. NULL when out of memory. */
struct frame_pages *frame_pages_new(const struct elf *elf, uint64_t address, size_t len);
void frame_pages_free(struct frame_pages *pages);
/* The bytes of the whole section; those that are not loaded are 0. */
const uint8_t *frame_pages_bytes(const struct frame_pages *pages);
/* Loads a range. False: the file does not hold it. */
bool frame_pages_load(struct frame_pages *pages, size_t offset, size_t len);
