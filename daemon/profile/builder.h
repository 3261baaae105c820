/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct builder - makes a struct profile. Every function that returns an id interns: the same
 * input gives the same id, and samples of the same path and task are added up. After the first
 * failed allocation all ids are 0, and builder_seal() returns -ENOMEM. Owned by one thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

struct builder;

struct builder *builder_new(void); /* NULL when out of memory */
void builder_free(struct builder *builder);
DEFINE_CLEANUP(struct builder *, builder_free)

uint32_t builder_string(struct builder *builder, const char *bytes,
                        size_t len); /* also ends at a NUL */
uint32_t builder_text(struct builder *builder, const char *string);
uint32_t builder_mapping(struct builder *builder, const struct mapping *mapping);
uint32_t builder_location(struct builder *builder, uint32_t mapping, uint64_t address);
uint32_t builder_node(struct builder *builder, uint32_t parent, uint32_t location);
uint32_t builder_task(struct builder *builder, const struct task *task);
uint32_t builder_function(struct builder *builder, const struct function *function);
/* Adds a line to a location. The lines of one location are added one after the other, the innermost
 * first. */
void builder_line(struct builder *builder, uint32_t location, uint32_t function, uint32_t number);
/* Replaces the function of a location that has one line. */
void builder_rename(struct builder *builder, uint32_t location, uint32_t function);
/* Replaces a task, for all its samples. They are not added up with the samples of an equal task. */
void builder_change_task(struct builder *builder, uint32_t id, const struct task *task);
/* The location of something that is not code in a file, by its name in brackets. */
uint32_t builder_pseudo(struct builder *builder, const char *name);
/* Moves a location to another mapping and address. Symbolizing does that when it finds the kernel
 * module of an address, and the name of generated code. */
void builder_move(struct builder *builder, uint32_t location, uint32_t mapping, uint64_t address);
void builder_sample(struct builder *builder, uint32_t node, uint32_t task,
                    const uint64_t values[PROFILE_VALUES]);
/* Moves a sample to another path and task. It is not added up with a sample that is already
 * there. */
void builder_move_sample(struct builder *builder, uint32_t sample, uint32_t node, uint32_t task);
/* Removes samples; `drops` is by sample. Call when all samples are added. */
void builder_drop_samples(struct builder *builder, const bool *drops);
void builder_comment(struct builder *builder, const char *comment);
void builder_value_type(struct builder *builder, const char *type, const char *unit);
/* Chooses the type that readers show first. Call when all types are added. */
void builder_show(struct builder *builder, uint32_t type);
void builder_period(struct builder *builder, const char *type, const char *unit, uint64_t period);
void builder_time(struct builder *builder, uint64_t start_mono_ns, uint64_t start_wall_ns,
                  uint64_t duration_ns);
void builder_ticks(struct builder *builder, const struct ticks *ticks); /* adds to the ticks */

/* The profile as built so far. The tables move when something is added, so call this again after
 * that. */
const struct profile *builder_view(const struct builder *builder);
int builder_error(const struct builder *builder); /* 0 or -ENOMEM, sticky */
/* Whether this string was interned. */
bool builder_has_text(const struct builder *builder, const char *string);
size_t builder_memory(const struct builder *builder); /* bytes it holds */
/* Bytes of the profile if it were sealed now; unlike those that it holds, they grow evenly. */
size_t builder_sealed(const struct builder *builder);
/* Ends building; the builder is empty afterwards and may only be freed. */
int builder_seal(struct builder *builder, struct profile **ret_profile);
