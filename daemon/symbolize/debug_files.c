/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Looking for separate debug files: on this host first, then at the servers.
 */
#include "symbolize/debug_files.h"

#include "base/clock.h"
#include "object/debugfile.h"

#include <string.h>

/* Looking costs a few failing open() for each file. */
#define LOOK_AGAIN_NS (60 * NSEC_PER_SEC)

void debug_files_release(struct debug_files *files)
{
	object_unref(files->debug);
	if (files->supplement >= 0)
		close(files->supplement);
	*files = DEBUG_FILES_NONE;
}

static bool has_dwarf(const struct object *object)
{
	return elf_has_section(object->elf, ".debug_info") ||
	       elf_has_section(object->elf, ".zdebug_info");
}

/* What a server gives is believed no more than what is found on the disk. */
static struct object *open_fetched(const struct object *object, struct fetch *fetch)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	int fd = fetch_debug(fetch, object->build_id);

	if (fd < 0 || object_open_fd(fd, object->path, &debug) < 0 ||
	    strcmp(debug->build_id, object->build_id) != 0)
		return NULL;
	return TAKE_PTR(debug);
}

static void look(struct debug_files *files, const struct object *object)
{
	uint64_t now_ns = clock_mono_ns();

	if (files->looked_ns && now_ns - files->looked_ns < LOOK_AGAIN_NS)
		return;
	files->looked_ns = now_ns;
	if (debugfile_open(object, &files->debug) < 0)
		files->debug = NULL;
}

bool debug_files_refresh(struct debug_files *files, const struct object *object,
                         struct fetch *fetch)
{
	const struct object *with_dwarf = object;

	if (files->debug || files->supplement >= 0)
		return false;
	if (!has_dwarf(object)) {
		look(files, object);
		if (!files->debug && fetch && object->build_id[0])
			files->debug = open_fetched(object, fetch);
		if (!files->debug)
			return false;
		with_dwarf = files->debug;
	} else if (files->looked_ns) {
		return false;
	}
	files->looked_ns = clock_mono_ns();
	files->supplement = debugfile_open_supplement(with_dwarf);
	return files->debug || files->supplement >= 0;
}
