/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The exporters to files of a directory: profiles in pprof's format, for other programs, and packed
 * ones, for profd itself.
 */
#include "export/exporter.h"
#include "past/past.h"

static bool directory_accepts(const char *place)
{
	return place[0] == '/';
}

const struct exporter exporter_directory = {
	.name = "directory",
	.accepts = directory_accepts,
	.put = profile_files_put,
	.encoder = &encoder_pprof,
};

const struct exporter exporter_history = {
	.name = "history",
	.accepts = directory_accepts,
	.put = profile_files_put,
	.encoder = &encoder_past,
	.is_past = true,
};
