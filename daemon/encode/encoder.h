/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An output format: a sealed profile in, bytes out. An encoder sees the profile, the options and a
 * buffer, and nothing else: no files, no sockets, no clock. Same profile, same bytes. Any thread. A
 * new format is one file and one line in ENCODERS.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

enum sort_order { SORT_FLAT, SORT_CUM };

struct encode_options {
	enum sort_order sort; /* of tables */
	uint32_t rows;        /* of tables; 0 is all */
};

struct encoder {
	const char *name;    /* /profile?format=NAME */
	const char *summary; /* one line for the index page and --help */
	const char *content_type;
	const char *suffix; /* of a downloaded file, with its dot; "" when it is meant to be read at
	                       once */
	int (*encode)(const struct profile *profile, const struct encode_options *options,
	              struct buf *out);
};

#define ENCODERS(ENCODER) ENCODER(pprof) ENCODER(folded) ENCODER(text)

#define ENCODER(name) extern const struct encoder encoder_##name;
ENCODERS(ENCODER)
#undef ENCODER

/* Ends with NULL. */
extern const struct encoder *const encoders[];
const struct encoder *encoder_find(const char *name); /* NULL when there is none of that name */
