/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_file - libdw's handle of one file, which is mapped, not read: DWARF has been seen of
 * several GB, little of it asked about. A file cut short meanwhile raises SIGBUS.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stddef.h>

struct dwarf_file {
	Elf *elf;
	Dwarf *dwarf;
	size_t memory; /* bytes of sections that had to be decompressed */
};

/* `fd` must outlive it. -ENODATA when the file has no DWARF, -EBADMSG. */
int dwarf_file_open(int fd, struct dwarf_file *ret_file);
/* Gives back what libdw has kept; all that came from it is gone, and there is no handle. */
void dwarf_file_forget(struct dwarf_file *file);
/* Another one after that. -ENOMEM may be tried again. */
int dwarf_file_reopen(struct dwarf_file *file);
void dwarf_file_close(struct dwarf_file *file);
