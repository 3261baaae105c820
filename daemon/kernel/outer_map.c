/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each change has a thread, which ends when the kernel returns. The kernel makes the change before
 * it waits, so the caller polls until the change is visible.
 */
#include "kernel/outer_map.h"

#include "base/thread.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 << 10, LOOK_NS = 20000 };

/* Shared by the loop and the thread; the last holder frees it. */
struct change {
	int array;
	bool removes;
	u32 count, known;
	u32 *places, *fds; /* in the same allocation */
	int err;
	bool over; /* `known` and `err` are set */
	int holders;
};

static struct change *change_new(int array, u32 first, const u32 *fds, u32 count)
{
	struct change *change = calloc(1, sizeof(*change) + 2 * count * sizeof(u32));

	if (!change)
		return NULL;
	*change = (struct change){.array = array, .count = count, .holders = 1, .removes = !fds};
	change->places = (u32 *)(change + 1);
	change->fds = change->places + count;
	for (u32 i = 0; i < count; i++)
		change->places[i] = first + i;
	if (fds)
		memcpy(change->fds, fds, count * sizeof(*fds));
	return change;
}

static void change_drop(struct change *change)
{
	if (__atomic_sub_fetch(&change->holders, 1, __ATOMIC_ACQ_REL) == 0)
		free(change);
}

static void *make_change(void *ctx)
{
	const struct bpf_map_batch_opts options = {.sz = sizeof(options)};
	struct change *change = ctx;
	u32 known = change->count;

	if (change->removes)
		change->err = bpf_map_delete_elem(change->array, change->places);
	else
		change->err = bpf_map_update_batch(change->array, change->places, change->fds,
		                                   &known, &options);
	/* If the batch fails before the first element, the count remains as it was. */
	change->known = change->err && known >= change->count ? 0 : known;
	__atomic_store_n(&change->over, true, __ATOMIC_RELEASE);
	change_drop(change);
	return NULL;
}

/* Whether the change is visible. Programs find what a look-up here finds. */
static bool is_made(const struct change *change)
{
	u32 id;
	bool taken =
		bpf_map_lookup_elem(change->array, &change->places[change->count - 1], &id) == 0;

	return taken != change->removes;
}

/* Makes the change. Returns when it is made, or has failed. */
static int carry_out(struct change *change, u32 *ret_known)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	change->holders++;
	/* If there is no thread, wait for the kernel here. */
	if (thread_start_detached(STACK_BYTES, make_change, change))
		make_change(change);
	while (!is_made(change)) {
		if (__atomic_load_n(&change->over, __ATOMIC_ACQUIRE)) {
			*ret_known = change->known;
			return change->err;
		}
		nanosleep(&pause, NULL);
	}
	*ret_known = change->count;
	return 0;
}

u32 outer_map_put(int array, u32 first, const u32 *fds, u32 count, int *ret_err)
{
	struct change *change = change_new(array, first, fds, count);
	u32 known = 0;

	*ret_err = change ? carry_out(change, &known) : -ENOMEM;
	if (change)
		change_drop(change);
	return known;
}

int outer_map_remove(int array, u32 place)
{
	struct change *change = change_new(array, place, NULL, 1);
	u32 known;
	int err = change ? carry_out(change, &known) : -ENOMEM;

	if (change)
		change_drop(change);
	return err;
}
