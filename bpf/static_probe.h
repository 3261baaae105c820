/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Static probes (USDT) to which profd attaches: where a probe's arguments are, as its note says.
 * The daemon writes them to the array static_sites; a probe's cookie is its index in that array.
 */
#pragma once

#include "bpf/abi.h"

enum { STATIC_SITES = 1024, STATIC_ARGS = 6, STATIC_NO_REGISTER = 0xff };
enum static_place { STATIC_CONSTANT, STATIC_REGISTER, STATIC_MEMORY };

struct static_arg {
	u8 place, bytes, is_signed;
	u8 base, index; /* registers by their DWARF numbers */
	u8 scale, shift, unused;
	u64 value; /* the constant, or the displacement of the address; two's complement */
};

struct static_site {
	struct static_arg args[STATIC_ARGS];
};
_Static_assert(sizeof(struct static_site) == 96, "shared layout");
