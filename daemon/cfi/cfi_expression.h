/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reduces DWARF expressions of call frame information to the forms that a row can hold. Expressions
 * are evaluated with symbols in place of register values, so it does not matter how a form is
 * written. What no form covers becomes CFA_OTHER or SAVE_OTHER.
 */
#pragma once

#include "cfi/frame_row.h"

#include <stddef.h>

/* DW_CFA_def_cfa_expression. */
struct cfa cfi_expression_cfa(const uint8_t *bytes, size_t len);
/* DW_CFA_expression: the expression computes the address where the register was saved. */
struct save cfi_expression_save(const uint8_t *bytes, size_t len);
/* DW_CFA_val_expression: the expression computes the register's value. */
struct save cfi_expression_value(const uint8_t *bytes, size_t len);
