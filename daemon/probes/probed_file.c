/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lane gets one file at a time; the other files wait here for their turn, so that a file that
 * comes later can go before the others.
 */
#include "probes/probed_file.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

enum { MAX_TOLD = 16 }; /* warnings between two sweeps */

static void attach_next(struct probed_files *files);

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
	struct probed_files *files = file->files;

	files->asked = NULL;
	if (file->err) {
		fail(file);
	} else {
		file->state = PROBED_ATTACHED;
		files->config.kind->attached(file);
	}
	attach_next(files);
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

void probed_turns_note(struct probed_turns *turns, uint32_t owner)
{
	turns->owners[turns->count++ % PROBED_TURNS_KEPT] = owner;
}

size_t probed_turns_of(const struct probed_turns *turns, uint32_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < turns->count && i < PROBED_TURNS_KEPT; i++)
		count += turns->owners[i] == owner;
	return count;
}

/* Chooses the oldest file, which is last in the list, of the user with the fewest recent turns. So
 * the real driver does not wait behind another user's many files with the driver's name. */
static struct probed_file *choose(const struct probed_files *files)
{
	struct probed_file *chosen = NULL;
	size_t fewest = PROBED_TURNS_KEPT;

	for (struct probed_file *file = files->first; file; file = file->next) {
		size_t turns = probed_turns_of(&files->turns, file->owner);

		if (file->state != PROBED_WAITING || turns > fewest)
			continue;
		fewest = turns;
		chosen = file;
	}
	return chosen;
}

static void attach_next(struct probed_files *files)
{
	struct probed_file *file = files->asked ? NULL : choose(files);

	if (!file)
		return;
	probed_turns_note(&files->turns, file->owner);
	file->err = -ECANCELED; /* stays when the job is not run */
	file->job = (struct job){attach, on_attached, NULL};
	if (lane_submit(files->config.lane, &file->job))
		return; /* the next sweep tries again */
	file->state = PROBED_ATTACHING;
	files->asked = file;
}

void probed_file_start(struct probed_file *file)
{
	file->state = PROBED_WAITING;
	attach_next(file->files);
}

void probed_file_let_go(struct probed_file *file)
{
	file->job = (struct job){detach, on_detached, NULL};
	if (!lane_submit(file->files->config.lane, &file->job))
		file->state = PROBED_DETACHING;
}
