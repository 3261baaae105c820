/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Returns are attached before entries: an entry whose return is not seen would be counted as lost.
 */
#include "heap/heap_links.h"

static int attach(struct uprobes *links, int program, enum uprobe_kind kind,
                  const struct heap_plan_file *file, const struct heap_places *places, uint32_t pid)
{
	const struct uprobe_sites sites = {
		.offsets = places->offsets,
		.cookies = places->cookies,
		.count = places->count,
	};

	if (!places->count)
		return 0;
	return uprobes_attach(links, program, kind, file->path, pid, &sites);
}

int heap_links_count(struct uprobes *links, const struct heap_programs *programs,
                     const struct heap_plan *plan, uint32_t pid)
{
	int err = 0;

	for (size_t i = 0; !err && i < plan->file_count; i++)
		err = attach(links, programs->count, UPROBE_ENTRY, &plan->files[i],
		             &plan->files[i].all, pid);
	return err;
}

static int attach_allocations(struct uprobes *links, const struct heap_programs *programs,
                              const struct heap_plan_file *file, uint32_t pid, bool have_sessions)
{
	int err;

	if (have_sessions)
		return attach(links, programs->session, UPROBE_SESSION, file, &file->session, pid);
	err = attach(links, programs->leave, UPROBE_RETURN, file, &file->session, pid);
	return err ?: attach(links, programs->entry, UPROBE_ENTRY, file, &file->session, pid);
}

int heap_links_sample(struct uprobes *links, const struct heap_programs *programs,
                      const struct heap_plan *plan, uint32_t pid, bool have_sessions)
{
	int err = 0;

	for (size_t i = 0; !err && i < plan->file_count; i++) {
		const struct heap_plan_file *file = &plan->files[i];

		err = attach(links, programs->leave_instruction, UPROBE_ENTRY, file, &file->leave,
		             pid);
		if (!err)
			err = attach(links, programs->entry, UPROBE_ENTRY, file, &file->entry, pid);
		if (!err)
			err = attach_allocations(links, programs, file, pid, have_sessions);
	}
	return err;
}
