/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct object - one executable file, held open from the moment a process mapped it, so that its
 * names and its frame information can be read after the process, or the file's name, has gone.
 * Constant once it is in the store; any thread.
 */
#pragma once

#include "base/cleanup.h"
#include "object/elf.h"

/* Tells root folders apart; all zero: not known. */
struct root_id {
	uint64_t device, inode;
};

/* Tells namespaces apart, by the inodes that stand for them; 0: not known. */
struct spaces_id {
	uint64_t mount, user;
};

struct object {
	uint32_t id;    /* given by the store; never reused */
	char *path;     /* as the process that first mapped it saw it */
	char *build_id; /* lower-case hex; "" when there is none */
	uint32_t owner; /* the user whose file it is: anybody can write any build ID into a file */
	uint32_t user;  /* for whom it is held open: of the process that first mapped it */
	uint64_t size;  /* of the file */
	uint64_t head;  /* hash of its first OBJECT_HEAD_BYTES */
	struct segment text; /* the first executable segment; all zero when there is none */
	uint32_t pid;        /* the process that first mapped it, 0: none */
	struct root_id root; /* of that process, then */
	struct spaces_id spaces;

	/* The rest belongs to object.c, store.c and opener.c. */
	int references;
	int fd;
	struct elf *elf;
	uint64_t device; /* as fstat() names it */
	struct object *next_dead;
};

enum { OBJECT_HEAD_BYTES = 4096 };

/* Takes over the descriptor, on failure too. */
int object_open_fd(int fd, const char *path, struct object **ret_object);
/* Copies the bytes, into a file of their own. */
int object_open_bytes(const void *bytes, size_t len, const char *path, struct object **ret_object);
struct object *object_ref(struct object *object);
void object_unref(struct object *object); /* takes NULL */
DEFINE_CLEANUP(struct object *, object_unref)

/* Closing a file asks its file system, which may hang. Between these two, the last object_unref()
 * leaves the object to whoever takes it by object_take_dead(), a list by next_dead, for
 * object_free(). */
void object_keep_dead(bool keep);
struct object *object_take_dead(void);
void object_free(struct object *object);
void object_abandon(struct object *object); /* the same, but its file stays open */

/* The file's own virtual address of the byte at a file offset. false when no segment holds it. */
bool object_address(const struct object *object, uint64_t file_offset, uint64_t *ret_address);
