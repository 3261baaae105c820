/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A search owns all that it uses, because it may be left behind.
 */
#include "object/debugfile.h"

#include "base/clock.h"

#include <errno.h>

/* A search takes a millisecond where folders are cached, and some reads of a disk where not. */
static const uint64_t patience_ns = NSEC_PER_SEC;

struct search {
	struct aside_call call;
	struct object *object;
	struct links links;
	struct debug_checks checks;
	/* What was found. */
	int err;
	struct object *debug;
	int supplement;
};

static void search_free(struct search *search)
{
	if (!search)
		return;
	object_unref(search->object);
	object_unref(search->debug);
	closep(&search->supplement);
	free(search);
}
DEFINE_CLEANUP(struct search *, search_free)

static void free_call(struct aside_call *call)
{
	search_free((struct search *)call);
}

static void find_debug(struct aside_call *call)
{
	struct search *search = (struct search *)call;

	search->err = debugfile_open_some(search->object, &search->links, &search->checks,
	                                  &search->debug);
}

static void find_supplement(struct aside_call *call)
{
	struct search *search = (struct search *)call;

	search->supplement = debugfile_open_supplement(search->object, &search->links);
}

static struct search *search_new(struct object *object, const struct links *links,
                                 void (*run)(struct aside_call *call))
{
	struct search *search = calloc(1, sizeof(*search));

	if (!search)
		return NULL;
	search->call = (struct aside_call){
		.owner = object->user, .pid = object->pid, .run = run, .free = free_call};
	search->object = object_ref(object);
	search->links = *links;
	search->supplement = -1;
	return search;
}

/* The search is gone when it is left behind. */
static int run(struct aside *aside, struct search **search)
{
	int err = aside_run(aside, &(*search)->call, patience_ns);

	if (err == -ETIMEDOUT)
		*search = NULL;
	return err == -EAGAIN ? -EBUSY : err;
}

int debugfile_open_aside(struct aside *aside, struct object *object, const struct links *links,
                         struct debug_checks *checks, struct object **ret_debug)
{
	_cleanup_(search_freep) struct search *search = search_new(object, links, find_debug);
	int err;

	if (!search)
		return -ENOMEM;
	search->checks = *checks;
	err = run(aside, &search);
	if (err)
		return err;
	*checks = search->checks;
	*ret_debug = TAKE_PTR(search->debug);
	return search->err;
}

int debugfile_open_supplement_aside(struct aside *aside, struct object *object,
                                    const struct links *links)
{
	_cleanup_(search_freep) struct search *search = NULL;
	int err;

	if (!links->supplement_id_len || !links->supplement[0])
		return -ENOENT;
	search = search_new(object, links, find_supplement);
	if (!search)
		return -ENOMEM;
	err = run(aside, &search);
	return err ?: TAKE_FD(search->supplement);
}
