/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/capture_private.h"

#include "base/clock.h"
#include "ingest/source.h"

#include <errno.h>
#include <stdlib.h>

/* Times of the wall clock that were computed at different moments, from the monotonic clock, differ
 * by less, and an interval is longer. */
static const uint64_t clocks_differ_ns = 50 * NSEC_PER_MSEC;

size_t slices_before(const struct slices *slices, uint64_t mono_ns)
{
	size_t count = 0;

	while (count < slices->count &&
	       mono_is_before(slices->profiles[count]->start_mono_ns +
	                              slices->profiles[count]->duration_ns / 2,
	                      mono_ns))
		count++;
	return count;
}

/* Puts what was read before the slices of the history. */
static int join(struct capture *capture)
{
	struct slices *slices = &capture->slices, *past = &capture->past.slices;
	struct profile **grown, *last;
	size_t first;

	if (!past->count)
		return 0;
	if (slices->count && !past_fits(past->profiles[0], slices->profiles[0])) {
		capture->past.unreadable += capture->past.files;
		slices_release(past);
		return 0;
	}
	grown = reallocarray(past->profiles, past->count + slices->count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	past->profiles = grown;
	/* What was read ends at a boundary that the recorder holds; or earlier, if later files are
	 * gone. */
	last = grown[past->count - 1];
	first = slices_before(slices, last->start_mono_ns + last->duration_ns);
	for (size_t i = 0; i < slices->count; i++)
		if (i < first)
			profile_unref(slices->profiles[i]);
		else
			grown[past->count++] = slices->profiles[i];
	free(slices->profiles);
	*slices = *past;
	*past = (struct slices){0};
	return 0;
}

int capture_past_join(struct capture *capture, int err)
{
	if (!err)
		return join(capture);
	/* What is in memory is an answer, too, if only the disk fails. */
	if (err == -EFBIG || !capture->slices.count)
		return err;
	capture->past_err = err;
	return 0;
}

bool capture_past_is_wanted(const struct capture *capture)
{
	enum range_kind range = capture->ask.range;
	struct recorder_stats stats;
	uint64_t missing_ns;

	if (!capture->from.past || capture->ask.all || capture->ask.selection.view == VIEW_wall ||
	    (range != RANGE_LAST && range != RANGE_BETWEEN))
		return false;
	recorder_get_stats(history_recorder(capture->from.history, capture->ask.kind), &stats);
	if (!stats.oldest_mono_ns || !mono_is_before(capture->from_mono_ns, stats.oldest_mono_ns))
		return !stats.oldest_mono_ns;
	missing_ns = stats.oldest_mono_ns - capture->from_mono_ns;
	return missing_ns > HISTORY_WINDOW_NS ||
	       missing_ns > (capture->to_mono_ns - capture->from_mono_ns) / 10;
}

/* Files that begin earlier are read: up to the boundary at which the last one ended when the
 * history was read. The next one that is written begins there. */
static uint64_t before_of(const struct capture *capture, uint64_t offset_ns)
{
	uint64_t until_mono_ns = capture->from.past->until_mono_ns[capture->ask.kind];

	if (!until_mono_ns && !capture->slices.count)
		return UINT64_MAX;
	return (until_mono_ns ?: capture->slices.profiles[0]->start_mono_ns) + offset_ns -
	       clocks_differ_ns;
}

int capture_past_ask(struct capture *capture, void (*done)(struct past_ask *ask, int err))
{
	uint64_t offset_ns = clock_wall_ns() - clock_mono_ns();

	capture->past = (struct past_ask){
		.kind = sources[capture->ask.kind]->name,
		.from_unix_ns = capture->from_mono_ns + offset_ns,
		.to_unix_ns = capture->to_mono_ns + offset_ns,
		.before_unix_ns = before_of(capture, offset_ns),
		.account = capture->account,
		.done = done,
	};
	return past_ask(capture->from.past, &capture->past);
}
