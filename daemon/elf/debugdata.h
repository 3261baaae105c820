/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * .gnu_debugdata, "MiniDebugInfo": a compressed (xz) ELF file inside a stripped file, with the
 * symbols that .dynsym lacks. Described in GDB's manual. Any thread.
 */
#pragma once

#include "elf/elf.h"

#include <stdlib.h>

/* Decompresses the inner file; free() the bytes. -ENOENT when there is none, -EBADMSG when it is
 * broken, -E2BIG when it would be larger than `max_bytes`, -ENOMEM. */
int debugdata_read(const struct elf *elf, size_t max_bytes, uint8_t **ret_bytes, size_t *ret_len);
