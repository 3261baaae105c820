/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search for separate debug files: first on this host, then on the servers. Their file systems
 * may hang, so they are opened on a thread aside, and only descriptors come back.
 */
#include "symbolize/debug_files.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* A search costs a few failing open() calls for each file. */
#define LOOK_AGAIN_NS (60 * NSEC_PER_SEC)
/* After a search that took too long; twice as long each further time. The CPUs may have been busy.
 */
#define LATE_AGAIN_NS (5 * NSEC_PER_SEC)
enum { MAX_DOUBLINGS = 8 };

void debug_files_release(struct debug_files *files)
{
	object_unref(files->debug);
	if (files->supplement >= 0)
		close(files->supplement);
	*files = DEBUG_FILES_NONE;
}

/* A file from a server is trusted no more than one found on disk. The user of the process counts,
 * not the owner of the file: a file system that a user provides may lie about the owner. */
static struct object *open_fetched(const struct object *object, struct fetch *fetch)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	int fd = fetch_debug(fetch, object->build_id, object->user);

	if (fd < 0 || object_open_fd(fd, object->path, &debug) < 0 ||
	    strcmp(debug->build_id, object->build_id) != 0)
		return NULL;
	debug->user = object->user;
	return TAKE_PTR(debug);
}

static uint64_t pause_ns(const struct debug_files *files)
{
	uint64_t ns = files->is_late ? LATE_AGAIN_NS << files->late_times : LOOK_AGAIN_NS;

	return ns < LOOK_AGAIN_NS ? ns : LOOK_AGAIN_NS;
}

static bool is_due(const struct debug_files *files)
{
	bool may_change = files->is_late || (!files->has_dwarf && !files->debug);

	return !files->looked_ns ||
	       (may_change && clock_mono_ns() - files->looked_ns >= pause_ns(files));
}

/* A search that was refused has cost nothing, so the next call searches. */
static void note_search(struct debug_files *files, int err)
{
	files->is_late = err == -ETIMEDOUT || err == -EBUSY;
	if (!files->is_late)
		files->late_times = 0;
	else if (err == -ETIMEDOUT && files->late_times < MAX_DOUBLINGS)
		files->late_times++;
	if (err == -EBUSY || err == -EAGAIN)
		files->looked_ns = 0;
}

static void look_for_debug(struct debug_files *files, struct object *object,
                           const struct links *links, const struct debug_search *search)
{
	files->checks.left_ns = *search->check_ns;
	int err = debugfile_open_aside(search->aside, object, links, &files->checks, &files->debug);
	*search->check_ns = files->checks.left_ns;
	if (err < 0)
		files->debug = NULL;
	note_search(files, err);
}

static void look_for_supplement(struct debug_files *files, struct object *object,
                                const struct links *links, const struct debug_search *search)
{
	int fd = debugfile_open_supplement_aside(search->aside, object, links);

	files->supplement = fd < 0 ? -1 : fd;
	note_search(files, fd);
}

static int look(struct debug_files *files, struct object *object, const struct debug_search *search)
{
	struct links links;
	int err = links_ask(search->reader, object, object->id, &links);

	if (err < 0)
		return err;
	files->looked_ns = clock_mono_ns();
	files->has_dwarf = links.has_dwarf;
	if (links.has_dwarf)
		look_for_supplement(files, object, &links, search);
	else
		look_for_debug(files, object, &links, search);
	return 0;
}

/* The supplement of the debug file. */
static void look_further(struct debug_files *files, const struct object *object,
                         const struct debug_search *search)
{
	struct links links;

	files->looked_ns = clock_mono_ns();
	files->is_late = false;
	if (links_ask(search->reader, files->debug, debugfile_number(object), &links) == 0)
		look_for_supplement(files, files->debug, &links, search);
}

bool debug_files_refresh(struct debug_files *files, struct object *object,
                         const struct debug_search *search)
{
	if (files->supplement >= 0 || (files->debug && !(files->is_late && is_due(files))))
		return false;
	if (files->debug) {
		look_further(files, object, search);
		return files->supplement >= 0;
	}
	if (is_due(files) && look(files, object, search) < 0)
		return false;
	if (!files->has_dwarf && !files->debug && search->fetch && object->build_id[0])
		files->debug = open_fetched(object, search->fetch);
	if (files->debug)
		look_further(files, object, search);
	return files->debug || files->supplement >= 0;
}
