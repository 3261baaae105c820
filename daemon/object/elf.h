/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct elf - a checked view of an ELF file of unknown origin. libelf is used behind this file
 * only; every offset and size it hands out was compared with the file's. Constant once open: what
 * the symbols need is read for each walk over them and given back after it.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

/* A loadable segment, as the program header has it. */
struct segment {
	uint64_t offset, file_bytes, address, memory_bytes;
	bool executable;
};

/* -ENOEXEC when it is no ELF file that can be read here, -ENOMEM. The descriptor stays the caller's
 * and must outlive the elf; the bytes must outlive it and are not written to. */
int elf_open_fd(int fd, struct elf **ret_elf);
int elf_open_bytes(const void *bytes, size_t len, struct elf **ret_elf);
void elf_free(struct elf *elf);
DEFINE_CLEANUP(struct elf *, elf_free)

/* A table of section headers that an executable can have, and all of it. A file without one is read
 * by its segments: it has no symbols and no sections, which is no error. */
bool elf_has_sections(const struct elf *elf);
const struct segment *elf_segments(const struct elf *elf, size_t *ret_count);
/* Where PT_GNU_EH_FRAME says .eh_frame_hdr is, for a file without sections; else NULL, for
 * sections are better known by name, and in a separate debug file segments are not what they were.
 */
const struct segment *elf_frame_header(const struct elf *elf);
/* The same for any file. */
const struct segment *elf_frame_index(const struct elf *elf);
/* The GNU build ID, else the Go one's bytes as they stand; NULL when there is none. */
const uint8_t *elf_build_id(const struct elf *elf, size_t *ret_len);

/* Calls fn for each defined function symbol of .symtab and .dynsym. `name` is NUL-terminated and
 * lives until fn returns. Stops when fn returns non-zero and returns that. */
typedef int elf_symbol_fn(const char *name, uint64_t address, uint64_t size, bool global,
                          void *ctx);
int elf_each_symbol(const struct elf *elf, elf_symbol_fn *fn, void *ctx);
/* The same for variables. */
int elf_each_variable(const struct elf *elf, elf_symbol_fn *fn, void *ctx);
/* Whether there is memory for all tables of symbols. The walks leave out one that there is none
 * for, with its names, and go on: for who asks for names those in other places are better than
 * none. */
bool elf_symbols_fit(const struct elf *elf);
/* The same for the stubs that calls into other files go through, which have no symbols of their
 * own: named NAME@plt after what they jump to, never global. x86-64 and arm64. 0, -ENOMEM, or what
 * fn returned: what cannot be understood has no name. */
int elf_each_stub(const struct elf *elf, elf_symbol_fn *fn, void *ctx);

/* e_machine and e_entry of the file header. */
uint16_t elf_machine(const struct elf *elf);
uint64_t elf_entry(const struct elf *elf);

/* A copy of a section, decompressed. */
struct elf_section {
	uint8_t *bytes; /* free() it */
	size_t len;
	uint64_t address; /* own address; 0 for a section that is not loaded */
};

/* -ENOENT when there is no such section with contents, -EBADMSG when it is broken, -E2BIG over
 * `max_bytes`, -ENOMEM. */
int elf_read_section(const struct elf *elf, const char *name, size_t max_bytes,
                     struct elf_section *ret_section);
bool elf_has_section(const struct elf *elf, const char *name);
/* Bytes as they are loaded at an own address; -EFAULT when the file does not hold all of them. */
int elf_read_address(const struct elf *elf, uint64_t address, void *into, size_t len);
/* Where in the file the byte at an own address is; false when no segment has it from there. */
bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret_offset);
/* Calls fn for each own address that a relative relocation makes data point at (packed RELR ones
 * too); stops when it returns non-zero and returns that. */
typedef int elf_address_fn(uint64_t address, void *ctx);
int elf_each_relative(const struct elf *elf, elf_address_fn *fn, void *ctx);
/* The same with the place of each such pointer, which in the file may hold anything. */
typedef int elf_pointer_fn(uint64_t place, uint64_t address, void *ctx);
int elf_each_pointer(const struct elf *elf, elf_pointer_fn *fn, void *ctx);
