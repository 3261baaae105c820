/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opened as the process has it mapped. A file goes from being attached to attached, from there,
 * when nobody has it any more, to being detached and away; who maps it meanwhile brings it back.
 */
#include "collect/gpu_files.h"

#include "base/log.h"
#include "collect/gpu_ask.h"
#include "collect/gpu_links.h"
#include "collect/gpu_users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum state { ATTACHING, ATTACHED, FAILED, DETACHING };

struct probed {
	struct job job;
	struct probed *next;
	struct gpu_files *files;
	enum state state;
	int fd;
	struct stat stat;
	char *path; /* as the process sees it */
	uint64_t number;
	uint32_t libraries; /* that it may be */
	struct gpu_users users;

	/* The lane's until it is done. */
	struct gpu_file found;
	struct uprobes links;
	int err;
};

struct gpu_files {
	struct gpu_files_config config;
	struct probed *first;
	size_t count;
	uint64_t numbers; /* that were given to files, for the reader */
	bool told_full;
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
	gpu_users_release(&file->users);
	free(file->path);
	free(file);
}

void gpu_files_free(struct gpu_files *files)
{
	if (!files)
		return;
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

static void on_attached(struct job *job)
{
	struct probed *file = (struct probed *)job;

	file->state = file->err ? FAILED : ATTACHED;
	/* A file that is called so and is something else is nobody's fault. */
	if (file->err && file->err != -ENOENT && file->err != -ECANCELED)
		log_warning("cannot watch GPUs through %s: %s", file->path, strerror(-file->err));
	else if (!file->err)
		log_info("watching GPUs through %s, %u functions", file->path, file->found.count);
	file->files->config.changed(file->files->config.ctx);
}

static void start(struct probed *file)
{
	file->state = ATTACHING;
	file->err = -ECANCELED; /* unless it is run */
	file->job = (struct job){attach, on_attached, NULL};
	if (lane_submit(file->files->config.lane, &file->job))
		file->state = FAILED;
}

static void remove_file(struct probed *file)
{
	struct gpu_files *files = file->files;
	struct probed **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	files->count--;
	probed_free(file);
}

static void on_detached(struct job *job)
{
	struct probed *file = (struct probed *)job;
	struct gpu_files_config config = file->files->config;

	if (gpu_users_update(&file->users, config.procs))
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

bool gpu_files_sweep(struct gpu_files *files)
{
	struct probed *file, *next;

	for (file = files->first; file; file = next) {
		next = file->next;
		if (file->state != ATTACHED && file->state != FAILED)
			continue;
		if (gpu_users_update(&file->users, files->config.procs))
			continue;
		if (file->state == ATTACHED)
			let_go(file);
		else
			remove_file(file);
	}
	return files->count > 0;
}

/* The same inode. Of two overlays of one lower file, which the kernel probes as one, the device
 * differs, and the rest does not. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino &&
	       (a->st_dev == b->st_dev ||
	        (a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec));
}

static struct probed *find(const struct gpu_files *files, const struct stat *stat)
{
	for (struct probed *file = files->first; file; file = file->next)
		if (is_same(&file->stat, stat))
			return file;
	return NULL;
}

static bool is_noted(const struct gpu_files *files, uint32_t pid,
                     const struct proc_mapping *mapping)
{
	for (const struct probed *file = files->first; file; file = file->next)
		if (gpu_users_have(&file->users, pid, mapping))
			return true;
	return false;
}

static bool has_room(struct gpu_files *files, const char *path)
{
	if (files->count >= MAX_GPU_FILES)
		gpu_files_sweep(files);
	if (files->count < MAX_GPU_FILES)
		return true;
	if (!files->told_full)
		log_warning("cannot watch GPUs through %s: %d other files are watched", path,
		            MAX_GPU_FILES);
	files->told_full = true;
	return false;
}

/* Takes over the descriptor. */
static struct probed *add(struct gpu_files *files, int fd, const struct stat *stat,
                          const char *path, uint32_t libraries)
{
	struct probed *file = has_room(files, path) ? calloc(1, sizeof(*file)) : NULL;

	if (!file) {
		close(fd);
		return NULL;
	}
	file->files = files;
	file->fd = fd;
	file->stat = *stat;
	file->libraries = libraries;
	file->number = ++files->numbers;
	file->path = strdup(path);
	if (!file->path) {
		probed_free(file);
		return NULL;
	}
	file->next = files->first;
	files->first = file;
	files->count++;
	start(file);
	return file;
}

void gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries)
{
	struct probed *file;
	struct stat stat;
	char path[96];
	int fd;

	if (is_noted(files, pid, mapping))
		return;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
	         (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &stat)) {
		close(fd);
		return;
	}
	file = find(files, &stat);
	if (file)
		close(fd);
	else
		file = add(files, fd, &stat, mapping->path, libraries);
	if (file)
		gpu_users_add(&file->users, pid, mapping);
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
