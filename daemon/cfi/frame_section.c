/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Entry headers, CIEs and FDEs. An FDE refers to its CIE by an offset, and a CIE refers to nothing,
 * so there are no chains to follow. Many FDEs may share one expensive CIE; a budget bounds that
 * work.
 */
#include "cfi/frame_section.h"
#include "elf/cursor.h"
#include "elf/dwarf.h"

#include <errno.h>

enum {
	LONG_FORM = 0xffffffff, /* as a length: the real length follows, in 8 bytes */
	LENGTH_BYTES = 12,      /* of an entry with the long form */
	/* CIE instructions may be run for this many times the section's length. The output of
	 * compilers stays below 2, even if every FDE misses the cache. */
	MAX_CIE_WORK = 4,
	MAX_AUGMENTATION = 16,
};

struct header {
	struct cursor body; /* after the identifier */
	bool cie;
	uint64_t cie_offset; /* of an FDE */
};

/* Moves past an entry's length and its bytes, and returns those bytes. */
static bool take_entry(struct cursor *section, struct cursor *ret_body, bool *ret_long)
{
	uint64_t len = cursor_u32(section);

	*ret_long = len == LONG_FORM;
	if (*ret_long)
		len = cursor_u64(section);
	uint64_t address = cursor_address(section);
	const uint8_t *bytes = cursor_bytes(section, len);
	if (section->broken)
		return false;
	*ret_body = cursor_over(bytes, len, address);
	return true;
}

/* Determines the kind of an entry. In .eh_frame an identifier has 4 bytes, whatever the form of the
 * length. */
static bool read_identifier(const struct frame_section *section, bool long_form,
                            struct cursor *body, struct header *ret_header)
{
	size_t at = (size_t)(body->at - section->bytes);
	uint64_t id, none;

	if (section->debug) {
		id = long_form ? cursor_u64(body) : cursor_u32(body);
		none = long_form ? UINT64_MAX : UINT32_MAX;
	} else {
		id = cursor_u32(body);
		none = 0;
	}
	if (body->broken)
		return false;
	*ret_header = (struct header){
		.body = *body,
		.cie = id == none,
		.cie_offset = section->debug ? id : at - id,
	};
	return true;
}

/* Loads the length first, because that says how much more must be loaded. */
static bool load_entry(const struct frame_section *section, size_t offset)
{
	const size_t left = section->len - offset;
	const size_t first = left < LENGTH_BYTES ? left : LENGTH_BYTES;
	struct cursor cursor;

	if (!section->pages)
		return true;
	if (!frame_pages_load(section->pages, offset, first))
		return false;
	cursor = cursor_over(section->bytes + offset, first, 0);
	uint64_t len = cursor_u32(&cursor);
	if (len == LONG_FORM)
		len = cursor_u64(&cursor);
	/* The reader of the entry detects one that goes past the end of the section. */
	len = len < left - first ? len : left - first;
	return frame_pages_load(section->pages, offset, first + len);
}

static bool read_header(const struct frame_section *section, size_t offset,
                        struct header *ret_header)
{
	struct cursor cursor, body;
	bool long_form;

	if (offset >= section->len || !load_entry(section, offset))
		return false;
	cursor = cursor_over(section->bytes + offset, section->len - offset,
	                     section->address + offset);
	return take_entry(&cursor, &body, &long_form) &&
	       read_identifier(section, long_form, &body, ret_header);
}

int frame_section_each(const struct frame_section *section, frame_offset_fn *fn, void *ctx)
{
	struct cursor cursor = cursor_over(section->bytes, section->len, section->address);
	struct cursor body;
	struct header header;
	bool long_form;

	while (cursor_left(&cursor)) {
		size_t offset = section->len - cursor_left(&cursor);

		if (!take_entry(&cursor, &body, &long_form))
			return offset ? 0 : -EBADMSG;
		if (!cursor_left(&body)) {
			if (section->to_terminator)
				break;
			continue;
		}
		if (!read_identifier(section, long_form, &body, &header)) {
			if (!offset)
				return -EBADMSG;
			continue;
		}
		int result = header.cie ? 0 : fn(offset, ctx);
		if (result)
			return result;
	}
	return 0;
}

/* Reads the data for the augmentation's letters. What follows an unknown letter cannot be read, and
 * need not be, because the data's length is known. */
static bool read_augmentation(struct cursor *cursor, const char *letters, struct cfi_common *common)
{
	uint64_t len = cursor_uleb(cursor);
	uint64_t address = cursor_address(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, len);

	if (cursor->broken)
		return false;
	struct cursor data = cursor_over(bytes, len, address);
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			common->pointer_encoding = cursor_u8(&data);
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(&data);
			/* Tools disagree about which address an aligned pointer is aligned to. */
			if (encoding == DW_EH_PE_aligned)
				return false;
			if (encoding != DW_EH_PE_omit)
				cursor_pointer_value(&data, encoding, common->address_bytes);
			break;
		}
		case 'S':
			common->signal_frame = true;
			break;
		case 'B': /* arm64: return addresses are signed with key B */
		case 'G': /* arm64: the stack is tagged */
			break;
		default:
			return !data.broken;
		}
	}
	return !data.broken;
}

/* The letters, NUL-terminated; NULL when there are too many. */
static const char *read_letters(struct cursor *cursor)
{
	size_t most = cursor_left(cursor) < MAX_AUGMENTATION ? cursor_left(cursor)
	                                                     : (size_t)MAX_AUGMENTATION;
	const uint8_t *nul = memchr(cursor->at, '\0', most);

	return nul ? (const char *)cursor_bytes(cursor, (uint64_t)(nul - cursor->at) + 1) : NULL;
}

static bool read_sizes(struct cursor *cursor, uint8_t version, struct cfi_common *common)
{
	common->address_bytes = sizeof(uint64_t);
	if (version < 4)
		return true;
	common->address_bytes = cursor_u8(cursor);
	uint8_t segment_selector_bytes = cursor_u8(cursor);
	return !segment_selector_bytes && (common->address_bytes == sizeof(uint32_t) ||
	                                   common->address_bytes == sizeof(uint64_t));
}

static int read_cie(const struct frame_section *section, size_t offset, struct cie *cie,
                    uint64_t *work)
{
	struct cfi_common *common = &cie->common;
	struct header header;

	if (!read_header(section, offset, &header) || !header.cie)
		return -EBADMSG;
	struct cursor *cursor = &header.body;
	uint8_t version = cursor_u8(cursor);
	const char *letters = read_letters(cursor);
	if ((version != 1 && version != 3 && version != 4) || !letters)
		return -EBADMSG;
	*common = (struct cfi_common){.fp_register = section->fp_register};
	if (!read_sizes(cursor, version, common))
		return -EBADMSG;
	/* GCC 2: a pointer of the language's runtime follows. */
	bool old = !strcmp(letters, "eh");
	if (old)
		cursor_bytes(cursor, common->address_bytes);
	common->code_align = cursor_uleb(cursor);
	common->data_align = cursor_sleb(cursor);
	common->ra_register = version == 1 ? cursor_u8(cursor) : cursor_uleb(cursor);
	cie->augmented = letters[0] == 'z';
	if (cie->augmented && !read_augmentation(cursor, letters + 1, common))
		return -EBADMSG;
	*work += cursor_left(cursor);
	if (cursor->broken || (letters[0] && !cie->augmented && !old) ||
	    *work / MAX_CIE_WORK > section->len)
		return -EBADMSG;
	struct cfi_code code = {cursor->at, cursor_left(cursor), cursor_address(cursor)};
	return cfi_begin(common, &code);
}

void cie_cache_init(struct cie_cache *cache)
{
	cache->work = 0;
	for (size_t i = 0; i < CIE_SLOTS; i++)
		cache->cies[i].offset = SIZE_MAX;
}

static const struct cie *get_cie(const struct frame_section *section, size_t offset,
                                 struct cie_cache *cache)
{
	/* CIEs are a few words long, so the word number of the offset puts neighbours into
	 * different slots. */
	struct cie *cie = &cache->cies[offset / sizeof(uint64_t) % CIE_SLOTS];

	if (cie->offset != offset) {
		cie->offset = offset;
		cie->error = read_cie(section, offset, cie, &cache->work);
	}
	return cie->error ? NULL : cie;
}

int frame_section_read(const struct frame_section *section, size_t offset, struct cie_cache *cache,
                       struct frame_entry *ret_entry)
{
	struct header header;
	uint64_t end;

	if (!read_header(section, offset, &header) || header.cie)
		return -EBADMSG;
	const struct cie *cie = header.cie_offset < section->len
	                                ? get_cie(section, header.cie_offset, cache)
	                                : NULL;
	if (!cie)
		return -EBADMSG;
	const struct cfi_common *common = &cie->common;
	struct cursor *cursor = &header.body;
	uint64_t start = cursor_pointer(cursor, common->pointer_encoding, common->address_bytes);
	uint64_t len =
		cursor_pointer_value(cursor, common->pointer_encoding, common->address_bytes);
	if (cie->augmented)
		cursor_bytes(cursor, cursor_uleb(cursor));
	if (cursor->broken || !start || !len || __builtin_add_overflow(start, len, &end))
		return -EBADMSG;
	*ret_entry = (struct frame_entry){
		.start = start,
		.end = end,
		.common = common,
		.code = {cursor->at, cursor_left(cursor), cursor_address(cursor)},
	};
	return 0;
}
