/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a reader process may still ask the kernel for once it is confined: what reading files takes,
 * and nothing that writes one, makes a process, a socket or executable memory. By seccomp(2), for
 * good; with anything else it is killed.
 */
#pragma once

#include <stdbool.h>

/* False in a build with sanitizers, which do much else: then installing does nothing. */
bool filter_works(void);
/* Wants no_new_privs. 0, or a negative errno: then do not go on. */
int filter_install(void);
