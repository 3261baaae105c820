/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The room: the folder in which the downloading process works, and the only one that it can write
 * to. If that process has another user than the daemon, it must be able to write there, but no
 * other user may. So the folder is open to all users, inside a folder that only the daemon may
 * enter.
 */
#pragma once

/* For the daemon: makes or opens the room in `folder`. Returns a descriptor, or a negative errno.
 */
int room_open(int folder);
/* For the process, before it loads anything: enters the room, and removes what an earlier process
 * left there. From then on, if the kernel has Landlock, the process can open nothing else for
 * writing, and for reading only what libraries, host names and certificates need. 0 or a negative
 * errno. */
int room_enter(int room);
/* Removes everything in the room that belongs to this user. */
void room_clear(int room);
