/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The bytes of an answer: a header, a pool of NUL-terminated strings, then frames of fixed size
 * that refer to offsets in the pool. The pool begins with an empty string, so that 0 means no
 * string.
 */
#include "names/wire.h"

#include "base/bounds.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

struct wire_head {
	uint32_t string_bytes, frame_count;
};

struct wire_frame {
	uint64_t function_address;
	uint32_t index, function, file; /* function and file: offsets in the pool */
	uint32_t line, start_line, unused;
};

enum { FIRST_SLOTS = 256 };

struct wire_frames {
	struct buf strings, frames;
	uint32_t *slots; /* hash table with open addressing: offsets in the pool; 0: free */
	size_t slot_count, string_count;
	size_t last_index, depth; /* frames of the last index */
};

struct wire_frames *wire_frames_new(void)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->slots = calloc(FIRST_SLOTS, sizeof(*frames->slots));
	frames->slot_count = FIRST_SLOTS;
	buf_add_char(&frames->strings, '\0');
	if (!frames->slots || buf_error(&frames->strings))
		return NULL;
	return TAKE_PTR(frames);
}

void wire_frames_free(struct wire_frames *frames)
{
	if (!frames)
		return;
	buf_release(&frames->strings);
	buf_release(&frames->frames);
	free(frames->slots);
	free(frames);
}

static uint64_t hash_of(const char *bytes, size_t len)
{
	uint64_t hash = hash_bytes(HASH_START, bytes, len);

	return hash ^ hash >> 32;
}

/* The slot of a string, or the free slot that it belongs in. */
static uint32_t *find_slot(const struct wire_frames *frames, const char *bytes, size_t len)
{
	size_t at = hash_of(bytes, len) % frames->slot_count;

	for (; frames->slots[at]; at = (at + 1) % frames->slot_count) {
		const char *known = (const char *)frames->strings.data + frames->slots[at];
		if (!strncmp(known, bytes, len) && !known[len])
			break;
	}
	return &frames->slots[at];
}

static int grow_slots(struct wire_frames *frames)
{
	uint32_t *old = frames->slots;
	size_t old_count = frames->slot_count;

	if (frames->string_count < old_count / 2)
		return 0;
	uint32_t *slots = calloc(old_count * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	frames->slots = slots;
	frames->slot_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++) {
		const char *string = (const char *)frames->strings.data + old[i];
		if (old[i])
			*find_slot(frames, string, strlen(string)) = old[i];
	}
	free(old);
	return 0;
}

/* Truncates to `max` bytes: a name in a hostile file can be as long as the file. */
static int add_string(struct wire_frames *frames, const char *string, size_t max,
                      uint32_t *ret_offset)
{
	size_t len = string ? strnlen(string, max) : 0;

	if (!len) {
		*ret_offset = 0;
		return 0;
	}
	int err = grow_slots(frames);
	if (err < 0)
		return err;
	uint32_t *slot = find_slot(frames, string, len);
	if (!*slot) {
		size_t offset = frames->strings.len;
		if (offset + len + 1 > WIRE_MAX_ANSWER)
			return -E2BIG;
		buf_add(&frames->strings, string, len);
		buf_add_char(&frames->strings, '\0');
		if (buf_error(&frames->strings))
			return buf_error(&frames->strings);
		*slot = (uint32_t)offset;
		frames->string_count++;
	}
	*ret_offset = *slot;
	return 0;
}

static size_t answer_len(const struct wire_frames *frames)
{
	return sizeof(struct wire_head) + frames->strings.len + frames->frames.len;
}

int wire_frames_add(struct wire_frames *frames, size_t index, const struct source_frame *frame)
{
	bool same = frames->depth && index == frames->last_index;
	struct wire_frame raw = {
		.function_address = frame->function_address,
		.index = (uint32_t)index,
		.line = frame->line,
		.start_line = frame->start_line,
	};

	if (index >= WIRE_MAX_ADDRESSES || index < frames->last_index ||
	    (same && frames->depth == MAX_INLINE_DEPTH))
		return -EINVAL;
	int err = add_string(frames, frame->function, MAX_SYMBOL_NAME_BYTES, &raw.function);
	if (err == 0)
		err = add_string(frames, frame->file, MAX_PATH_BYTES, &raw.file);
	if (err == 0 && answer_len(frames) + sizeof(raw) > WIRE_MAX_ANSWER)
		err = -E2BIG;
	if (err < 0)
		return err;
	buf_add(&frames->frames, &raw, sizeof(raw));
	frames->last_index = index;
	frames->depth = same ? frames->depth + 1 : 1;
	return buf_error(&frames->frames);
}

int wire_frames_write(struct wire_frames *frames, struct buf *out)
{
	struct wire_head head = {
		.string_bytes = (uint32_t)frames->strings.len,
		.frame_count = (uint32_t)(frames->frames.len / sizeof(struct wire_frame)),
	};

	if (answer_len(frames) > WIRE_MAX_ANSWER)
		return -E2BIG;
	buf_reserve(out, answer_len(frames));
	buf_add(out, &head, sizeof(head));
	buf_add(out, frames->strings.data, frames->strings.len);
	buf_add(out, frames->frames.data, frames->frames.len);
	return buf_error(out);
}

/* A received answer. */
struct view {
	struct wire_head head;
	const char *strings;
	const uint8_t *frames;
};

static struct wire_frame frame_at(const struct view *view, size_t i)
{
	struct wire_frame raw;

	/* After the strings nothing is aligned. */
	memcpy(&raw, view->frames + i * sizeof(raw), sizeof(raw));
	return raw;
}

static bool open_view(const uint8_t *bytes, size_t len, struct view *ret_view)
{
	struct view view;

	if (len < sizeof(view.head) || len > WIRE_MAX_ANSWER)
		return false;
	memcpy(&view.head, bytes, sizeof(view.head));
	view.strings = (const char *)bytes + sizeof(view.head);
	view.frames = bytes + sizeof(view.head) + view.head.string_bytes;
	if (len != sizeof(view.head) + (uint64_t)view.head.string_bytes +
	                    (uint64_t)view.head.frame_count * sizeof(struct wire_frame) ||
	    !view.head.string_bytes || view.strings[0] || view.strings[view.head.string_bytes - 1])
		return false;
	*ret_view = view;
	return true;
}

/* Whether no string is longer than the limit. */
static bool are_short(const struct view *view)
{
	const char *at = view->strings, *end = at + view->head.string_bytes;

	for (; at < end; at += strlen(at) + 1)
		if (strlen(at) > MAX_SYMBOL_NAME_BYTES)
			return false;
	return true;
}

/* Whether a string begins at the offset. Overlapping strings would let an answer expand to far more
 * than its bytes. */
static bool begins_string(const struct view *view, uint32_t offset)
{
	return offset < view->head.string_bytes && (!offset || !view->strings[offset - 1]);
}

static bool well_formed(const struct view *view, size_t count)
{
	size_t last = 0, depth = 0;

	if (!are_short(view))
		return false;
	for (size_t i = 0; i < view->head.frame_count; i++) {
		struct wire_frame raw = frame_at(view, i);
		depth = i && raw.index == last ? depth + 1 : 1;
		if (raw.index >= count || raw.index < last || depth > MAX_INLINE_DEPTH ||
		    !begins_string(view, raw.function) || !begins_string(view, raw.file))
			return false;
		last = raw.index;
	}
	return true;
}

int wire_frames_read(const uint8_t *bytes, size_t len, size_t count, source_frame_fn *fn, void *ctx)
{
	struct view view;
	int err = 0;

	if (!open_view(bytes, len, &view) || !well_formed(&view, count))
		return -EBADMSG;
	for (size_t i = 0; fn && i < view.head.frame_count && !err; i++) {
		struct wire_frame raw = frame_at(&view, i);
		struct source_frame frame = {
			.function = raw.function ? view.strings + raw.function : NULL,
			.file = raw.file ? view.strings + raw.file : NULL,
			.line = raw.line,
			.start_line = raw.start_line,
			.function_address = raw.function_address,
		};
		err = fn(raw.index, &frame, ctx);
	}
	return err;
}
