/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_file - libdw's handle of one file. The file is mapped, not read, because DWARF may
 * have several GB, of which little is needed. Access to a file that was truncated meanwhile raises
 * SIGBUS.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stddef.h>

struct dwarf_file {
	Elf *elf;
	Dwarf *dwarf;
	size_t memory; /* bytes of sections that had to be decompressed */
};

/* `fd` must outlive the result. -ENODATA when the file has no DWARF, -EBADMSG when it is broken,
 * -ENOMEM. */
int dwarf_file_open(int fd, struct dwarf_file *ret_file);
/* Ends the handle, which frees all data that libdw has kept; all that came from it is invalid. */
void dwarf_file_forget(struct dwarf_file *file);
/* Makes a new handle after that. After -ENOMEM it may be called again. */
int dwarf_file_reopen(struct dwarf_file *file);
void dwarf_file_close(struct dwarf_file *file);
