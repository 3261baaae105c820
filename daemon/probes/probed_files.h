/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct probed_files - the inodes in whose code profd has probes of one kind, each once, in every
 * process that maps them now or later, and which processes those are. A file that no process maps
 * any more is detached after a while, unless it is installed (probes/file_inode.h), or as soon as
 * another file needs its place. The files of one user, whose process was the first to map them, get
 * up to half of the places, and fewer when others have some (base/shares.h). Loop thread only,
 * except for what struct probed_file says.
 */
#pragma once

#include "base/lane.h"
#include "base/shares.h"
#include "kernel/uprobes.h"
#include "probes/file_inode.h"
#include "probes/file_opener.h"
#include "probes/file_users.h"
#include "proc/proc.h"

enum {
	/* Attached or to be attached. A host has few: a driver, a framework or two, a library that
	 * samples, and programs that have static probes themselves. */
	MAX_PROBED_FILES = 64,
	MAX_PROBED_FAILED = 32, /* could not be attached; the oldest is forgotten */
	NO_SLOT = -1,
};

enum probed_state {
	PROBED_ATTACHING,
	PROBED_ATTACHED,
	PROBED_FAILED,
	PROBED_DETACHING,
};

/* The first member of a kind's own struct. */
struct probed_file {
	struct job job;
	struct file_used used;
	struct probed_file *next;
	struct probed_files *files;
	enum probed_state state;
	struct file_inode inode;
	char *path;       /* as the process sees it */
	uint64_t idle_ns; /* since when no process maps it; 0: some process does */
	uint32_t owner;   /* the user whose process was the first to map it */

	/* The lane reads these. */
	uint32_t hint; /* what the file may be, from probed_files_use() */
	int slot;      /* of MAX_PROBED_FILES; NO_SLOT once it has failed */
	/* The lane owns these while it attaches or detaches the file. */
	int fd;
	uint64_t number; /* tells these files from each other, for the reader */
	struct uprobes links;
	int err;
};

/* A kind of probes. */
struct probed_kind {
	const char *what;  /* completes "cannot attach ... /the/file" */
	size_t file_bytes; /* of the kind's own struct */
	uint64_t idle_ns;  /* how long a file that no process maps stays attached */
	/* On the lane: finds the places in the file, and attaches to them. A negative errno;
	 * -ENOENT: there are none, which is not worth a warning. */
	int (*attach)(struct probed_file *file);
	/* After that, on the loop thread. */
	void (*attached)(struct probed_file *file);
	/* Processes that had to wait may find room now, or a file could not be attached. */
	void (*changed)(struct probed_files *files);
	/* Why attach() failed. */
	const char *(*why)(const struct probed_file *file);
};

/* Everything here outlives struct probed_files. */
struct probed_files_config {
	const struct probed_kind *kind;
	struct lane *lane;
	struct procs *procs;
	struct file_opener *opener;
};

struct probed_files {
	struct probed_files_config config;
	struct probed_file *first; /* the newest */
	struct file_users users;
	struct shares shares;
	uint64_t slots;    /* bit n: slot n is taken */
	uint64_t numbers;  /* the last number given to a file */
	uint64_t refused;  /* how often there was no room */
	uint64_t swept_ns; /* the time of the last sweep for want of room */
	/* Since the last sweep: a place was wanted in vain; processes were told to wait. */
	bool is_wanted, is_waited_for;
	unsigned int told; /* warnings since the last sweep */
	/* Takes the place of a probed file for processes that map a file that must not be probed
	 * for them, so that it is not opened anew at every change of the process. */
	struct file_used untrusted;
	char *untrusted_path; /* of the last such file; NULL: none */
	uint32_t untrusted_hint;
	uint64_t untrusted_count;
};

void probed_files_init(struct probed_files *files, const struct probed_files_config *config);
/* Call once the lane is idle. */
void probed_files_release(struct probed_files *files);

/* The process has a file mapped there that may have places to probe. The file is read and attached
 * to, unless that is done already. What cannot be attached is logged. False: there is no room, so
 * call again after changed(), or the file is being opened, so call again when the opener says so.
 * The mapping has an object. */
bool probed_files_use(struct probed_files *files, uint32_t pid, const struct proc_mapping *mapping,
                      uint32_t hint);
/* Detaches files that no process maps any more. Called now and then. */
void probed_files_sweep(struct probed_files *files);

/* For lane_take_turns(), if the lane's other jobs are for no user: attaching files is for the user
 * who owns them. So the real driver does not wait behind another user's many files with the
 * driver's name. */
uint64_t probed_files_user_of(const struct job *job);
