/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The places are bits of a word. A file that failed keeps its entry and gives back its place.
 */
#include "probes/standing_files.h"

#include "base/clock.h"
#include "base/log.h"
#include "probes/standing_file.h"
#include "proc/owner.h"

#include <errno.h>
#include <string.h>

enum { TOLD_A_SWEEP = 4 };

_Static_assert((int)MAX_STANDING_FILES == 64, "a bit of a word each");
_Static_assert((int)MAX_STANDING_FILES *(int)MAX_USDT_SITES == (int)STATIC_SITES,
               "each has as many sites as a file may have");

/* How long a file that no process maps is listened to, unless another file needs its place:
 * programs that start again find it attached. */
static const uint64_t idle_ns = 600 * NSEC_PER_SEC;

void standing_files_init(struct standing_files *files, const struct standing_files_config *config)
{
	*files = (struct standing_files){
		.config = *config,
		.shares = {.whole = MAX_STANDING_FILES},
		.told_left = TOLD_A_SWEEP,
	};
	file_users_init(&files->users);
}

void standing_files_release(struct standing_files *files)
{
	file_users_release(&files->users);
	while (files->first) {
		struct standing_file *file = files->first;

		files->first = file->next;
		standing_file_free(file);
	}
	shares_clear(&files->shares);
}

static void look_at(struct standing_file *file, uint64_t now, bool is_wanted)
{
	if (file->used.users) {
		file->idle_ns = 0;
		return;
	}
	if (!file->idle_ns)
		file->idle_ns = now;
	if (file->state == STANDING_FAILED)
		standing_file_remove(file);
	else if (file->state == STANDING_ATTACHED &&
	         (is_wanted || (!file->inode.is_installed && now - file->idle_ns >= idle_ns)))
		standing_file_detach(file);
}

void standing_files_sweep(struct standing_files *files)
{
	uint64_t now = clock_mono_ns();
	bool is_wanted = files->is_wanted;
	struct standing_file *next;

	files->told_left = TOLD_A_SWEEP;
	files->is_wanted = false;
	file_users_update(&files->users, files->config.procs);
	for (struct standing_file *file = files->first; file; file = next) {
		next = file->next;
		look_at(file, now, is_wanted);
	}
	/* Processes that have ended leave room for other users' processes, too. */
	if (is_wanted)
		files->config.released(files->config.ctx);
}

/* A failure counts for the very file that failed, not for the same inode of another overlay. */
static struct standing_file *find(const struct standing_files *files,
                                  const struct file_inode *inode)
{
	struct standing_file *file = files->first;

	while (file &&
	       (!file_inode_is_same(&file->inode, inode) ||
	        (file->state == STANDING_FAILED && file->inode.stat.st_dev != inode->stat.st_dev)))
		file = file->next;
	return file;
}

static int refuse(struct standing_files *files, const char *path)
{
	files->refused++;
	files->is_wanted = true;
	if (files->told_left) {
		files->told_left--;
		log_warning("cannot attach to the static probes of %s yet: its user has too many "
		            "files or processes with such probes",
		            path);
	}
	return -ENOSPC;
}

static void note_untrusted(struct standing_files *files, const char *path, uint32_t owner)
{
	files->untrusted_count++;
	if (!files->told_left)
		return;
	files->told_left--;
	log_warning("profd does not attach to the static probes of %s of user %u: see the setting "
	            "user-probes",
	            path, owner);
}

static int take_place(struct standing_files *files, struct standing_file *file)
{
	if (!shares_take(&files->shares, file->owner, 1))
		return refuse(files, file->path);
	file->slot = __builtin_ctzll(~files->slots);
	files->slots |= 1ULL << file->slot;
	return 0;
}

static void drop_place(struct standing_files *files, const struct standing_file *file)
{
	files->slots &= ~(1ULL << file->slot);
	shares_give(&files->shares, file->owner, 1);
}

static int add(struct standing_files *files, int *fd, const struct file_inode *inode,
               uint32_t owner, const char *path, struct standing_file **ret_file)
{
	struct standing_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	*file = (struct standing_file){
		.files = files,
		.slot = NO_SLOT,
		.owner = owner,
		.inode = *inode,
		.path = strdup(path),
		.fd = TAKE_FD(*fd),
		.number = ++files->numbers,
	};
	err = file->path ? take_place(files, file) : -ENOMEM;
	if (!err) {
		err = standing_file_attach(file);
		if (err)
			drop_place(files, file);
	}
	if (err) {
		standing_file_free(file);
		return err;
	}
	file->next = files->first;
	files->first = file;
	*ret_file = file;
	return 0;
}

static int get(struct standing_files *files, uint32_t pid, uint32_t owner,
               const struct proc_mapping *mapping, struct file_used **ret_used)
{
	struct file_opener *opener = files->config.opener;
	struct standing_file *file;
	struct file_inode inode;
	int fd = -1;
	int err = file_opener_get(opener, pid, owner, mapping, &fd, &inode);

	if (err)
		return err;
	file = find(files, &inode);
	*ret_used = &files->untrusted;
	if (!file && !file_inode_may_be_probed(&inode, owner))
		note_untrusted(files, mapping->path, owner);
	else if (!file)
		err = add(files, &fd, &inode, owner, mapping->path, &file);
	if (file)
		*ret_used = &file->used;
	file_opener_close(opener, &fd, owner, &inode);
	return err;
}

bool standing_files_listen(struct standing_files *files, uint32_t pid,
                           const struct proc_mapping *mapping)
{
	struct file_used *used;

	if (file_users_find(&files->users, pid, mapping))
		return true;
	uint32_t owner = owner_read(pid);
	if (!file_users_have_room(&files->users, owner))
		return refuse(files, mapping->path) == 0;
	int err = get(files, pid, owner, mapping, &used);
	if (!err)
		err = file_users_set(&files->users, pid, owner, mapping, used);
	return err != -ENOSPC && err != -EINPROGRESS;
}
