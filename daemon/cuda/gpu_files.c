/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file is opened as the process has it mapped. It goes from being attached to attached. When no
 * process maps it any more, it is detached and removed; a process that maps it meanwhile brings it
 * back. Any user can map files with such names. Hence a file that turned out to be something else
 * takes no place from probed files, and everything kept about it can be found out again by reading
 * it.
 */
#include "cuda/gpu_files.h"

#include "base/clock.h"
#include "base/log.h"
#include "cuda/gpu_probed.h"
#include "proc/owner.h"

#include <errno.h>
#include <string.h>

enum { FULL_SWEEP_S = 10 }; /* between sweeps for want of room */

struct gpu_files *gpu_files_new(const struct gpu_files_config *config)
{
	struct gpu_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->config = *config;
	file_users_init(&files->users);
	return files;
}

void gpu_files_free(struct gpu_files *files)
{
	if (!files)
		return;
	file_users_release(&files->users);
	free(files->untrusted_path);
	while (files->first) {
		struct probed *file = files->first;

		files->first = file->next;
		gpu_probed_free(file);
	}
	free(files);
}

/* Attaching to an installed file stops forks (probes/file_inode.h). A user who maps it now and
 * then must not cause that again and again, so the file stays attached while there is room. */
static void sweep(struct gpu_files *files, bool for_room)
{
	struct probed *file, *next;

	file_users_update(&files->users, files->config.procs);
	if (!files->untrusted.users) {
		free(files->untrusted_path);
		files->untrusted_path = NULL;
	}
	for (file = files->first; file; file = next) {
		next = file->next;
		if (file->used.users)
			continue;
		if (file->state == ATTACHED && (for_room || !file->inode.is_installed))
			gpu_probed_let_go(file);
		else if (file->state == FAILED)
			gpu_probed_remove(file);
	}
}

bool gpu_files_sweep(struct gpu_files *files)
{
	files->told = 0;
	sweep(files, false);
	return file_opener_sweep(files->config.opener) || files->first;
}

/* A failure counts for the very file that failed, not for the same inode of another overlay. */
static struct probed *find(const struct gpu_files *files, const struct file_inode *inode)
{
	for (struct probed *file = files->first; file; file = file->next) {
		if (file_inode_is_same(&file->inode, inode) &&
		    (file->state != FAILED || file->inode.stat.st_dev == inode->stat.st_dev))
			return file;
	}
	return NULL;
}

/* Whether there is no room for one more file of that user. Any user may give files the driver's
 * name. */
static bool is_full(const struct gpu_files *files, uint32_t owner)
{
	size_t count = 0, owned = 0;

	for (const struct probed *file = files->first; file; file = file->next) {
		count += file->state != FAILED;
		owned += file->state != FAILED && file->owner == owner;
	}
	return count >= MAX_GPU_FILES || owned >= MAX_GPU_FILES - count;
}

/* A sweep goes through every process, so it is not done for each file that finds no room. */
static void sweep_for_room(struct gpu_files *files)
{
	uint64_t now = clock_mono_ns();

	if (files->swept_ns && now - files->swept_ns < FULL_SWEEP_S * NSEC_PER_SEC)
		return;
	files->swept_ns = now;
	sweep(files, true);
}

static int refuse(struct gpu_files *files, const char *path)
{
	if (gpu_files_may_tell(files))
		log_warning("cannot attach GPU probes to %s yet: too many files or processes",
		            path);
	return -ENOSPC;
}

static int add(struct gpu_files *files, int *fd, const struct file_inode *inode, uint32_t owner,
               const char *path, uint32_t libraries, struct probed **ret_file)
{
	struct probed *file;

	if (is_full(files, owner))
		sweep_for_room(files);
	if (is_full(files, owner))
		return refuse(files, path);
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->files = files;
	file->fd = TAKE_FD(*fd);
	file->inode = *inode;
	file->libraries = libraries;
	file->owner = owner;
	file->number = ++files->numbers;
	file->path = strdup(path);
	if (!file->path) {
		gpu_probed_free(file);
		return -ENOMEM;
	}
	file->next = files->first;
	files->first = file;
	gpu_probed_start(file);
	*ret_file = file;
	return 0;
}

static void note_untrusted(struct gpu_files *files, const char *path, uint32_t owner,
                           uint32_t libraries)
{
	files->untrusted_count++;
	files->untrusted_libraries = libraries;
	free(files->untrusted_path);
	files->untrusted_path = strdup(path);
	if (gpu_files_may_tell(files))
		log_warning("profd attaches no GPU probes to %s of user %u: see the setting "
		            "user-probes",
		            path, owner);
	files->config.changed(files->config.ctx);
}

static int get(struct gpu_files *files, uint32_t pid, uint32_t owner,
               const struct proc_mapping *mapping, uint32_t libraries, struct file_used **ret_used)
{
	struct file_opener *opener = files->config.opener;
	struct file_inode inode;
	struct probed *file;
	int fd = -1;
	int err = file_opener_get(opener, pid, owner, mapping, &fd, &inode);

	if (err)
		return err;
	file = find(files, &inode);
	*ret_used = &files->untrusted;
	if (!file && !file_inode_may_be_probed(&inode, owner))
		note_untrusted(files, mapping->path, owner, libraries);
	else if (!file)
		err = add(files, &fd, &inode, owner, mapping->path, libraries, &file);
	if (file)
		*ret_used = &file->used;
	file_opener_close(opener, &fd, owner, &inode);
	return err;
}

bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries)
{
	struct file_used *used;

	if (file_users_find(&files->users, pid, mapping))
		return true;
	uint32_t owner = owner_read(pid);
	if (!file_users_have_room(&files->users, owner))
		sweep_for_room(files);
	if (!file_users_have_room(&files->users, owner)) {
		refuse(files, mapping->path);
		return false;
	}
	int err = get(files, pid, owner, mapping, libraries, &used);
	if (!err)
		err = file_users_set(&files->users, pid, owner, mapping, used);
	return err != -ENOSPC && err != -EINPROGRESS;
}

void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status)
{
	*ret_status = (struct gpu_files_status){.untrusted = files->untrusted_count};
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
	if (!ret_status->err && files->untrusted_path && files->untrusted_libraries & libraries) {
		ret_status->err = -EPERM;
		ret_status->path = files->untrusted_path;
	}
}
