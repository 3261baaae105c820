/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct elf - a checked view of an ELF file of unknown origin. libelf is used only behind this
 * interface; every offset and size that is returned has been compared with the file's size. A
 * struct elf is constant once open: a walk over the symbols reads what it needs and frees that at
 * its end.
 */
#pragma once

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

/* A loadable segment, as in the program header. */
struct segment {
	uint64_t offset, file_bytes, address, memory_bytes;
	bool executable;
};

/* -ENOEXEC when it is not an ELF file that can be read here, -ENOMEM. The caller keeps the
 * descriptor or the bytes, which must outlive the elf. The bytes are not written to. */
int elf_open_fd(int fd, struct elf **ret_elf);
int elf_open_bytes(const void *bytes, size_t len, struct elf **ret_elf);
void elf_free(struct elf *elf);
DEFINE_CLEANUP(struct elf *, elf_free)

/* Whether the file has a complete and plausible table of section headers. A file without one is
 * read by its segments only: it has no symbols and no sections, which is not an error. */
bool elf_has_sections(const struct elf *elf);
const struct segment *elf_segments(const struct elf *elf, size_t *ret_count);
/* The segment of .eh_frame_hdr, from PT_GNU_EH_FRAME, for a file without sections; otherwise NULL.
 * A file with sections is read by section names, because the segments of a separate debug file no
 * longer match its contents. */
const struct segment *elf_frame_header(const struct elf *elf);
/* The same segment for any file. */
const struct segment *elf_frame_index(const struct elf *elf);
/* The GNU build ID, or the raw bytes of the Go build ID; NULL when there is neither. */
const uint8_t *elf_build_id(const struct elf *elf, size_t *ret_len);

/* Calls fn for each defined function symbol of .symtab and .dynsym. `name` is NUL-terminated and
 * valid until fn returns. The walk stops when fn returns non-zero, and returns that value. */
typedef int elf_symbol_fn(const char *name, uint64_t address, uint64_t size, bool global,
                          void *ctx);
int elf_each_symbol(const struct elf *elf, elf_symbol_fn *fn, void *ctx);
/* The same for variables. */
int elf_each_variable(const struct elf *elf, elf_symbol_fn *fn, void *ctx);
/* Whether all symbol tables fit in memory. A walk leaves out a table that does not fit and goes on
 * with the others, because some names are better than none. */
bool elf_symbols_fit(const struct elf *elf);
/* The same for the stubs through which calls into other files go. Stubs have no symbols of their
 * own: they are named NAME@plt after their target, and are never global. x86-64 and arm64. Returns
 * 0, -ENOMEM, or what fn returned. A stub that cannot be understood is left out. */
int elf_each_stub(const struct elf *elf, elf_symbol_fn *fn, void *ctx);

/* Why libelf or libdw has failed: -ENOMEM, or `otherwise`. Their errors have no public numbers, but
 * malloc() sets errno, which must have been 0 before the call. */
static inline int elf_failure(int otherwise)
{
	return errno == ENOMEM ? -ENOMEM : otherwise;
}

/* e_machine and e_entry of the file header. */
uint16_t elf_machine(const struct elf *elf);
uint64_t elf_entry(const struct elf *elf);

/* A copy of a section, decompressed. */
struct elf_section {
	uint8_t *bytes; /* free() it */
	size_t len;
	uint64_t address; /* own address; 0 for a section that is not loaded */
};

/* -ENOENT when there is no such section with contents, -EBADMSG when it is broken, -E2BIG when it
 * is larger than `max_bytes`, -ENOMEM. */
int elf_read_section(const struct elf *elf, const char *name, size_t max_bytes,
                     struct elf_section *ret_section);
bool elf_has_section(const struct elf *elf, const char *name);
/* The own addresses from the first section with code to the end of the last one. A segment that is
 * mapped executable may also hold data: NVIDIA's libraries have a hundred times as much of it as
 * code. False: the file has no sections, or none with code. */
bool elf_code(const struct elf *elf, uint64_t *ret_start, uint64_t *ret_end);
/* Reads the bytes that are loaded at an own address. -EFAULT when the file does not hold all of
 * them. */
int elf_read_address(const struct elf *elf, uint64_t address, void *into, size_t len);
/* Where in the file the byte at an own address is. False: no segment of the file holds it. */
bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret_offset);
/* Calls fn for the own address that each relative relocation makes data point to, including packed
 * RELR relocations. The walk stops when fn returns non-zero, and returns that value. */
typedef int elf_address_fn(uint64_t address, void *ctx);
int elf_each_relative(const struct elf *elf, elf_address_fn *fn, void *ctx);
/* The same, with the place of each pointer. The file may hold any value at that place. */
typedef int elf_pointer_fn(uint64_t place, uint64_t address, void *ctx);
int elf_each_pointer(const struct elf *elf, elf_pointer_fn *fn, void *ctx);
