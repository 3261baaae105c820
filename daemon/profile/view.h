/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * enum view - kinds of profile that nothing records: they show what other kinds have recorded.
 * Pure.
 */
#pragma once

struct builder;

/* VIEW(name, title, summary, counted): `name` is also that of their nanoseconds. */
#define VIEWS(VIEW)                                                             \
	VIEW(wall, "All time", "all time of threads, running or not", "events") \
	VIEW(lock, "Locks", "time that threads wait for locks, by the lock", "waits")

#define VIEW(name, title, summary, counted) VIEW_##name,
enum view { VIEW_NONE, VIEWS(VIEW) VIEW_COUNT };
#undef VIEW

struct view_about {
	const char *name, *title, *summary;
	const char *counted; /* what its first value counts */
};

extern const struct view_about views[VIEW_COUNT]; /* all NULL for VIEW_NONE */

enum view view_find(const char *name); /* VIEW_NONE: there is no such view */
/* Gives a profile its value types and period. */
void view_describe(enum view view, struct builder *into);
