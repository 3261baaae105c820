/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which source line an instruction is of: the three line tables of CPython. Pure; any thread.
 * Formats: Objects/lnotab_notes.txt (3.8, 3.9; 3.10 differs as PEP 626 says),
 * InternalDocs/code_objects.md (3.11 on).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The line of the instruction at `offset` bytes; 0 when the table is cut before it.
 * One of no line has that of the one before.
 */
uint32_t python_line(uint32_t version, const uint8_t *table, size_t len, uint32_t first_line,
                     uint32_t offset);
