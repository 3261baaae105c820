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
/* The same for a process that loads a library of somebody's driver, which opens devices and maps
 * its own code: nobody knows all that it asks for. Refused with EPERM is what it has no reason for:
 * other programs, signals to other processes, tracing, sockets but unix and netlink ones, and what
 * only root may. Copies of itself it may make, for clone(2) is for threads, too. To be called in
 * the process itself. */
int filter_install_for_devices(void);
/* The same for a process that loads a library that talks to servers: more is refused, for instance
 * copies of itself, but sockets of the Internet are not. */
int filter_install_for_servers(void);
