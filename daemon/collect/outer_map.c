/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A thread for each change, which ends when the kernel comes back. The change itself is the first
 * that the kernel does, so it is looked for until it is there.
 */
#include "collect/outer_map.h"

#include "base/thread.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 << 10, LOOK_NS = 20000 };

/* Shared by the loop and the thread; whoever is the last to need it frees it. */
struct change {
	int array;
	bool removes;
	u32 count, known;
	u32 *places, *fds; /* behind it */
	int err;
	bool over; /* and the two above it are set */
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
	/* What fails before the first leaves the count as it was. */
	change->known = change->err && known >= change->count ? 0 : known;
	__atomic_store_n(&change->over, true, __ATOMIC_RELEASE);
	change_drop(change);
	return NULL;
}

/* Programs find what a look finds. */
static bool is_made(const struct change *change)
{
	u32 id;
	bool taken =
		bpf_map_lookup_elem(change->array, &change->places[change->count - 1], &id) == 0;

	return taken != change->removes;
}

/* Makes it, and comes back when it is made, or failed. */
static int carry_out(struct change *change, u32 *ret_known)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	change->holders++;
	/* Without a thread there is only the wait. */
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
