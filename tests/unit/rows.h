/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Short notation for rows and operations of x86-64.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "cfi/frame_row.h"
#include "unwind/op.h"

#define SP                      X86_REG_SP
#define FP                      X86_REG_FP
#define CFA(reg, offset)        ((struct cfa){CFA_REGISTER, reg, offset, 0})
#define SAVE(kind, reg, offset) ((struct save){kind, reg, offset})
#define SAME                    SAVE(SAVE_SAME, 0, 0)
#define AT(off)                 SAVE(SAVE_AT_CFA, 0, off)
#define RA                      AT(-8)
#define NONE                    OP_OF_NAME(OP_NONE)
#define UNKNOWN                 OP_OF_NAME(OP_UNSUPPORTED)
#define RULE                    ((uint32_t)OP_RULE << OP_BASE_SHIFT)
/* sp + 8 * n; only the return address is saved. */
#define PLAIN(n) ((uint32_t)(n) << X86_CFA_SHIFT)
