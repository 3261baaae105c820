/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which sections of call frame information a file has: .eh_frame, with or without section headers,
 * and .debug_frame. No state; any thread.
 */
#pragma once

#include "cfi/frame_section.h"
#include "elf/elf.h"

enum frame_source { EH_FRAME, DEBUG_FRAME, FRAME_SOURCES };

/* Reads a section. -ENOENT when it is missing, -EBADMSG, -E2BIG, -ENOMEM. */
int frame_sections_load(const struct elf *elf, enum frame_source source,
                        struct frame_section *ret_section);
/* Opens .eh_frame from an own address on; its bytes are read as they are needed. -EBADMSG,
 * -ENOMEM. */
int frame_sections_open(const struct elf *elf, uint64_t address, struct frame_section *ret_section);
void frame_sections_release(struct frame_section *section);
/* Limits the range to the executable segment that it begins in. False: it begins in none. */
bool frame_sections_clip(const struct elf *elf, uint64_t start, uint64_t *end);
