/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads a static probe's arguments from where its note says that they are.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/static_probe.h"

struct static_site_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct static_site);
	__uint(max_entries, STATIC_SITES);
};

extern struct static_site_map static_sites SEC(".maps");

/* 0 for a number that is no register. */
static __always_inline u64 static_register(const struct scratch *scratch, u8 number)
{
	return number < MAX_REGS ? scratch->regs[number] : 0;
}

static __always_inline u64 static_memory(const struct scratch *scratch,
                                         const struct static_arg *arg, u64 bytes)
{
	u64 at = static_register(scratch, arg->base) + arg->value, value = 0;

	if (arg->index != STATIC_NO_REGISTER)
		at += static_register(scratch, arg->index) * arg->scale;
	barrier_var(bytes);
	if (bytes > sizeof(value) || bpf_probe_read_user(&value, bytes, (void *)at))
		return 0;
	return value;
}

/* The value of an argument; the registers are in the scratch. */
static __always_inline u64 static_argument(const struct scratch *scratch,
                                           const struct static_arg *arg)
{
	u64 value = arg->value;
	u32 unused = (64 - arg->bytes * 8) & 63;

	if (arg->place == STATIC_REGISTER)
		value = static_register(scratch, arg->base) >> (arg->shift & 63);
	else if (arg->place == STATIC_MEMORY)
		value = static_memory(scratch, arg, arg->bytes);
	value <<= unused;
	return arg->is_signed ? (u64)((s64)value >> unused) : value >> unused;
}
