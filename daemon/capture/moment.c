/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The newest moment is found by its time; older ones live on for the captures that hold them.
 */
#include "capture/moment.h"

#include "base/buf.h"
#include "profile/held.h"
#include "proc/proc.h"

#include <errno.h>

struct moment {
	uint64_t mono_ns;
	int references;
	bool has_known;
	struct buf known; /* of struct kinship */
	struct held known_held;
	struct profile *in_use[KIND_COUNT]; /* NULL: not read yet */
	struct held in_use_held[KIND_COUNT];
};

static struct moment *newest;

struct moment *moment_get(uint64_t mono_ns)
{
	struct moment *moment = newest;

	if (moment && moment->mono_ns == mono_ns) {
		moment->references++;
		return moment;
	}
	moment = calloc(1, sizeof(*moment));
	if (!moment)
		return NULL;
	moment->mono_ns = mono_ns;
	moment->references = 1;
	newest = moment;
	return moment;
}

void moment_unref(struct moment *moment)
{
	if (!moment || --moment->references)
		return;
	if (newest == moment)
		newest = NULL;
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		profile_unref(moment->in_use[kind]);
		held_give(&moment->in_use_held[kind]);
	}
	buf_release(&moment->known);
	held_give(&moment->known_held);
	free(moment);
}

static void add_kinship(uint32_t parent, uint32_t pid, void *ctx)
{
	struct kinship kinship = {parent, pid};

	buf_add(ctx, &kinship, sizeof(kinship));
}

static int read_known(struct moment *moment, const struct procs *procs, uint64_t account)
{
	struct buf known = BUF_INIT;
	int err;

	procs_each_kin(procs, add_kinship, &known);
	err = buf_error(&known);
	if (!err)
		err = held_take(&moment->known_held, account, known.capacity);
	if (err) {
		buf_release(&known);
		return err;
	}
	moment->known = known;
	moment->has_known = true;
	return 0;
}

int moment_kinships(struct moment *moment, const struct procs *procs, uint64_t account,
                    const struct kinship **ret_known, size_t *ret_count)
{
	int err = moment->has_known ? 0 : read_known(moment, procs, account);

	*ret_known = (const struct kinship *)(const void *)moment->known.data;
	*ret_count = moment->known.len / sizeof(struct kinship);
	return err;
}

int moment_in_use(struct moment *moment, struct collector *collector, enum profile_kind kind,
                  uint64_t account, struct profile **ret_slice)
{
	struct profile *slice = moment->in_use[kind];
	int err;

	if (!slice) {
		err = collector_in_use(collector, kind, &slice);
		if (!err)
			err = held_take(&moment->in_use_held[kind], account, slice->memory_bytes);
		if (err) {
			profile_unref(slice);
			return err;
		}
		moment->in_use[kind] = slice;
	}
	*ret_slice = profile_ref(slice);
	return 0;
}
