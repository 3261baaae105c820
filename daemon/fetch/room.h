/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The folder that the process which downloads works in: the only one that it can write into. Where
 * that process is another user than the daemon it must be able to, but nobody else; so the folder
 * is open to all, and stands in one that only the daemon may enter.
 */
#pragma once

/* In the daemon: makes it, or finds it, in the folder. A descriptor, or a negative errno. */
int room_open(int folder);
/* In the process, before it loads anything: goes there, clears away what the one before it has
 * left, and may from now on open nothing else for writing, and for reading only what libraries,
 * names of hosts and certificates need, where the kernel has Landlock. 0 or a negative errno. */
int room_enter(int room);
/* Removes all that is in it, as far as that is this user's. */
void room_clear(int room);
