/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Machine code of functions for programs that generate code: `leaf_code` multiplies as often as its
 * argument says, and `outer_code` calls its first argument with the second one.
 */
#pragma once

#include <stdint.h>

/* Both keep a frame pointer. */
#ifdef __x86_64__
static const uint8_t leaf_code[] = {
	0x55,                                     /* push %rbp */
	0x48, 0x89, 0xe5,                         /* mov %rsp, %rbp */
	0xb8, 1,    0,    0,    0,                /* mov $1, %eax */
	0x48, 0x69, 0xc0, 0x2d, 0x7f, 0x95, 0x4c, /* imul $0x4c957f2d, %rax, %rax */
	0x48, 0xff, 0xcf,                         /* dec %rdi */
	0x75, 0xf4,                               /* jnz to the imul */
	0x5d, 0xc3,                               /* pop %rbp; ret */
};
static const uint8_t outer_code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,       /* call *%rax */
	0x5d, 0xc3,       /* pop %rbp; ret */
};
#else
static const uint32_t leaf_code[] = {
	0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xd2800021,             /* mov x1, #1 */
	0x9b017c21,             /* mul x1, x1, x1 */
	0xf1000400, 0x54ffffc1, /* subs x0, x0, #1; b.ne to the mul */
	0xa8c17bfd, 0xd65f03c0, /* ldp x29, x30, [sp], #16; ret */
};
static const uint32_t outer_code[] = {
	0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xaa0003e2, 0xaa0103e0, /* mov x2, x0; mov x0, x1 */
	0xd63f0040,             /* blr x2 */
	0xa8c17bfd, 0xd65f03c0, /* ldp x29, x30, [sp], #16; ret */
};
#endif
