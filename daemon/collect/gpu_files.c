/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opened as the process has it mapped. A file goes from being attached to attached, from there,
 * when nobody has it any more, to being detached and away; who maps it meanwhile brings it back.
 * Any user can map files that are called so, hence what turned out to be something else takes no
 * place from what is probed, and nothing is kept that cannot be found out again by looking.
 */
#include "collect/gpu_files.h"

#include "base/clock.h"
#include "base/log.h"
#include "collect/gpu_ask.h"
#include "collect/gpu_inode.h"
#include "collect/gpu_links.h"
#include "collect/gpu_users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	FULL_SWEEP_S = 10, /* between sweeps for want of room */
	MAX_TOLD = 32,     /* warnings between two sweeps that the timer asks for */
};

enum state { ATTACHING, ATTACHED, FAILED, DETACHING };

struct probed {
	struct job job;
	struct gpu_used used;
	struct probed *next;
	struct gpu_files *files;
	enum state state;
	int fd;
	struct gpu_inode inode;
	char *path; /* as the process sees it */
	uint64_t number;
	uint32_t libraries; /* that it may be */

	/* The lane's until it is done. */
	struct gpu_file found;
	struct uprobes links;
	int err;
};

struct gpu_files {
	struct gpu_files_config config;
	struct probed *first;
	struct gpu_users users;
	uint64_t numbers;  /* that were given to files, for the reader */
	uint64_t swept_ns; /* when, for want of room */
	unsigned int told;
};

struct gpu_files *gpu_files_new(const struct gpu_files_config *config)
{
	struct gpu_files *files = calloc(1, sizeof(*files));

	if (files)
		files->config = *config;
	return files;
}

static void probed_free(struct probed *file)
{
	uprobes_detach(&file->links);
	closep(&file->fd);
	free(file->path);
	free(file);
}

void gpu_files_free(struct gpu_files *files)
{
	if (!files)
		return;
	gpu_users_release(&files->users);
	while (files->first) {
		struct probed *file = files->first;

		files->first = file->next;
		probed_free(file);
	}
	free(files);
}

static void attach(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct reader *reader = file->files->config.reader;

	/* By a process that no other file can have taken over: no file may say where another one
	 * is written to. */
	reader_rest(reader, 0);
	file->err = gpu_ask(reader, file->fd, file->number, file->libraries, &file->found);
	reader_rest(reader, 0);
	if (!file->err)
		file->err = gpu_links_attach(&file->links, &file->files->config.kernel->programs,
		                             &file->found, file->fd);
	if (file->err)
		file->found.count = 0;
}

static void detach(struct job *job)
{
	struct probed *file = (struct probed *)job;

	uprobes_detach(&file->links);
}

static void remove_file(struct probed *file)
{
	struct gpu_files *files = file->files;
	struct probed **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	gpu_users_forget(&files->users, &file->used);
	probed_free(file);
}

/* The newest are kept; who maps another one has it looked into again. */
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
		remove_file(oldest);
}

static bool may_tell(struct gpu_files *files)
{
	return files->told < MAX_TOLD && files->told++ < MAX_TOLD;
}

static void on_attached(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct gpu_files_config config = file->files->config;

	file->state = file->err ? FAILED : ATTACHED;
	/* A file that is called so and is something else is nobody's fault. */
	if (file->err && file->err != -ENOENT && file->err != -ECANCELED && may_tell(file->files))
		log_warning("cannot watch GPUs through %s: %s", file->path, strerror(-file->err));
	else if (!file->err)
		log_info("watching GPUs through %s, %u functions", file->path, file->found.count);
	forget_failed(file->files);
	config.changed(config.ctx);
}

static void start(struct probed *file)
{
	file->state = ATTACHING;
	file->err = -ECANCELED; /* unless it is run */
	file->job = (struct job){attach, on_attached, NULL};
	if (lane_submit(file->files->config.lane, &file->job))
		file->state = FAILED;
}

static void on_detached(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct gpu_files_config config = file->files->config;

	if (file->used.users)
		start(file);
	else
		remove_file(file);
	config.changed(config.ctx);
}

static void let_go(struct probed *file)
{
	file->state = DETACHING;
	file->job = (struct job){detach, on_detached, NULL};
	if (lane_submit(file->files->config.lane, &file->job))
		file->state = ATTACHED;
}

static void sweep(struct gpu_files *files)
{
	struct probed *file, *next;

	gpu_users_update(&files->users, files->config.procs);
	for (file = files->first; file; file = next) {
		next = file->next;
		if (file->used.users)
			continue;
		if (file->state == ATTACHED)
			let_go(file);
		else if (file->state == FAILED)
			remove_file(file);
	}
}

bool gpu_files_sweep(struct gpu_files *files)
{
	files->told = 0;
	sweep(files);
	return files->first != NULL;
}

/* What failed is believed of nothing but itself. */
static struct probed *find(const struct gpu_files *files, const struct gpu_inode *inode)
{
	for (struct probed *file = files->first; file; file = file->next) {
		if (gpu_inode_is_same(&file->inode, inode) &&
		    (file->state != FAILED || file->inode.stat.st_dev == inode->stat.st_dev))
			return file;
	}
	return NULL;
}

static bool is_full(const struct gpu_files *files)
{
	size_t count = 0;

	for (const struct probed *file = files->first; file; file = file->next)
		count += file->state != FAILED;
	return count >= MAX_GPU_FILES;
}

/* A sweep asks about every process, so that it is not done for every file there is no room for. */
static void sweep_for_room(struct gpu_files *files)
{
	uint64_t now = clock_mono_ns();

	if (files->swept_ns && now - files->swept_ns < FULL_SWEEP_S * NSEC_PER_SEC)
		return;
	files->swept_ns = now;
	sweep(files);
}

static int refuse(struct gpu_files *files, const char *path)
{
	if (may_tell(files))
		log_warning("cannot watch GPUs through %s yet: too many files or processes", path);
	return -ENOSPC;
}

static int add(struct gpu_files *files, int *fd, const struct gpu_inode *inode, const char *path,
               uint32_t libraries, struct probed **ret_file)
{
	struct probed *file;

	if (is_full(files))
		sweep_for_room(files);
	if (is_full(files))
		return refuse(files, path);
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->files = files;
	file->fd = TAKE_FD(*fd);
	file->inode = *inode;
	file->libraries = libraries;
	file->number = ++files->numbers;
	file->path = strdup(path);
	if (!file->path) {
		probed_free(file);
		return -ENOMEM;
	}
	file->next = files->first;
	files->first = file;
	start(file);
	*ret_file = file;
	return 0;
}

static int get(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
               uint32_t libraries, struct probed **ret_file)
{
	_cleanup_close_ int fd = -1;
	struct gpu_inode inode;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
	         (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = gpu_inode_get(fd, &inode);
	if (err)
		return err;
	*ret_file = find(files, &inode);
	return *ret_file ? 0 : add(files, &fd, &inode, mapping->path, libraries, ret_file);
}

bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries)
{
	struct probed *file = NULL;

	if (gpu_users_find(&files->users, pid, mapping))
		return true;
	if (!gpu_users_have_room(&files->users))
		sweep_for_room(files);
	if (!gpu_users_have_room(&files->users)) {
		refuse(files, mapping->path);
		return false;
	}
	int err = get(files, pid, mapping, libraries, &file);
	if (!err)
		err = gpu_users_set(&files->users, pid, mapping, &file->used);
	return err != -ENOSPC;
}

void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status)
{
	*ret_status = (struct gpu_files_status){0};
	for (const struct probed *file = files->first; file; file = file->next) {
		if (file->state == ATTACHED && file->found.libraries & libraries) {
			ret_status->attached++;
			ret_status->sites += file->found.count;
		} else if (file->state == FAILED && file->libraries & libraries &&
		           file->err != -ENOENT && !ret_status->err) {
			ret_status->err = file->err;
			ret_status->path = file->path;
		}
	}
}
