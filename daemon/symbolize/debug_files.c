/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search for separate debug files: first on this host, then on the servers.
 */
#include "symbolize/debug_files.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* A search costs a few failing open() calls for each file. */
#define LOOK_AGAIN_NS (60 * NSEC_PER_SEC)

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
	return TAKE_PTR(debug);
}

static bool is_due(const struct debug_files *files)
{
	return !files->looked_ns ||
	       (!files->has_dwarf && clock_mono_ns() - files->looked_ns >= LOOK_AGAIN_NS);
}

static void look_for_debug(struct debug_files *files, const struct object *object,
                           const struct links *links, uint64_t *check_ns)
{
	files->checks.left_ns = *check_ns;
	int err = debugfile_open_some(object, links, &files->checks, &files->debug);
	*check_ns = files->checks.left_ns;
	if (err < 0)
		files->debug = NULL;
	if (err == -EAGAIN)
		files->looked_ns = 0;
}

static int look(struct debug_files *files, const struct object *object, struct reader *reader,
                uint64_t *check_ns)
{
	struct links links;
	int err = links_ask(reader, object, object->id, &links);

	if (err < 0)
		return err;
	files->looked_ns = clock_mono_ns();
	files->has_dwarf = links.has_dwarf;
	if (links.has_dwarf)
		files->supplement = debugfile_open_supplement(object, &links);
	else
		look_for_debug(files, object, &links, check_ns);
	return 0;
}

bool debug_files_refresh(struct debug_files *files, const struct object *object,
                         struct reader *reader, struct fetch *fetch, uint64_t *check_ns)
{
	struct links links;

	if (files->debug || files->supplement >= 0 ||
	    (is_due(files) && look(files, object, reader, check_ns) < 0))
		return false;
	if (!files->has_dwarf && !files->debug && fetch && object->build_id[0])
		files->debug = open_fetched(object, fetch);
	if (files->debug && links_ask(reader, files->debug, debugfile_number(object), &links) == 0)
		files->supplement = debugfile_open_supplement(files->debug, &links);
	return files->debug || files->supplement >= 0;
}
