/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sections are found by name. .eh_frame is also found through PT_GNU_EH_FRAME.
 */
#include "base/bounds.h"
#include "cfi/frame_sections.h"
#include "elf/cursor.h"
#include "elf/dwarf.h"

#include <elf.h>
#include <errno.h>

enum {
	X86_FP = 6,
	ARM64_FP = 29,
	HEADER_BYTES = 4,
	/* Those four bytes, and the pointer to .eh_frame. */
	HEADER_MAX_BYTES = HEADER_BYTES + sizeof(uint64_t),
};

/* Finds the own address of .eh_frame in a file without section headers. */
static int find_by_header(const struct elf *elf, uint64_t *ret_address)
{
	const struct segment *header = elf_frame_header(elf);
	uint8_t bytes[HEADER_MAX_BYTES] = {0};

	if (!header)
		return -ENOENT;
	size_t len = header->file_bytes < sizeof(bytes) ? header->file_bytes : sizeof(bytes);
	if (len <= HEADER_BYTES || elf_read_address(elf, header->address, bytes, len) < 0)
		return -EBADMSG;
	struct cursor cursor = cursor_over(bytes + HEADER_BYTES, len - HEADER_BYTES,
	                                   header->address + HEADER_BYTES);
	*ret_address = cursor_pointer(&cursor, bytes[1], sizeof(uint64_t));
	return bytes[0] == 1 && *ret_address ? 0 : -EBADMSG;
}

/* All bytes that the file holds from that address on. The entries show where the section ends. */
static uint64_t bytes_from(const struct elf *elf, uint64_t address)
{
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		if (address >= segments[i].address &&
		    address - segments[i].address < segments[i].file_bytes)
			return segments[i].file_bytes - (address - segments[i].address);
	}
	return 0;
}

static int load_by_header(const struct elf *elf, struct frame_section *section)
{
	uint64_t address = 0, len;
	int err = find_by_header(elf, &address);

	if (err < 0)
		return err;
	len = bytes_from(elf, address);
	if (!len || len > MAX_FRAME_SECTION_BYTES)
		return -EBADMSG;
	_cleanup_free_ uint8_t *bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	if (elf_read_address(elf, address, bytes, len) < 0)
		return -EBADMSG;
	section->bytes = TAKE_PTR(bytes);
	section->len = len;
	section->address = address;
	section->to_terminator = true;
	return 0;
}

static int load_by_name(const struct elf *elf, const char *name, struct frame_section *section)
{
	struct elf_section found;
	int err = elf_read_section(elf, name, MAX_FRAME_SECTION_BYTES, &found);

	if (err < 0)
		return err;
	section->bytes = found.bytes;
	section->len = found.len;
	section->address = found.address;
	return 0;
}

static uint64_t fp_register(const struct elf *elf)
{
	return elf_machine(elf) == EM_AARCH64 ? ARM64_FP : X86_FP;
}

int frame_sections_open(const struct elf *elf, uint64_t address, struct frame_section *ret_section)
{
	uint64_t len = bytes_from(elf, address);

	if (!len || len > MAX_FRAME_SECTION_BYTES)
		return -EBADMSG;
	struct frame_pages *pages = frame_pages_new(elf, address, len);
	if (!pages)
		return -ENOMEM;
	*ret_section = (struct frame_section){
		.bytes = frame_pages_bytes(pages),
		.len = len,
		.address = address,
		.fp_register = fp_register(elf),
		.pages = pages,
	};
	return 0;
}

int frame_sections_load(const struct elf *elf, enum frame_source source,
                        struct frame_section *ret_section)
{
	static const char *const names[FRAME_SOURCES] = {".eh_frame", ".debug_frame"};
	struct frame_section section = {
		.debug = source == DEBUG_FRAME,
		.fp_register = fp_register(elf),
	};
	int err = load_by_name(elf, names[source], &section);

	if (err == -ENOENT && source == EH_FRAME)
		err = load_by_header(elf, &section);
	if (err < 0)
		return err;
	*ret_section = section;
	return 0;
}

void frame_sections_release(struct frame_section *section)
{
	if (section->pages)
		frame_pages_free(section->pages);
	else
		free((void *)(uintptr_t)section->bytes);
	*section = (struct frame_section){0};
}

bool frame_sections_clip(const struct elf *elf, uint64_t start, uint64_t *end)
{
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t at = start - segments[i].address;

		if (!segments[i].executable || start < segments[i].address ||
		    at >= segments[i].memory_bytes)
			continue;
		if (*end - start > segments[i].memory_bytes - at)
			*end = start + (segments[i].memory_bytes - at);
		return true;
	}
	return false;
}
