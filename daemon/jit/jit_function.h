/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Places in generated code as functions of a profile. No state.
 */
#pragma once

#include "jit/jit.h"
#include "profile/builder.h"

/* Code that has no name because other code was told at its place while it was sampled. */
#define JIT_REPLACED_FRAME "[jit: code was replaced]"

uint32_t jit_function(struct builder *builder, const struct jit_place *place);
/* Where a place that has a name is in a profile: in this mapping, at an address that is equal
 * wherever name, file and line are equal. */
uint32_t jit_mapping(struct builder *builder);
uint64_t jit_address(const struct jit_place *place);
/* See struct jit_name. */
bool jit_is_trampoline(const struct jit_place *place);
