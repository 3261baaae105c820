/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * There is one link for each program. The kernel attaches a link's places in the given order:
 * contexts, then frees, then the rest. Returns are attached before their entries: an entry whose
 * return is not seen would be counted as lost.
 */
#include "cuda/gpu_links.h"

#include <errno.h>
#include <stdio.h>

struct places {
	uint64_t offsets[MAX_GPU_SITES], cookies[MAX_GPU_SITES];
	size_t count;
};

enum which { WITHOUT_RETURN = 1 << 0, WITH_RETURN = 1 << 1 };

static void choose(const struct gpu_file *file, enum which which, struct places *ret_places)
{
	ret_places->count = 0;
	for (size_t i = 0; i < file->count; i++) {
		union gpu_site_cookie cookie = gpu_site_cookie(&file->sites[i]);

		if (!(which & (cookie.flags & GPU_SITE_RETURNS ? WITH_RETURN : WITHOUT_RETURN)))
			continue;
		ret_places->offsets[ret_places->count] = file->sites[i].offset;
		ret_places->cookies[ret_places->count++] = cookie.cookie;
	}
}

static int attach(struct uprobes *links, int program, enum uprobe_kind kind, enum which which,
                  const struct gpu_file *file, int fd)
{
	struct places places;
	char path[32];

	choose(file, which, &places);
	if (!places.count)
		return 0;
	if (program < 0)
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return uprobes_attach(links, program, kind, path, 0,
	                      &(struct uprobe_sites){
				      .offsets = places.offsets,
				      .cookies = places.cookies,
				      .count = places.count,
			      });
}

static int attach_sessions(struct uprobes *links, const struct gpu_programs *programs,
                           const struct gpu_file *file, int fd)
{
	int err = attach(links, programs->entry, UPROBE_ENTRY, WITHOUT_RETURN, file, fd);

	return err ?: attach(links, programs->session, UPROBE_SESSION, WITH_RETURN, file, fd);
}

static int attach_pairs(struct uprobes *links, const struct gpu_programs *programs,
                        const struct gpu_file *file, int fd)
{
	int err = attach(links, programs->leave, UPROBE_RETURN, WITH_RETURN, file, fd);

	return err
	               ?: attach(links, programs->entry, UPROBE_ENTRY, WITHOUT_RETURN | WITH_RETURN,
	                         file, fd);
}

int gpu_links_attach(struct uprobes *links, const struct gpu_programs *programs,
                     const struct gpu_file *file, int fd)
{
	int err = attach_sessions(links, programs, file, fd);

	if (err == -EOPNOTSUPP) {
		uprobes_detach(links);
		err = attach_pairs(links, programs, file, fd);
	}
	if (err)
		uprobes_detach(links);
	return err;
}
