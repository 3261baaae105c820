/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Restricts the system calls of a confined reader process by seccomp(2), irrevocably, to those that
 * reading files requires. It cannot write files, or make processes, sockets or executable memory.
 * Any other call kills the process.
 */
#pragma once

#include <stdbool.h>

/* False in a build with sanitizers, which make many other calls: then the functions below do
 * nothing. */
bool filter_works(void);
/* Requires no_new_privs. 0, or a negative errno: the caller must not continue then. */
int filter_install(void);
/* The same for a process that loads a library of a device driver, which opens devices and maps its
 * own code; not all of its calls are known. Calls that it does not need are refused with EPERM:
 * other programs, signals to other processes, tracing, sockets except unix and netlink ones, and
 * calls that only root may make. It can make copies of itself, because clone(2) also makes threads.
 * Must be called in the process itself. */
int filter_install_for_devices(void);
/* The same for a process that loads a library that talks to servers: more is refused, for example
 * copies of itself, but Internet sockets are allowed. */
int filter_install_for_servers(void);
