/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports the entries of a file's sections in the order of the code. The entries are gathered
 * first, because files list them in any order, and sorted. The instructions of each entry are then
 * run once.
 */
#include "base/bounds.h"
#include "cfi/ehframe.h"
#include "cfi/frame_index.h"
#include "cfi/frame_sections.h"

#include <elf.h>
#include <errno.h>

enum { PLACES = 64 }; /* entries of the index that are read at once */

/* An entry that describes code of the file. */
struct entry {
	uint64_t start, end;
	uint32_t source; /* enum frame_source; the second sort key, so .eh_frame wins */
	uint32_t offset; /* in its section */
};

struct frames {
	const struct elf *elf;
	uint64_t part_start, part_end; /* own addresses: the range that was asked for */
	struct frame_section sections[FRAME_SOURCES]; /* len 0: the section is missing */
	struct cie_cache caches[FRAME_SOURCES];
	bool is_go; /* the file has code of the Go compiler, described in .debug_frame */
	struct entry *entries;
	size_t count, capacity;
	/* Reporting. */
	frame_row_fn *fn;
	void *ctx;
	bool go;          /* the entry that is being reported describes Go code */
	uint64_t covered; /* own address up to which rows were reported */
	struct frame_row row;
	int result;
};

static void frames_release(struct frames *frames)
{
	for (size_t i = 0; i < FRAME_SOURCES; i++)
		frame_sections_release(&frames->sections[i]);
	free(frames->entries);
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
	enum frame_source source;
};

static int gather_entry(size_t offset, void *ctx)
{
	struct gathering *gathering = ctx;
	struct frames *frames = gathering->frames;
	struct frame_entry entry;

	/* No real file has more entries. Those already gathered are kept. */
	if (frames->count == MAX_UNWIND_ROWS)
		return 0;
	if (frame_section_read(&frames->sections[gathering->source], offset,
	                       &frames->caches[gathering->source], &entry) < 0 ||
	    !frame_sections_clip(frames->elf, entry.start, &entry.end))
		return 0;
	return append(frames, &(struct entry){
				      .start = entry.start,
				      .end = entry.end,
				      .source = gathering->source,
				      .offset = (uint32_t)offset,
			      });
}

/* Gathers the entries of one source. Returns an error if the section is missing or broken, or
 * -ENOMEM. */
static int gather(struct frames *frames, enum frame_source source)
{
	struct frame_section *section = &frames->sections[source];
	struct gathering gathering = {frames, source};
	int err = frame_sections_load(frames->elf, source, section);

	if (err < 0)
		return err;
	cie_cache_init(&frames->caches[source]);
	return frame_section_each(section, gather_entry, &gathering);
}

/* Whether an entry and all after it lie behind the part. `last` is the entry before it. */
static bool is_behind(const struct frames *frames, const struct entry *last,
                      const struct entry *entry)
{
	return entry->start > frames->part_end && last && entry->start > last->end;
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

/* An entry of .debug_frame ends where an entry of .eh_frame begins inside it. */
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

/* Reports a row later, because neighbouring functions often have equal rows, which are merged. */
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

/* Go's compiler does not describe where rbp is saved. Each Go function that makes a frame pushes
 * rbp first. */
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
		/* Where the instructions of an entry cannot be understood, no overlapping entry is
		 * used either. */
		if (frames->covered < known->end)
			frames->covered = known->end;
	}
	return frames->row.start < frames->row.end ? frames->fn(&frames->row, frames->ctx) : 0;
}

/* Drops the entries that end before the part, and those behind it from the first gap on. Entries
 * that follow without a gap are kept, because their rows may merge with rows of the part. */
static void trim(struct frames *frames)
{
	size_t kept = 0;

	for (size_t i = 0; i < frames->count; i++) {
		const struct entry *entry = &frames->entries[i];

		if (entry->end <= frames->part_start)
			continue;
		if (is_behind(frames, kept ? &frames->entries[kept - 1] : NULL, entry))
			break;
		frames->entries[kept++] = *entry;
	}
	frames->count = kept;
}

/* Gathers the entries of the part with the file's index. Returns 0 when there is no usable
 * index. */
static int gather_indexed(struct frames *frames)
{
	struct frame_place places[PLACES];
	struct frame_index index;
	size_t at, count;

	if (!frame_index_open(frames->elf, &index))
		return 0;
	int err = frame_sections_open(frames->elf, index.frames, &frames->sections[EH_FRAME]);
	if (err < 0)
		return err == -EBADMSG ? 0 : err;
	cie_cache_init(&frames->caches[EH_FRAME]);
	struct gathering gathering = {frames, EH_FRAME};
	at = frame_index_find(&index, frames->part_start);
	while ((count = frame_index_read(&index, at, places, PLACES))) {
		for (size_t i = 0; !err && i < count; i++) {
			const struct entry *last =
				frames->count ? &frames->entries[frames->count - 1] : NULL;
			const struct entry next = {.start = places[i].start};

			if (is_behind(frames, last, &next))
				return 1;
			err = gather_entry(places[i].entry - index.frames, &gathering);
		}
		if (err)
			return err;
		at += count;
	}
	return 1;
}

static int gather_all(struct frames *frames)
{
	int err = gather(frames, EH_FRAME);

	if (err == -ENOMEM)
		return err;
	int debug_err = gather(frames, DEBUG_FRAME);
	if (debug_err == -ENOMEM)
		return debug_err;
	if (!frames->count)
		return err == -EBADMSG || debug_err == -EBADMSG ? -EBADMSG : -ENODATA;
	frames->is_go = elf_machine(frames->elf) == EM_X86_64 &&
	                elf_has_section(frames->elf, ".go.buildinfo");
	return 0;
}

int ehframe_each_row_of(const struct elf *elf, uint64_t start, uint64_t end, frame_row_fn *fn,
                        void *ctx)
{
	_cleanup_(frames_release) struct frames frames = {
		.elf = elf, .fn = fn, .ctx = ctx, .part_start = start, .part_end = end};
	bool whole = !start && end == UINT64_MAX;

	if (elf_machine(elf) != EM_X86_64 && elf_machine(elf) != EM_AARCH64)
		return -ENODATA;
	int err = whole ? 0 : gather_indexed(&frames);
	if (err < 0)
		return err;
	if (!err)
		err = gather_all(&frames);
	if (err < 0)
		return err;
	sort(&frames);
	if (!whole)
		trim(&frames);
	clip_debug(&frames);
	return frames.count ? report_all(&frames) : -ENODATA;
}

int ehframe_each_row(const struct elf *elf, frame_row_fn *fn, void *ctx)
{
	return ehframe_each_row_of(elf, 0, UINT64_MAX, fn, ctx);
}
