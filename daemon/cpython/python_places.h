/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a frame of a program is: the names and the line of its code object, read from the memory of
 * the process, for frames that no BPF program has walked. Bounded like struct python_objects; any
 * thread.
 */
#pragma once

#include "cpython/python_objects.h"

struct python_place {
	struct buf function, file; /* UTF-8; "" if not known */
	uint32_t line;             /* 0: not known */
	uint32_t first_line;       /* of the function */
};

/* Reads the place of the instruction at an address of the process; 0: the first line of the
 * function. False: it is no code object. The place is released in any case. */
bool python_place_read(struct python_objects *objects, uint64_t code, uint64_t instruction,
                       struct python_place *ret_place);
void python_place_release(struct python_place *place);
