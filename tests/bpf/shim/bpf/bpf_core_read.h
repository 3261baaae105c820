/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name: nothing of it is needed in user space.
 */
#pragma once
