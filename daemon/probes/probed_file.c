/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the lane does with one file.
 */
#include "probes/probed_files_private.h"

#include "base/accounts.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

enum { MAX_TOLD = 16 }; /* warnings between two sweeps */

void probed_file_free(struct probed_file *file)
{
	uprobes_detach(&file->links);
	file_opener_close(file->files->config.opener, &file->fd, file->owner, &file->inode);
	free(file->path);
	free(file);
}

bool probed_files_may_tell(struct probed_files *files)
{
	return files->told < MAX_TOLD && files->told++ < MAX_TOLD;
}

static void give_place_back(struct probed_file *file)
{
	if (file->slot == NO_SLOT)
		return;
	file->files->slots &= ~(1ULL << file->slot);
	shares_give(&file->files->shares, file->owner, 1);
	file->slot = NO_SLOT;
}

void probed_file_remove(struct probed_file *file)
{
	struct probed_files *files = file->files;
	struct probed_file **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	file_users_forget(&files->users, &file->used);
	give_place_back(file);
	probed_file_free(file);
}

/* The newest failures are kept, so that they are not tried over and over. A forgotten file is tried
 * again when a process maps it. */
static void forget_failed(struct probed_files *files)
{
	struct probed_file *oldest = NULL;
	size_t count = 0;

	for (struct probed_file *file = files->first; file; file = file->next) {
		if (file->state != PROBED_FAILED)
			continue;
		count++;
		oldest = file; /* new ones come first in the list */
	}
	if (count > MAX_PROBED_FAILED)
		probed_file_remove(oldest);
}

static void fail(struct probed_file *file)
{
	struct probed_files *files = file->files;
	const struct probed_kind *kind = files->config.kind;

	file->state = PROBED_FAILED;
	if (file->err != -ENOENT && file->err != -ECANCELED && probed_files_may_tell(files))
		log_warning("cannot attach %s %s: %s", kind->what, file->path, kind->why(file));
	give_place_back(file);
	forget_failed(files);
	kind->changed(files);
}

static void attach(struct job *job)
{
	struct probed_file *file = (struct probed_file *)job;

	file->err = file->files->config.kind->attach(file);
	if (file->err)
		uprobes_detach(&file->links);
}

static void on_attached(struct job *job)
{
	struct probed_file *file = (struct probed_file *)job;

	if (file->err) {
		fail(file);
		return;
	}
	file->state = PROBED_ATTACHED;
	file->files->config.kind->attached(file);
}

static void detach(struct job *job)
{
	uprobes_detach(&((struct probed_file *)job)->links);
}

static void on_detached(struct job *job)
{
	struct probed_file *file = (struct probed_file *)job;
	struct probed_files *files = file->files;

	if (file->used.users) {
		probed_file_start(file);
		return;
	}
	probed_file_remove(file);
	files->config.kind->changed(files);
}

void probed_file_start(struct probed_file *file)
{
	file->err = -ECANCELED; /* stays when the job is not run */
	file->job = (struct job){attach, on_attached, NULL};
	file->state = PROBED_ATTACHING;
	if (lane_submit(file->files->config.lane, &file->job))
		fail(file);
}

uint64_t probed_files_user_of(const struct job *job)
{
	return job->run == attach ? LANE_USER(((const struct probed_file *)job)->owner) : 0;
}

void probed_file_let_go(struct probed_file *file)
{
	file->job = (struct job){detach, on_detached, NULL};
	if (!lane_submit(file->files->config.lane, &file->job))
		file->state = PROBED_DETACHING;
}
