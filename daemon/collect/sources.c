/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of profile kinds, made from the list that the kernel half uses as well.
 */
#include "collect/source.h"

#define KIND(name) [KIND_##name] = &source_##name,
const struct source *const sources[KIND_COUNT] = {PROFILE_KINDS(KIND)};
#undef KIND
