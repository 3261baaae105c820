/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A question is read by a job of its own, which outlives a question that was given up.
 */
#include "past/past.h"

#include "base/clock.h"
#include "base/hash.h"
#include "past/profile_files.h"
#include "past/packed.h"
#include "profile/fold.h"
#include "profile/select.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What a turn on the lane takes, and all turns of a question together. */
static const uint64_t turn_ns = NSEC_PER_SEC / 10, all_ns = 10 * NSEC_PER_SEC;

struct past_read {
	struct turn turn;
	struct past *past;
	struct past_ask *ask;   /* NULL once it was given up */
	struct past_ask result; /* the question, and what is found */
	struct packed_host host;
	struct profile_files files;
	const struct profile_found *next; /* of the files */
	uint64_t used_ns;                 /* so far; 0: it has not begun */
	/* Of the slices: their memory; the part that is one merged slice. */
	size_t bytes, merged_bytes, capacity;
	bool is_over;
	int err;
};

/* ---- the boot ------------------------------------------------------------------------------- */

static struct packed_host this_host(void)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT;
	uint32_t hash;

	buf_read_text(&id, "/proc/sys/kernel/random/boot_id", 64);
	hash = (uint32_t)hash_bytes(HASH_START, buf_text(&id), id.len);
	return (struct packed_host){.boot = hash ?: 1,
	                            .wall_offset_ns = clock_wall_ns() - clock_mono_ns()};
}

static struct weight *largest(const struct weights *weights)
{
	struct weight *found = NULL;

	for (size_t i = 0; i < weights->count; i++)
		if (!weights->items[i].folded && (!found || weights->items[i].bytes > found->bytes))
			found = &weights->items[i];
	return found;
}

/* Puts the stacks of the account with most of the profile under one frame, as the history in memory
 * does. False: none can become smaller. */
static bool fold_largest(struct profile **profile)
{
	_cleanup_(weights_release) struct weights weights;
	struct weight *weight;

	weights_find(*profile, &weights);
	while ((weight = largest(&weights))) {
		if (fold(profile, weight->account))
			return true;
		weight->folded = true;
	}
	return false;
}

/* One account's stacks may be too many. They must not keep everybody's from being written. */
static int encode_past(const struct profile *profile, const struct encode_options *options,
                       struct buf *out)
{
	/* Constant for whoever has it, but for its number of references. */
	_cleanup_(profile_unrefp) struct profile *folded =
		profile_ref((struct profile *)(uintptr_t)profile);
	const struct packed_host host = this_host();
	int err;

	(void)options;
	do {
		buf_clear(out);
		err = folded->memory_bytes > MAX_PAST_BYTES ? -EFBIG
		                                            : profile_pack(folded, &host, out);
	} while (err == -EFBIG && fold_largest(&folded));
	return err;
}

const struct encoder encoder_past = {
	.name = "past",
	.suffix = ".slice.gz",
	.encode = encode_past,
};

/* ---- reading: the lane ---------------------------------------------------------------------- */

static uint64_t end_of(const struct profile *profile)
{
	return profile->start_wall_ns + profile->duration_ns;
}

/* As the recorder decides which slices a range gets. */
static bool in_range(const struct past_ask *ask, const struct profile *profile)
{
	uint64_t start = profile->start_wall_ns, end = end_of(profile);
	uint64_t middle = start + profile->duration_ns / 2;

	if (start < ask->from_unix_ns)
		start = ask->from_unix_ns;
	if (end > ask->to_unix_ns)
		end = ask->to_unix_ns;
	if (start >= end)
		return false;
	return (middle >= ask->from_unix_ns && middle < ask->to_unix_ns) ||
	       end - start >= (ask->to_unix_ns - ask->from_unix_ns) / 2;
}

/* Makes one slice of all. Times within it are no longer distinguished. */
static int merge_all(struct past_read *read)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct slices *slices = &read->result.slices;
	struct profile *merged;
	int err;

	if (!builder)
		return -ENOMEM;
	read->result.gap_ns += slices_gap(slices);
	err = select_merge(builder, slices->profiles, slices->count, &select_all);
	if (!err)
		err = builder_seal(builder, &merged);
	if (err)
		return err;
	for (size_t i = 0; i < slices->count; i++)
		profile_unref(slices->profiles[i]);
	slices->profiles[0] = merged;
	slices->count = 1;
	read->bytes = merged->memory_bytes;
	return 0;
}

bool past_fits(const struct profile *a, const struct profile *b)
{
	return select_same_types(a, b) && a->period == b->period;
}

/* Drops the slices so far, if they do not fit the profile. */
static void drop_others(struct past_read *read, const struct profile *profile)
{
	struct slices *slices = &read->result.slices;

	if (!slices->count || past_fits(slices->profiles[0], profile))
		return;
	read->result.unreadable += read->result.files;
	read->result.files = 0;
	read->result.gap_ns = 0;
	slices_release(slices);
	read->capacity = read->bytes = read->merged_bytes = 0;
}

/* Takes over the reference. */
static int append(struct past_read *read, struct profile *profile)
{
	struct slices *slices = &read->result.slices;

	if (slices->count == read->capacity) {
		size_t capacity = read->capacity * 2 + 16;
		struct profile **grown = reallocarray(slices->profiles, capacity, sizeof(*grown));

		if (!grown) {
			profile_unref(profile);
			return -ENOMEM;
		}
		slices->profiles = grown;
		read->capacity = capacity;
	}
	slices->profiles[slices->count++] = profile;
	read->result.files++;
	read->bytes += profile->memory_bytes;
	return 0;
}

/* Takes over the reference. Slices are merged when half of what an answer may have has been added,
 * not for each file. */
static int add_slice(struct past_read *read, struct profile *profile)
{
	int err;

	drop_others(read, profile);
	err = append(read, profile);
	if (err || read->bytes <= MAX_PAST_BYTES || read->result.slices.count == 1 ||
	    read->bytes - read->merged_bytes <= MAX_PAST_BYTES / 2)
		return err;
	err = merge_all(read);
	if (err)
		return err;
	read->merged_bytes = read->bytes;
	return read->bytes > MAX_PAST_BYTES ? -EFBIG : 0;
}

/* A file that has just made room for others is none in the range. */
static int read_file(struct past_read *read, const struct profile_found *found)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	struct profile *profile;
	int err = profile_files_read(&read->files, found, MAX_PACKED_BYTES, &bytes);

	if (err == -ENOENT)
		return 0;
	if (!err)
		err = profile_unpack(bytes.data, bytes.len, &read->host, &profile);
	if (err == -ENOMEM)
		return err;
	if (err) {
		read->result.unreadable++;
		return 0;
	}
	if (in_range(&read->result, profile))
		return add_slice(read, profile);
	profile_unref(profile);
	return 0;
}

/* Files follow each other, so one may be in the range if the next one begins in it. */
static int read_next(struct past_read *read)
{
	const struct past_ask *ask = &read->result;
	const struct profile_found *found = read->next;

	if (!found || found->start_unix_ns >= ask->before_unix_ns ||
	    found->start_unix_ns >= ask->to_unix_ns) {
		read->is_over = true;
		return 0;
	}
	read->next = profile_files_next(&read->files, ask->kind, found);
	if (read->next && read->next->start_unix_ns <= ask->from_unix_ns)
		return 0;
	return read_file(read, found);
}

static int begin(struct past_read *read)
{
	int err = profile_files_list(read->past->place, read->past->host->nodename,
	                             encoder_past.suffix, &read->files);

	read->host = this_host();
	read->next = profile_files_next(&read->files, read->result.kind, NULL);
	if (read->next)
		read->result.oldest_unix_ns = read->next->start_unix_ns;
	return err;
}

static void run_read(struct job *job)
{
	struct past_read *read = (struct past_read *)job;
	uint64_t begun_ns = clock_mono_ns(), now_ns = begun_ns;

	read->err = read->used_ns ? 0 : begin(read);
	while (!read->err && !read->is_over && now_ns - begun_ns < turn_ns) {
		read->err = read_next(read);
		now_ns = clock_mono_ns();
	}
	read->used_ns += clock_mono_ns() - begun_ns;
	if (!read->err && !read->is_over && read->used_ns > all_ns)
		read->err = -ETIMEDOUT;
	read->is_over |= read->err != 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

static void end_read(struct past_read *read)
{
	struct past_ask *ask = read->ask;

	profile_files_release(&read->files);
	read->past->unreadable += read->result.unreadable;
	if (ask) {
		ask->read = NULL;
		ask->slices = read->result.slices;
		ask->oldest_unix_ns = read->result.oldest_unix_ns;
		ask->unreadable = read->result.unreadable;
		ask->files = read->result.files;
		ask->gap_ns = read->result.gap_ns;
		ask->done(ask, read->err);
	} else {
		slices_release(&read->result.slices);
		read->past->slots[read->result.slot].used = false;
	}
	free(read);
}

static void on_read(struct job *job)
{
	struct past_read *read = (struct past_read *)job;
	int err = read->err;

	if (!err && !read->is_over && read->ask) {
		read->err = -ECANCELED; /* if the lane is stopped */
		err = lane_submit_turn(read->past->lane, &read->turn);
		if (!err)
			return;
		read->err = err;
	}
	end_read(read);
}

static int find_slot(const struct past *past, uint64_t account, size_t *ret_slot)
{
	size_t count = 0, has = 0;

	for (size_t i = 0; i < PAST_ASKS; i++) {
		if (!past->slots[i].used)
			*ret_slot = i;
		count += past->slots[i].used;
		has += past->slots[i].used && past->slots[i].account == account;
	}
	return count == PAST_ASKS || (account && has >= PAST_ASKS / 2) ? -EBUSY : 0;
}

int past_ask(struct past *past, struct past_ask *ask)
{
	struct past_read *read;
	int err = find_slot(past, ask->account, &ask->slot);

	if (err)
		return err;
	read = calloc(1, sizeof(*read));
	if (!read)
		return -ENOMEM;
	*read = (struct past_read){
		.turn = {.job = {.run = run_read, .done = on_read}, .account = ask->account},
		.past = past,
		.ask = ask,
		.result = *ask,
		.files = {.folder = -1},
		.err = -ECANCELED, /* if the lane is stopped */
	};
	err = lane_submit_turn(past->lane, &read->turn);
	if (err) {
		free(read);
		return err;
	}
	past->slots[ask->slot].used = true;
	past->slots[ask->slot].account = ask->account;
	ask->past = past;
	ask->read = read;
	return 0;
}

void past_release(struct past_ask *ask)
{
	if (!ask->past)
		return;
	slices_release(&ask->slices);
	if (ask->read)
		ask->read->ask = NULL;
	else
		ask->past->slots[ask->slot].used = false;
	ask->past = NULL;
	ask->read = NULL;
}
