/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name. Every field exists and can be read.
 */
#pragma once

#define bpf_core_field_exists(field) (sizeof(field) != 0)

#define CORE_READ_1(from, a)                     ((from)->a)
#define CORE_READ_2(from, a, b)                  ((from)->a->b)
#define CORE_READ_3(from, a, b, c)               ((from)->a->b->c)
#define CORE_READ_OF(from, a, b, c, chosen, ...) chosen
#define BPF_CORE_READ(from, ...) \
	CORE_READ_OF(from, __VA_ARGS__, CORE_READ_3, CORE_READ_2, CORE_READ_1, )(from, __VA_ARGS__)
