/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name: every field that is asked for exists.
 */
#pragma once

#define bpf_core_field_exists(field) (sizeof(field) != 0)
