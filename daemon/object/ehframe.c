/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which sections a file has, and their entries in the order of the code. The entries are gathered
 * first, because files list them in any order; their instructions are run in that order after, each
 * once.
 */
#include "object/ehframe.h"
#include "base/bounds.h"
#include "object/cursor.h"
#include "object/dwarf.h"
#include "object/frame_section.h"

#include <elf.h>
#include <errno.h>

enum {
	X86_FP = 6,
	ARM64_FP = 29,
	HEADER_BYTES = 4,
	/* Its four bytes, and the pointer to .eh_frame. */
	HEADER_MAX_BYTES = HEADER_BYTES + sizeof(uint64_t),
};

enum source { EH_FRAME, DEBUG_FRAME, SOURCES };

/* A description that is worth having. */
struct entry {
	uint64_t start, end;
	uint32_t source; /* an enum source; sorted after `start`, so .eh_frame wins */
	uint32_t offset; /* in its section */
};

struct frames {
	const struct elf *elf;
	struct frame_section sections[SOURCES]; /* len 0: there is none */
	struct cie_cache caches[SOURCES];
	bool is_go; /* the file has code of Go's compiler, described in .debug_frame */
	struct entry *entries;
	size_t count, capacity;
	/* Reporting. */
	frame_row_fn *fn;
	void *ctx;
	bool go;          /* what is being reported is such code */
	uint64_t covered; /* up to here */
	struct frame_row row;
	int result;
};

static void frames_release(struct frames *frames)
{
	for (size_t i = 0; i < SOURCES; i++)
		free((void *)(uintptr_t)frames->sections[i].bytes);
	free(frames->entries);
}

/* Cuts the range to the executable segment that it begins in; false when that is none. */
static bool clip_to_text(const struct elf *elf, uint64_t start, uint64_t *end)
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

static int append(struct frames *frames, const struct entry *entry)
{
	if (frames->count == frames->capacity) {
		size_t capacity = frames->capacity ? 2 * frames->capacity : 256;
		struct entry *entries =
			realloc(frames->entries, capacity * sizeof(*frames->entries));

		if (!entries)
			return -ENOMEM;
		frames->entries = entries;
		frames->capacity = capacity;
	}
	frames->entries[frames->count++] = *entry;
	return 0;
}

struct gathering {
	struct frames *frames;
	enum source source;
};

static int gather_entry(size_t offset, void *ctx)
{
	struct gathering *gathering = ctx;
	struct frames *frames = gathering->frames;
	struct frame_entry entry;

	/* More than any file has: what is there already is kept. */
	if (frames->count == MAX_UNWIND_ROWS)
		return 0;
	if (frame_section_read(&frames->sections[gathering->source], offset,
	                       &frames->caches[gathering->source], &entry) < 0 ||
	    !clip_to_text(frames->elf, entry.start, &entry.end))
		return 0;
	return append(frames, &(struct entry){
				      .start = entry.start,
				      .end = entry.end,
				      .source = gathering->source,
				      .offset = (uint32_t)offset,
			      });
}

/* Where a file without section headers says that its .eh_frame begins. */
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

/* All that the file holds from there on; the entries say where they end. */
static int read_by_header(const struct elf *elf, struct frame_section *section)
{
	uint64_t address = 0, len = 0;
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);
	int err = find_by_header(elf, &address);

	if (err < 0)
		return err;
	for (size_t i = 0; i < count && !len; i++) {
		if (address >= segments[i].address &&
		    address - segments[i].address < segments[i].file_bytes)
			len = segments[i].file_bytes - (address - segments[i].address);
	}
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

static int read_section(const struct elf *elf, const char *name, struct frame_section *section)
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

/* Entries of one source; an error only when it is not the file's. */
static int gather(struct frames *frames, enum source source, const char *name)
{
	struct frame_section *section = &frames->sections[source];
	struct gathering gathering = {frames, source};
	int err = read_section(frames->elf, name, section);

	if (err == -ENOENT && source == EH_FRAME)
		err = read_by_header(frames->elf, section);
	if (err < 0)
		return err;
	section->debug = source == DEBUG_FRAME;
	section->fp_register = elf_machine(frames->elf) == EM_AARCH64 ? ARM64_FP : X86_FP;
	cie_cache_init(&frames->caches[source]);
	return frame_section_each(section, gather_entry, &gathering);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort(struct frames *frames)
{
	for (size_t i = 1; i < frames->count; i++) {
		if (compare(&frames->entries[i - 1], &frames->entries[i]) > 0) {
			qsort(frames->entries, frames->count, sizeof(*frames->entries), compare);
			return;
		}
	}
}

/* Entries of .debug_frame yield to those of .eh_frame that begin inside them. */
static void clip_debug(struct frames *frames)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = frames->count; i-- > 0;) {
		struct entry *entry = &frames->entries[i];

		if (entry->source == EH_FRAME)
			next = entry->start;
		else if (entry->end > next)
			entry->end = next;
	}
}

/* Rows of neighbouring functions often say the same, and then are one. */
static int report_row(struct frames *frames, const struct frame_row *row)
{
	struct frame_row *last = &frames->row;

	if (row->end <= frames->covered)
		return 0;
	uint64_t start = row->start > frames->covered ? row->start : frames->covered;
	frames->covered = row->end;
	if (last->end == start && last->start < last->end && cfi_same_rules(last, row)) {
		last->end = row->end;
		return 0;
	}
	if (last->start < last->end)
		frames->result = frames->fn(last, frames->ctx);
	*last = *row;
	last->start = start;
	return frames->result;
}

/* Go's compiler does not describe where rbp is saved, because each function that makes a frame
 * pushes it first. */
static void complete_go(struct frame_row *row)
{
	const int64_t pushed = 2 * (int64_t)sizeof(uint64_t);

	row->chained = true;
	if (row->fp.kind == SAVE_SAME && row->cfa.kind == CFA_REGISTER && row->cfa.offset >= pushed)
		row->fp = (struct save){.kind = SAVE_AT_CFA, .offset = -pushed};
}

static int report(const struct frame_row *row, void *ctx)
{
	struct frames *frames = ctx;
	struct frame_row completed = *row;

	if (frames->go)
		complete_go(&completed);
	return report_row(frames, &completed);
}

static int report_all(struct frames *frames)
{
	struct frame_entry entry;

	for (size_t i = 0; i < frames->count; i++) {
		const struct entry *known = &frames->entries[i];

		if (known->end <= frames->covered || known->end <= known->start ||
		    frame_section_read(&frames->sections[known->source], known->offset,
		                       &frames->caches[known->source], &entry) < 0)
			continue;
		frames->go = known->source == DEBUG_FRAME && frames->is_go;
		cfi_each_row(entry.common, &entry.code, known->start, known->end, report, frames);
		if (frames->result)
			return frames->result;
		/* Where its instructions could not be understood nobody else's hold either. */
		if (frames->covered < known->end)
			frames->covered = known->end;
	}
	return frames->row.start < frames->row.end ? frames->fn(&frames->row, frames->ctx) : 0;
}

int ehframe_each_row(const struct elf *elf, frame_row_fn *fn, void *ctx)
{
	_cleanup_(frames_release) struct frames frames = {.elf = elf, .fn = fn, .ctx = ctx};

	if (elf_machine(elf) != EM_X86_64 && elf_machine(elf) != EM_AARCH64)
		return -ENODATA;
	int err = gather(&frames, EH_FRAME, ".eh_frame");
	if (err == -ENOMEM)
		return err;
	int debug_err = gather(&frames, DEBUG_FRAME, ".debug_frame");
	if (debug_err == -ENOMEM)
		return debug_err;
	if (!frames.count)
		return err == -EBADMSG || debug_err == -EBADMSG ? -EBADMSG : -ENODATA;
	frames.is_go = elf_machine(elf) == EM_X86_64 && elf_has_section(elf, ".go.buildinfo");
	sort(&frames);
	clip_debug(&frames);
	return report_all(&frames);
}
