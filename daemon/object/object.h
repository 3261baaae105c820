/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct object - one executable file, held open from the moment a process mapped it, so that its
 * names and frame information can be read after the process has ended or the file's name is gone.
 * Constant once it is in the store; any thread.
 */
#pragma once

#include "base/cleanup.h"
#include "elf/elf.h"

/* Identifies a root folder; all zero: unknown. */
struct root_id {
	uint64_t device, inode;
};

/* Identifies namespaces by their inodes; 0: unknown. */
struct spaces_id {
	uint64_t mount, user;
};

struct object {
	uint32_t id;    /* given by the store, never reused */
	char *path;     /* as the process that mapped it first saw it */
	char *build_id; /* lower-case hexadecimal digits; "" when there is none */
	uint32_t owner; /* the owner of the file; any user can write any build ID into a file */
	uint32_t user;  /* user of that process; charged for the open file */
	uint64_t size;  /* of the file */
	uint64_t head;  /* hash of its first OBJECT_HEAD_BYTES */
	struct segment text; /* the first executable segment; all zero when there is none */
	uint32_t pid;        /* the process that first mapped it, 0: none */
	struct root_id root; /* root folder of that process at that time */
	struct spaces_id spaces;

	/* The rest is private to object.c, store.c and opener.c. */
	int references;
	int fd;
	struct elf *elf;
	uint64_t device; /* from fstat() */
	struct object *next_dead;
};

enum { OBJECT_HEAD_BYTES = 4096 };

/* Takes ownership of the descriptor, even on failure. */
int object_open_fd(int fd, const char *path, struct object **ret_object);
/* Copies the bytes into a new file in memory. */
int object_open_bytes(const void *bytes, size_t len, const char *path, struct object **ret_object);
struct object *object_ref(struct object *object);
void object_unref(struct object *object); /* accepts NULL */
DEFINE_CLEANUP(struct object *, object_unref)

/* Closing a file asks its file system, which may hang. After object_keep_dead(true) the last
 * object_unref() therefore does not free the object but puts it on a list. object_take_dead() takes
 * the list, which is linked by next_dead; its objects are for object_free().
 * object_keep_dead(false) ends this. */
void object_keep_dead(bool keep);
struct object *object_take_dead(void);
void object_free(struct object *object);
void object_abandon(struct object *object); /* like object_free(), but leaves the file open */

/* The file's own virtual address of the byte at a file offset. False: no segment holds the byte. */
bool object_address(const struct object *object, uint64_t file_offset, uint64_t *ret_address);
/* Whether an own address is in an executable segment. */
bool object_is_code(const struct object *object, uint64_t address);
/* Whether an own address is in one of its segments, also behind what the file has of it. */
bool object_holds(const struct object *object, uint64_t address);
