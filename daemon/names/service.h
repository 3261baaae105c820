/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The names process: reads symbols and DWARF of files that anybody on the host may have made, where
 * it can do no harm. It is this program, run as `profd names` with a socket to the daemon, as
 * nobody, without capabilities, unable to gain any; what it may hold in memory is limited by the
 * kernel. It gets descriptors and addresses and answers with frames (names/wire.h). It ends when
 * the daemon closes the socket.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The word after the program's name that makes it the names process. */
#define NAMES_COMMAND "names"
enum { NAMES_SOCKET = 3 }; /* the descriptor it finds its end of the socket at */

/* Serves until the other end is closed; the process's exit status. `max_bytes` is the memory it may
 * hold. */
int names_serve(int socket, uint64_t max_bytes);
/* main() of the process: `profd names MAX_BYTES`. EX_USAGE at once when there is no socket. */
int names_main(int argc, char **argv);
