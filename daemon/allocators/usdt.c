/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A note has three words of header, the owner's name, then three addresses and three strings; its
 * parts begin at multiples of four. Where the file was moved after linking (prelink), the address
 * of .stapsdt.base shows by how much, because each note has its original address.
 */
#include "allocators/usdt.h"

#include "elf/cursor.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { NOTE_TYPE = 3, NOTE_ALIGN = 4 };

static uint64_t read_address(struct cursor *cursor, size_t bytes)
{
	return bytes == 8 ? cursor_u64(cursor) : cursor_u32(cursor);
}

static const char *read_string(struct cursor *cursor)
{
	const uint8_t *end = memchr(cursor->at, '\0', cursor_left(cursor));

	if (!end) {
		cursor->broken = true;
		return "";
	}
	return (const char *)cursor_bytes(cursor, (size_t)(end - cursor->at) + 1);
}

static bool read_note(struct cursor cursor, size_t address_bytes, struct usdt_note *ret_note)
{
	ret_note->address = read_address(&cursor, address_bytes);
	ret_note->base = read_address(&cursor, address_bytes);
	ret_note->semaphore = read_address(&cursor, address_bytes);
	if (cursor.broken)
		return false;
	ret_note->provider = read_string(&cursor);
	ret_note->name = read_string(&cursor);
	ret_note->arguments = read_string(&cursor);
	return !cursor.broken;
}

/* Reads a part of a note and its padding; the padding of the last part may be missing. */
static const uint8_t *read_part(struct cursor *cursor, size_t len)
{
	const uint8_t *bytes = cursor_bytes(cursor, len);
	size_t fill = -len % NOTE_ALIGN, left = cursor_left(cursor);

	cursor_bytes(cursor, fill < left ? fill : left);
	return bytes;
}

int usdt_notes(const uint8_t *bytes, size_t len, size_t address_bytes, usdt_note_fn *fn, void *ctx)
{
	static const char owner[] = "stapsdt";
	struct cursor cursor = cursor_over(bytes, len, 0);
	struct usdt_note note;

	for (size_t count = 0; cursor_left(&cursor); count++) {
		uint32_t name_len = cursor_u32(&cursor);
		uint32_t description_len = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const uint8_t *name = read_part(&cursor, name_len);
		const uint8_t *description = read_part(&cursor, description_len);

		if (count == MAX_USDT_PROBES)
			return -E2BIG;
		if (cursor.broken)
			return -EBADMSG;
		if (type != NOTE_TYPE || name_len != sizeof(owner) ||
		    memcmp(name, owner, sizeof(owner)) != 0)
			continue;
		if (!read_note(cursor_over(description, description_len, 0), address_bytes, &note))
			return -EBADMSG;
		int result = fn(&note, ctx);
		if (result)
			return result;
	}
	return 0;
}

struct walk {
	const struct elf *elf;
	uint64_t base; /* address of .stapsdt.base; 0: there is none */
	usdt_fn *fn;
	void *ctx;
};

static int tell_probe(const struct usdt_note *note, void *ctx)
{
	const struct walk *walk = ctx;
	uint64_t moved = walk->base && note->base ? walk->base - note->base : 0;
	struct usdt_probe probe = {
		.provider = note->provider,
		.name = note->name,
		.arguments = note->arguments,
		.address = note->address + moved,
	};

	if (!elf_offset(walk->elf, probe.address, &probe.offset))
		return 0;
	/* A probe whose semaphore cannot be raised would be attached and never fire. */
	if (note->semaphore &&
	    !elf_offset(walk->elf, note->semaphore + moved, &probe.semaphore_offset))
		return 0;
	return walk->fn(&probe, walk->ctx);
}

int usdt_each(const struct elf *elf, usdt_fn *fn, void *ctx)
{
	struct elf_section notes, base;
	struct walk walk = {.elf = elf, .fn = fn, .ctx = ctx};
	uint16_t machine = elf_machine(elf);
	size_t address_bytes = machine == EM_386 || machine == EM_ARM ? 4 : 8;

	int err = elf_read_section(elf, ".note.stapsdt", MAX_USDT_NOTE_BYTES, &notes);
	if (err < 0)
		return err == -ENOENT ? 0 : err;
	_cleanup_free_ uint8_t *bytes = notes.bytes;
	if (elf_read_section(elf, ".stapsdt.base", MAX_USDT_NOTE_BYTES, &base) == 0) {
		walk.base = base.address;
		free(base.bytes);
	}
	return usdt_notes(bytes, notes.len, address_bytes, tell_probe, &walk);
}
