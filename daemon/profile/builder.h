/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct builder - makes a struct profile. Every function that returns an id interns: the same
 * thing gives the same id, and samples of the same path and task add up. The first failed
 * allocation sticks; ids are 0 from then on and builder_seal() says -ENOMEM. Owned by one thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

struct builder;

struct builder *builder_new(void); /* NULL when out of memory */
void builder_free(struct builder *builder);
DEFINE_CLEANUP(struct builder *, builder_free)

uint32_t builder_string(struct builder *builder, const char *bytes,
                        size_t len); /* ends at a NUL, too */
uint32_t builder_text(struct builder *builder, const char *string);
uint32_t builder_mapping(struct builder *builder, const struct mapping *mapping);
uint32_t builder_location(struct builder *builder, uint32_t mapping, uint64_t address);
uint32_t builder_node(struct builder *builder, uint32_t parent, uint32_t location);
uint32_t builder_task(struct builder *builder, const struct task *task);
uint32_t builder_function(struct builder *builder, const struct function *function);
/* Names a location; the lines of one location are given one after the other, innermost first. */
void builder_line(struct builder *builder, uint32_t location, uint32_t function, uint32_t number);
/* Gives a location that has one line another function. */
void builder_rename(struct builder *builder, uint32_t location, uint32_t function);
/* Makes another of a task, for all its samples. They are not added up with those of one that is so
 * already. */
void builder_change_task(struct builder *builder, uint32_t id, const struct task *task);
/* Puts a location under another mapping, as symbolizing finds out which kernel module it is in. */
void builder_move(struct builder *builder, uint32_t location, uint32_t mapping);
void builder_sample(struct builder *builder, uint32_t node, uint32_t task,
                    const uint64_t values[PROFILE_VALUES]);
/* Puts a sample under another path and task. It is not added up with one that is there. */
void builder_move_sample(struct builder *builder, uint32_t sample, uint32_t node, uint32_t task);
void builder_comment(struct builder *builder, const char *comment);
void builder_value_type(struct builder *builder, const char *type, const char *unit);
/* Which of the types people look at first, once all are there. */
void builder_show(struct builder *builder, uint32_t type);
void builder_period(struct builder *builder, const char *type, const char *unit, uint64_t period);
void builder_time(struct builder *builder, uint64_t start_mono_ns, uint64_t start_wall_ns,
                  uint64_t duration_ns);
void builder_ticks(struct builder *builder, const struct ticks *ticks); /* adds */

/* The profile as built so far: the tables move when something is added, so look again after that.
 */
const struct profile *builder_view(const struct builder *builder);
int builder_error(const struct builder *builder); /* 0 or -ENOMEM, sticky */
/* Whether this string was interned. */
bool builder_has_text(const struct builder *builder, const char *string);
size_t builder_memory(const struct builder *builder); /* bytes it holds */
/* Ends building; the builder is empty afterwards and may only be freed. */
int builder_seal(struct builder *builder, struct profile **ret_profile);
