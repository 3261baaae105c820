/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lane asks the reader where the functions are, and attaches the programs. It gets one file at
 * a time; the other files wait here for their turn.
 */
#include "cuda/gpu_probed.h"

#include "base/log.h"
#include "cuda/gpu_ask.h"
#include "cuda/gpu_links.h"

#include <errno.h>
#include <string.h>

enum { MAX_TOLD = 32 }; /* warnings between two sweeps of the timer */

void gpu_probed_free(struct probed *file)
{
	uprobes_detach(&file->links);
	file_opener_close(file->files->config.opener, &file->fd, file->owner, &file->inode);
	free(file->path);
	free(file);
}

static void attach(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct reader *reader = file->files->config.reader;
	struct gpu_programs programs;

	/* A fresh reader process reads each file: a file that took over a process must not choose
	 * where probes are written in another file. */
	reader_rest(reader, 0);
	file->err = gpu_ask(reader, file->fd, file->number, file->libraries, &file->found);
	reader_rest(reader, 0);
	if (!file->err)
		file->err = gpu_kernel_load(file->files->config.kernel, &programs);
	if (!file->err)
		file->err = gpu_links_attach(&file->links, &programs, &file->found, file->fd);
	if (file->err)
		file->found.count = 0;
}

static void detach(struct job *job)
{
	struct probed *file = (struct probed *)job;

	uprobes_detach(&file->links);
}

void gpu_probed_remove(struct probed *file)
{
	struct gpu_files *files = file->files;
	struct probed **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	file_users_forget(&files->users, &file->used);
	gpu_probed_free(file);
}

/* The newest failures are kept. A forgotten file is read again when a process maps it. */
static void forget_failed(struct gpu_files *files)
{
	struct probed *oldest = NULL;
	size_t count = 0;

	for (struct probed *file = files->first; file; file = file->next) {
		if (file->state != FAILED)
			continue;
		count++;
		oldest = file; /* new ones come first in the list */
	}
	if (count > MAX_GPU_FAILED)
		gpu_probed_remove(oldest);
}

bool gpu_files_may_tell(struct gpu_files *files)
{
	return files->told < MAX_TOLD && files->told++ < MAX_TOLD;
}

static void attach_next(struct gpu_files *files);

static const char *why_not(const struct probed *file)
{
	const char *why = gpu_kernel_why(file->files->config.kernel);

	return *why ? why : uprobes_error(file->err);
}

static void on_attached(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct gpu_files *files = file->files;
	struct gpu_files_config config = files->config;

	files->asked = NULL;
	file->state = file->err ? FAILED : ATTACHED;
	/* A file that has such a name and turns out to be something else is not an error. */
	if (file->err && file->err != -ENOENT && file->err != -ECANCELED &&
	    gpu_files_may_tell(file->files))
		log_warning("cannot attach GPU probes to %s: %s", file->path, why_not(file));
	else if (!file->err)
		log_info("attached GPU probes to %s: %u functions", file->path, file->found.count);
	forget_failed(files);
	attach_next(files);
	config.changed(config.ctx);
}

/* The file of the user who had the fewest turns; of that user's files the oldest, which is last in
 * the list. */
static struct probed *choose(const struct gpu_files *files)
{
	struct probed *chosen = NULL;
	size_t fewest = GPU_TURNS_KEPT;

	for (struct probed *file = files->first; file; file = file->next) {
		size_t turns = gpu_turns_of(&files->turns, file->owner);

		if (file->state != WAITING || turns > fewest)
			continue;
		fewest = turns;
		chosen = file;
	}
	return chosen;
}

/* Only one file at a time is in the lane: one that comes later may have to go before the others. */
static void attach_next(struct gpu_files *files)
{
	struct probed *file = files->asked ? NULL : choose(files);

	if (!file)
		return;
	gpu_turns_note(&files->turns, file->owner);
	file->state = ATTACHING;
	file->err = -ECANCELED; /* stays when the job is not run */
	file->job = (struct job){attach, on_attached, NULL};
	if (lane_submit(files->config.lane, &file->job))
		file->state = FAILED;
	else
		files->asked = file;
}

void gpu_probed_start(struct probed *file)
{
	file->state = WAITING;
	attach_next(file->files);
}

static void on_detached(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct gpu_files_config config = file->files->config;

	if (file->used.users)
		gpu_probed_start(file);
	else
		gpu_probed_remove(file);
	config.changed(config.ctx);
}

void gpu_probed_let_go(struct probed *file)
{
	file->state = DETACHING;
	file->job = (struct job){detach, on_detached, NULL};
	if (lane_submit(file->files->config.lane, &file->job))
		file->state = ATTACHED;
}
