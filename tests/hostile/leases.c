/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Leases: maps executables in FOLDER whose open() by another process blocks for the kernel's
 * lease-break time of 45 seconds: COUNT of them at once, and then another one each second.
 *
 * The daemon must go on answering, start, drain and name other files as if these did not exist. No
 * thread that also serves other users may wait in open().
 */
#include "tiny_elf.h"

/* Takes a lease. Only the owner of a file can, and only while no other process has it open. */
static void lease_one(int folder, long index)
{
	char name[32];

	snprintf(name, sizeof(name), "leased%ld", index);
	int fd = make_tiny_elf(folder, name, (uint64_t)index);

	need(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "F_SETLEASE");
	map_page(fd, 0);
}

int main(int argc, char **argv)
{
	int folder = open(argc > 1 ? argv[1] : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long count = number(argc, argv, 2, 2);

	need(folder >= 0, "FOLDER");
	/* The kernel sends SIGIO when a process waits for the lease; by default it kills. */
	signal(SIGIO, SIG_IGN);
	for (long i = 0; i < count; i++)
		lease_one(folder, i);
	say_ready();
	for (long i = count;; i++) {
		sleep(1);
		lease_one(folder, i);
	}
}
