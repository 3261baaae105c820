/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `profd doctor`: what of this host profd can use, found out by trying it in the daemon's own way
 * wherever it can be tried. Changes nothing and leaves nothing behind; needs no privileges to say
 * what is missing. Nothing else runs in this process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The settings that what is found depends on. */
struct doctor_options {
	bool json;
	uint32_t sample_hz;
	const char *const *listen;
	size_t listen_count;
	const char *debuginfod; /* NULL: no servers */
};

/* Writes a line each to standard output, or JSON. The exit status: 0 when `profd serve` can work
 * here, if not with everything; 1 when it cannot; EX_IOERR when this cannot be written. */
int doctor_run(const struct doctor_options *options);
