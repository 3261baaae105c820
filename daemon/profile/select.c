/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goes over slices: whether they belong together, which time and types they have in all, and the
 * samples of each. What becomes of one slice is in select_slice.c.
 */
#include "profile/select_private.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

bool select_is_wakes(const struct profile *profile, uint32_t node)
{
	return profile_is_pseudo(profile, profile->nodes[node].location, WAKES_FRAME);
}

static uint64_t end_of(const struct profile *slice)
{
	return slice->start_mono_ns + slice->duration_ns;
}

static uint32_t ms_between(const struct profile *first, const struct profile *slice)
{
	return (uint32_t)((slice->start_mono_ns - first->start_mono_ns) / NSEC_PER_MSEC);
}

static bool same_type(const struct profile *a, const struct value_type *x, const struct profile *b,
                      const struct value_type *y)
{
	return !strcmp(profile_string(a, x->type), profile_string(b, y->type)) &&
	       !strcmp(profile_string(a, x->unit), profile_string(b, y->unit));
}

bool select_same_types(const struct profile *a, const struct profile *b)
{
	if (a->type_count != b->type_count || !same_type(a, &a->period_type, b, &b->period_type))
		return false;
	for (uint32_t i = 0; i < a->type_count; i++)
		if (!same_type(a, &a->types[i], b, &b->types[i]))
			return false;
	return true;
}

static void take_types(struct builder *into, const struct profile *slice)
{
	for (uint32_t i = 0; i < slice->type_count; i++)
		builder_value_type(into, profile_string(slice, slice->types[i].type),
		                   profile_string(slice, slice->types[i].unit));
	builder_period(into, profile_string(slice, slice->period_type.type),
	               profile_string(slice, slice->period_type.unit), slice->period);
}

/* Checks that all slices have the same types, and gives these to the builder. Waits and CPU time
 * both have a number and a time. */
static int merge_types(struct builder *into, struct profile *const *slices, size_t slice_count,
                       const struct selection *selection)
{
	if (selection->view) {
		view_describe(selection->view, into);
		return 0;
	}
	for (size_t i = 1; i < slice_count; i++)
		if (!select_same_types(slices[0], slices[i]))
			return -EINVAL;
	if (!builder_view(into)->type_count)
		take_types(into, slices[0]);
	else if (!select_same_types(builder_view(into), slices[0]))
		return -EINVAL;
	return 0;
}

const struct selection select_all = {.loops = LOOPS_KEPT, .locks = LOCKS_KEPT, .dims = true};

static int each_of_slice(const struct profile *slice, const struct filter *filter,
                         select_sample_fn *fn, void *ctx)
{
	_cleanup_free_ bool *kept = calloc(slice->task_count, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (uint32_t id = 0; id < slice->task_count; id++)
		kept[id] = filter_takes(filter, slice, &slice->tasks[id]);
	for (uint32_t i = 1; i < slice->sample_count; i++)
		if (kept[slice->samples[i].task])
			fn(slice, &slice->samples[i], ctx);
	return 0;
}

int select_each(struct profile *const *slices, size_t slice_count,
                const struct selection *selection, select_sample_fn *fn, void *ctx)
{
	_cleanup_(filter_release) struct filter filter = {0};
	int err = filter_init(&filter, selection, slices, slice_count);

	for (size_t i = 0; i < slice_count && !err; i++)
		err = each_of_slice(slices[i], &filter, fn, ctx);
	return err;
}

int select_merge(struct builder *into, struct profile *const *slices, size_t slice_count,
                 const struct selection *selection)
{
	_cleanup_(filter_release) struct filter filter = {0};
	const struct profile *first, *last;
	int err;

	if (!slice_count || builder_error(into))
		return builder_error(into);
	first = last = slices[0];
	for (size_t i = 1; i < slice_count; i++) {
		if ((int64_t)(slices[i]->start_mono_ns - first->start_mono_ns) < 0)
			first = slices[i];
		if ((int64_t)(end_of(slices[i]) - end_of(last)) > 0)
			last = slices[i];
	}
	err = merge_types(into, slices, slice_count, selection);
	if (!err)
		err = filter_init(&filter, selection, slices, slice_count);
	for (size_t i = 0; i < slice_count && !err; i++)
		err = select_merge_slice(into, slices[i], &filter,
		                         selection->timed ? ms_between(first, slices[i]) : 0);
	if (err)
		return err;
	builder_time(into, first->start_mono_ns, first->start_wall_ns,
	             end_of(last) - first->start_mono_ns);
	return builder_error(into);
}
