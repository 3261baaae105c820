/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What relative relocations make data point at. In a position-independent file these are the
 * targets of function pointers and virtual tables. SHT_RELA gives the targets itself; SHT_RELR
 * gives only the places of the pointers, and the file holds the targets there.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "elf/elf_private.h"

#include <errno.h>
#include <string.h>

enum {
	CHUNK_BYTES = 6 * 1024, /* a multiple of both entries' sizes */
	RELR_BITS = 63,
	/* Bound on the entries of all sections together, because sections may overlap. A browser
	 * has 2 million. */
	MAX_ENTRIES = 16 * 1000 * 1000,
};

/* Bytes of the file around the address that was read last. Requested addresses mostly ascend. */
struct window {
	const struct elf *elf;
	uint64_t address;
	size_t len;
	uint8_t bytes[4096];
};

static bool window_word(struct window *window, uint64_t address, uint64_t *ret_word)
{
	uint64_t at = address - window->address;

	if (at > window->len || window->len - at < sizeof(*ret_word)) {
		window->address = address;
		window->len = sizeof(window->bytes);
		if (elf_read_address(window->elf, address, window->bytes, window->len) < 0) {
			/* The window would cross the end of a segment. */
			window->len = sizeof(*ret_word);
			if (elf_read_address(window->elf, address, window->bytes, window->len) <
			    0) {
				window->len = 0;
				return false;
			}
		}
		at = 0;
	}
	memcpy(ret_word, window->bytes + at, sizeof(*ret_word));
	return true;
}

struct walk {
	const struct elf *elf;
	elf_pointer_fn *fn;
	void *ctx;
	uint32_t relative_type;
	size_t entries;
	uint64_t next; /* RELR: the address that the first bit of the next bitmap stands for */
	struct window window;
};

static int each_rela(struct walk *walk, const uint8_t *bytes, size_t len)
{
	Elf64_Rela entry;
	int result = 0;

	for (size_t at = 0; result == 0 && len - at >= sizeof(entry); at += sizeof(entry)) {
		if (walk->entries++ >= MAX_ENTRIES)
			break;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (ELF64_R_TYPE(entry.r_info) == walk->relative_type)
			result = walk->fn(entry.r_offset, (uint64_t)entry.r_addend, walk->ctx);
	}
	return result;
}

static int pointer_at(struct walk *walk, uint64_t address)
{
	uint64_t pointer;

	if (walk->entries >= MAX_ENTRIES)
		return 0;
	walk->entries++;
	return window_word(&walk->window, address, &pointer) ? walk->fn(address, pointer, walk->ctx)
	                                                     : 0;
}

static int each_relr(struct walk *walk, const uint8_t *bytes, size_t len)
{
	uint64_t entry;
	int result = 0;

	for (size_t at = 0; result == 0 && len - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, bytes + at, sizeof(entry));
		if (!(entry & 1)) {
			result = pointer_at(walk, entry);
			walk->next = entry + sizeof(entry);
			continue;
		}
		for (unsigned int bit = 0; result == 0 && bit < RELR_BITS; bit++) {
			if (entry >> (bit + 1) & 1)
				result = pointer_at(walk, walk->next + bit * sizeof(entry));
		}
		walk->next += RELR_BITS * sizeof(entry);
	}
	return result;
}

static int each_in_section(struct walk *walk, const GElf_Shdr *header)
{
	uint8_t chunk[CHUNK_BYTES];
	uint64_t len = header->sh_size;
	int result = 0;

	if (!elf_in_file(walk->elf, header->sh_offset, len) || len > MAX_SECTION_BYTES)
		return 0;
	walk->next = 0;
	for (uint64_t at = 0; result == 0 && at < len; at += sizeof(chunk)) {
		size_t some = len - at < sizeof(chunk) ? (size_t)(len - at) : sizeof(chunk);

		if (!elf_read_raw(walk->elf, header->sh_offset + at, chunk, some))
			return 0;
		result = header->sh_type == SHT_RELA ? each_rela(walk, chunk, some)
		                                     : each_relr(walk, chunk, some);
	}
	return result;
}

int elf_each_pointer(const struct elf *elf, elf_pointer_fn *fn, void *ctx)
{
	_cleanup_(elf_endp) Elf *handle = elf_handle(elf);
	struct walk walk = {.elf = elf, .fn = fn, .ctx = ctx, .window.elf = elf};
	GElf_Shdr header;

	if (!elf->has_sections)
		return 0;
	if (!handle)
		return -ENOEXEC;
	if (gelf_getclass(handle) != ELFCLASS64)
		return 0;
	if (elf->machine == EM_X86_64)
		walk.relative_type = R_X86_64_RELATIVE;
	else if (elf->machine == EM_AARCH64)
		walk.relative_type = R_AARCH64_RELATIVE;
	else
		return 0;
	for (Elf_Scn *scn = elf_nextscn(handle, NULL); scn; scn = elf_nextscn(handle, scn)) {
		if (!gelf_getshdr(scn, &header) || header.sh_flags & SHF_COMPRESSED ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_RELR))
			continue;
		int result = each_in_section(&walk, &header);
		if (result)
			return result;
	}
	return 0;
}

struct addresses {
	elf_address_fn *fn;
	void *ctx;
};

static int report_address(uint64_t place, uint64_t address, void *ctx)
{
	const struct addresses *addresses = ctx;

	(void)place;
	return addresses->fn(address, addresses->ctx);
}

int elf_each_relative(const struct elf *elf, elf_address_fn *fn, void *ctx)
{
	return elf_each_pointer(elf, report_address, &(struct addresses){fn, ctx});
}
