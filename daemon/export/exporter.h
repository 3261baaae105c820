/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct exporter - a way out of the daemon besides HTTP: it gets the bytes of each recorded
 * profile and puts them somewhere. It may take its time, because it has a lane of its own, and one
 * profile at a time. The intervals of one kind follow each other without a gap. What it could not
 * put comes again with the next profile of that kind. A new exporter is one file and one line in
 * EXPORTERS.
 */
#pragma once

#include "encode/encoder.h"
#include "past/profile_files.h"

struct exporter {
	const char *name; /* --export NAME:PLACE */
	bool (*accepts)(const char *place);
	/* Puts a profile at a place, which may hold `max_bytes` of profiles: the oldest ones make
	 * room. 0 or a negative errno; -EFBIG if the profile alone is too large. On a worker
	 * thread. */
	int (*put)(const char *place, uint64_t max_bytes, const struct profile_file *profile);
	const struct encoder *encoder;
	/* The place is a directory that past/past.h reads. Profiles are not those that a client
	 * gets, but have all that is recorded, and no comments. */
	bool is_past;
};

#define EXPORTERS(EXPORTER) EXPORTER(directory) EXPORTER(history)

#define EXPORTER(name) extern const struct exporter exporter_##name;
EXPORTERS(EXPORTER)
#undef EXPORTER

/* Finds the exporter of "NAME:PLACE", and the place. NULL: there is none of that name, or it does
 * not accept the place. */
const struct exporter *exporter_find(const char *target, const char **ret_place);
