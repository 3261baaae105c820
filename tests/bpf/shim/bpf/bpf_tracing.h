/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name. User space needs nothing of it.
 */
#pragma once
