/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct exporter - a way out of the daemon besides HTTP: it gets the bytes of each recorded
 * profile and puts them somewhere. It may take its time, because it has a lane of its own, and one
 * profile at a time. What it could not put comes again with the next profile of that kind. A new
 * exporter is one file and one line in EXPORTERS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A profile of one kind of an interval. The intervals of one kind follow each other without a gap.
 */
struct exported {
	const char *host, *kind;
	const char *suffix; /* of a file, with its dots */
	uint64_t start_unix_ns;
	const void *bytes;
	size_t len;
};

struct exporter {
	const char *name; /* --export NAME:PLACE */
	bool (*accepts)(const char *place);
	/* Puts a profile at a place, which may hold `max_bytes` of profiles: the oldest ones make
	 * room. 0 or a negative errno; -EFBIG if the profile alone is too large. On a worker
	 * thread. */
	int (*put)(const char *place, uint64_t max_bytes, const struct exported *profile);
};

#define EXPORTERS(EXPORTER) EXPORTER(directory)

#define EXPORTER(name) extern const struct exporter exporter_##name;
EXPORTERS(EXPORTER)
#undef EXPORTER

/* Finds the exporter of "NAME:PLACE", and the place. NULL: there is none of that name, or it does
 * not accept the place. */
const struct exporter *exporter_find(const char *target, const char **ret_place);
