/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `profd doctor`: finds out what of this host profd can use. It tries things in the same way as the
 * daemon wherever it can. It changes nothing, leaves nothing behind, and needs no privileges to
 * report what is missing. Nothing else runs in this process.
 */
#pragma once

#include "doctor/options.h"

/* Writes one line per check to standard output, or JSON. Returns the exit status: 0 if `profd
 * serve` can work here, even if not with everything; 1 if it cannot; EX_IOERR if the output cannot
 * be written. */
int doctor_run(const struct doctor_options *options);
