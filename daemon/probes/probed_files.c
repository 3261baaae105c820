/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file is opened as the process has it mapped. Any user can map files that look like those with
 * places to probe. Hence a file that turned out to be something else takes no place from others,
 * and everything kept about it can be found out again by reading it.
 */
#include "probes/probed_files_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "proc/owner.h"

#include <errno.h>
#include <string.h>

enum { ROOM_SWEEP_S = 10 }; /* between sweeps for want of room */

_Static_assert((int)MAX_PROBED_FILES == 64, "a bit of a word each");

void probed_files_init(struct probed_files *files, const struct probed_files_config *config)
{
	*files = (struct probed_files){.config = *config, .shares = {.whole = MAX_PROBED_FILES}};
	file_users_init(&files->users);
}

void probed_files_release(struct probed_files *files)
{
	file_users_release(&files->users);
	free(files->untrusted_path);
	while (files->first) {
		struct probed_file *file = files->first;

		files->first = file->next;
		probed_file_free(file);
	}
	shares_clear(&files->shares);
}

/* Attaching to an installed file stops forks (probes/file_inode.h). A user who maps it now and then
 * must not cause that again and again, so the file stays attached while there is room. */
static void look_at(struct probed_file *file, uint64_t now, bool for_room)
{
	if (file->used.users) {
		file->idle_ns = 0;
		return;
	}
	if (!file->idle_ns)
		file->idle_ns = now;
	if (file->state == PROBED_FAILED)
		probed_file_remove(file);
	else if (file->state == PROBED_ATTACHED &&
	         (for_room || (!file->inode.is_installed &&
	                       now - file->idle_ns >= file->files->config.kind->idle_ns)))
		probed_file_let_go(file);
}

static void sweep(struct probed_files *files, bool for_room)
{
	uint64_t now = clock_mono_ns();
	struct probed_file *next;

	file_users_update(&files->users, files->config.procs);
	if (!files->untrusted.users) {
		free(files->untrusted_path);
		files->untrusted_path = NULL;
	}
	for (struct probed_file *file = files->first; file; file = next) {
		next = file->next;
		look_at(file, now, for_room);
	}
}

void probed_files_sweep(struct probed_files *files)
{
	bool is_wanted = files->is_wanted, is_waited_for = files->is_waited_for;

	files->told = 0;
	files->is_wanted = files->is_waited_for = false;
	sweep(files, is_wanted);
	/* Processes that have ended leave room for other users' processes, too. */
	if (is_waited_for)
		files->config.kind->changed(files);
}

/* A sweep goes through every process, so it is not done for each file that finds no room. */
static void sweep_for_room(struct probed_files *files, bool is_wanted)
{
	uint64_t now = clock_mono_ns();

	if (files->swept_ns && now - files->swept_ns < ROOM_SWEEP_S * NSEC_PER_SEC)
		return;
	files->swept_ns = now;
	sweep(files, is_wanted);
}

/* A failure counts for the very file that failed, not for the same inode of another overlay. */
static struct probed_file *find(const struct probed_files *files, const struct file_inode *inode)
{
	for (struct probed_file *file = files->first; file; file = file->next) {
		if (file_inode_is_same(&file->inode, inode) &&
		    (file->state != PROBED_FAILED || file->inode.stat.st_dev == inode->stat.st_dev))
			return file;
	}
	return NULL;
}

static int refuse(struct probed_files *files, const char *path)
{
	files->refused++;
	files->is_waited_for = true;
	if (probed_files_may_tell(files))
		log_warning("cannot attach %s %s yet: its user has too many files or processes "
		            "with such probes",
		            files->config.kind->what, path);
	return -ENOSPC;
}

static void note_untrusted(struct probed_files *files, const char *path, uint32_t owner,
                           uint32_t hint)
{
	files->untrusted_count++;
	files->untrusted_hint = hint;
	free(files->untrusted_path);
	files->untrusted_path = strdup(path);
	if (probed_files_may_tell(files))
		log_warning("profd does not attach %s %s of user %u: see the setting user-probes",
		            files->config.kind->what, path, owner);
}

static int take_place(struct probed_files *files, uint32_t owner, const char *path, int *ret_slot)
{
	bool taken = shares_take(&files->shares, owner, 1);

	if (!taken) {
		files->is_wanted = true;
		sweep_for_room(files, true);
		taken = shares_take(&files->shares, owner, 1);
	}
	if (!taken)
		return refuse(files, path);
	*ret_slot = __builtin_ctzll(~files->slots);
	files->slots |= 1ULL << *ret_slot;
	return 0;
}

static int add(struct probed_files *files, int *fd, const struct file_inode *inode, uint32_t owner,
               const char *path, uint32_t hint, struct probed_file **ret_file)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_free_ struct probed_file *file = calloc(1, files->config.kind->file_bytes);
	int slot, err;

	if (!copy || !file)
		return -ENOMEM;
	err = take_place(files, owner, path, &slot);
	if (err)
		return err;
	file->files = files;
	file->inode = *inode;
	file->path = TAKE_PTR(copy);
	file->owner = owner;
	file->hint = hint;
	file->slot = slot;
	file->fd = TAKE_FD(*fd);
	file->number = ++files->numbers;
	file->next = files->first;
	files->first = file;
	*ret_file = TAKE_PTR(file);
	probed_file_start(*ret_file);
	return 0;
}

static int get(struct probed_files *files, uint32_t pid, uint32_t owner,
               const struct proc_mapping *mapping, uint32_t hint, struct file_used **ret_used)
{
	struct file_opener *opener = files->config.opener;
	struct file_inode inode;
	struct probed_file *file;
	int fd = -1;
	int err = file_opener_get(opener, pid, owner, mapping, &fd, &inode);

	if (err)
		return err;
	file = find(files, &inode);
	*ret_used = &files->untrusted;
	if (!file && !file_inode_may_be_probed(&inode, owner))
		note_untrusted(files, mapping->path, owner, hint);
	else if (!file)
		err = add(files, &fd, &inode, owner, mapping->path, hint, &file);
	if (file)
		*ret_used = &file->used;
	file_opener_close(opener, &fd, owner, &inode);
	return err;
}

bool probed_files_use(struct probed_files *files, uint32_t pid, const struct proc_mapping *mapping,
                      uint32_t hint)
{
	struct file_used *used;

	if (file_users_find(&files->users, pid, mapping))
		return true;
	uint32_t owner = owner_read(pid);
	if (!file_users_have_room(&files->users, owner))
		sweep_for_room(files, false);
	if (!file_users_have_room(&files->users, owner))
		return refuse(files, mapping->path) == 0;
	int err = get(files, pid, owner, mapping, hint, &used);
	if (!err)
		err = file_users_set(&files->users, pid, owner, mapping, used);
	files->is_waited_for |= err == -ENOSPC;
	return err != -ENOSPC && err != -EINPROGRESS;
}
