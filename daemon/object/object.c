/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The descriptor keeps a deleted file readable. It stays open as long as the object, because worker
 * threads read the frame information whenever a table is built again.
 */
#include "object/object.h"

#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Objects without references whose files are still open. */
static struct object *dead;
static bool dead_are_kept;

/* Hashes the beginning of the file: the headers and, in most files, the build ID. Files with an
 * equal beginning are distinguished by the rest of their identity; see store.c. */
static int read_head(struct object *object)
{
	uint8_t head[OBJECT_HEAD_BYTES];
	ssize_t len = pread(object->fd, head, sizeof(head), 0);

	if (len < 0)
		return -errno;
	object->head = hash_bytes(HASH_START, head, (size_t)len);
	return 0;
}

static int read_identity(struct object *object)
{
	size_t count, len;
	const struct segment *segments = elf_segments(object->elf, &count);
	const uint8_t *build_id = elf_build_id(object->elf, &len);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].executable) {
			object->text = segments[i];
			break;
		}
	}

	object->build_id = calloc(1, 2 * len + 1);
	if (!object->build_id)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++) {
		object->build_id[2 * i] = "0123456789abcdef"[build_id[i] >> 4];
		object->build_id[2 * i + 1] = "0123456789abcdef"[build_id[i] & 15];
	}
	return 0;
}

static struct object *object_new(const char *path)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->references = 1;
	object->fd = -1;
	object->path = strdup(path);
	if (!object->path) {
		object_unref(object);
		return NULL;
	}
	return object;
}

int object_open_fd(int fd, const char *path, struct object **ret_object)
{
	_cleanup_close_ int owned = fd;
	_cleanup_(object_unrefp) struct object *object = object_new(path);

	if (!object)
		return -ENOMEM;
	object->fd = TAKE_FD(owned);
	struct stat st;
	if (fstat(object->fd, &st) < 0)
		return -errno;
	object->owner = st.st_uid;
	object->size = (uint64_t)st.st_size;
	object->device = st.st_dev;
	int err = elf_open_fd(object->fd, &object->elf);
	if (err == 0)
		err = read_identity(object);
	if (err == 0)
		err = read_head(object);
	if (err < 0)
		return err;
	*ret_object = TAKE_PTR(object);
	return 0;
}

int object_open_bytes(const void *bytes, size_t len, const char *path, struct object **ret_object)
{
	_cleanup_close_ int fd = memfd_create("profd", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < len;) {
		ssize_t written = write(fd, (const char *)bytes + done, len - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		done += (size_t)written;
	}
	return object_open_fd(TAKE_FD(fd), path, ret_object);
}

struct object *object_ref(struct object *object)
{
	__atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
	return object;
}

void object_unref(struct object *object)
{
	if (!object || __atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (!__atomic_load_n(&dead_are_kept, __ATOMIC_ACQUIRE)) {
		object_free(object);
		return;
	}
	object->next_dead = __atomic_load_n(&dead, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&dead, &object->next_dead, object, false,
	                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void object_keep_dead(bool keep)
{
	__atomic_store_n(&dead_are_kept, keep, __ATOMIC_RELEASE);
}

struct object *object_take_dead(void)
{
	return __atomic_exchange_n(&dead, NULL, __ATOMIC_ACQUIRE);
}

void object_abandon(struct object *object)
{
	object->fd = -1;
	object_free(object);
}

void object_free(struct object *object)
{
	elf_free(object->elf);
	if (object->fd >= 0)
		close(object->fd);
	free(object->build_id);
	free(object->path);
	free(object);
}

static bool segment_address(const struct segment *segment, uint64_t offset, uint64_t *ret_address)
{
	if (offset < segment->offset || offset - segment->offset >= segment->file_bytes)
		return false;
	return !__builtin_add_overflow(segment->address, offset - segment->offset, ret_address);
}

bool object_address(const struct object *object, uint64_t file_offset, uint64_t *ret_address)
{
	size_t count;
	const struct segment *segments = elf_segments(object->elf, &count);

	/* Segments may share bytes of the file. Executable segments come first, because samples are
	 * in code. */
	for (size_t i = 0; i < count; i++) {
		if (segments[i].executable &&
		    segment_address(&segments[i], file_offset, ret_address))
			return true;
	}
	for (size_t i = 0; i < count; i++) {
		if (segment_address(&segments[i], file_offset, ret_address))
			return true;
	}
	return false;
}

static bool in_segment(const struct object *object, uint64_t address, bool only_code)
{
	size_t count;
	const struct segment *segments = elf_segments(object->elf, &count);

	for (size_t i = 0; i < count; i++)
		if (address - segments[i].address < segments[i].memory_bytes &&
		    (segments[i].executable || !only_code))
			return true;
	return false;
}

bool object_is_code(const struct object *object, uint64_t address)
{
	return in_segment(object, address, true);
}

bool object_holds(const struct object *object, uint64_t address)
{
	return in_segment(object, address, false);
}
