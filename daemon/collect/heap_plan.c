/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files are opened as the process has them mapped, so that the probes are in the very inodes: not
 * in what has their path by now, and not in another container's copy.
 */
#include "collect/heap_plan.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* An executable file that is mapped. */
struct mapped {
	int fd;
	struct elf *elf;
	struct stat stat;
	char *path;
};

struct looking {
	uint32_t pid;
	struct stat program;
	struct mapped files[MAX_HEAP_FILES];
	struct heap_file heap_files[MAX_HEAP_FILES];
	size_t count;
	int err;
};

static void looking_free(struct looking *looking)
{
	if (!looking)
		return;
	for (size_t i = 0; i < looking->count; i++) {
		elf_free(looking->files[i].elf);
		closep(&looking->files[i].fd);
		free(looking->files[i].path);
	}
	free(looking);
}
DEFINE_CLEANUP(struct looking *, looking_free)

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_known(const struct looking *looking, const struct stat *stat)
{
	for (size_t i = 0; i < looking->count; i++)
		if (is_same(&looking->files[i].stat, stat))
			return true;
	return false;
}

/* Takes over what is in `file`, if it is of use. */
static int add_file(struct looking *looking, struct mapped *file, const struct maps_line *line)
{
	int err = elf_open_fd(file->fd, &file->elf);

	if (err)
		return err == -ENOMEM ? err : 0;
	file->path = strndup(line->path, line->path_len);
	if (!file->path) {
		elf_free(file->elf);
		return -ENOMEM;
	}
	looking->heap_files[looking->count] = (struct heap_file){
		.elf = file->elf,
		.is_program = is_same(&file->stat, &looking->program),
	};
	looking->files[looking->count++] = *file;
	file->fd = -1;
	return 0;
}

static int add_mapping(const struct maps_line *line, void *ctx)
{
	struct looking *looking = ctx;
	struct mapped file = {.fd = -1};
	char path[96];
	int err = 0;

	if (!line->executable || !line->inode || looking->count == MAX_HEAP_FILES)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", looking->pid,
	         (unsigned long long)line->start, (unsigned long long)line->end);
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	/* What is no file of its own, such as a device's memory, has no allocator. */
	if (file.fd < 0)
		return 0;
	if (!fstat(file.fd, &file.stat) && S_ISREG(file.stat.st_mode) &&
	    !is_known(looking, &file.stat))
		err = add_file(looking, &file, line);
	closep(&file.fd);
	return err;
}

static int look(struct looking *looking)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%u/exe", looking->pid);
	if (stat(path, &looking->program))
		looking->program = (struct stat){0};
	snprintf(path, sizeof(path), "/proc/%u/maps", looking->pid);
	err = buf_read_file(&text, path, MAX_PROC_FILE_BYTES);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	return maps_parse(buf_text(&text), text.len, add_mapping, looking);
}

static const uint8_t does_of_role[] = {
	[HEAP_ALLOCATES] = HEAP_DOES_ALLOCATE,
	[HEAP_ALLOCATES_OUT] = HEAP_DOES_ALLOCATE_OUT,
	[HEAP_REALLOCATES] = HEAP_DOES_REALLOCATE,
	[HEAP_FREES] = HEAP_DOES_FREE,
};

/* Those that are made of others in some allocator: calloc of malloc in musl, realloc of malloc and
 * free in glibc for what has pages of its own. An operator new that catches what a handler throws
 * has the exception's memory asked for inside of it. */
static bool nests(enum heap_call call)
{
	return call == HEAP_CALL_CALLOC || call == HEAP_CALL_ALIGNED ||
	       call == HEAP_CALL_POSIX_MEMALIGN || call == HEAP_CALL_REALLOC ||
	       call == HEAP_CALL_REALLOCARRAY || call == HEAP_CALL_NEW_NOTHROW;
}

static uint64_t cookie_of(const struct heap_site *site, size_t number, uint8_t slot,
                          bool have_sessions)
{
	const struct heap_call_info *info = heap_call_info(site->call);
	union heap_site_cookie cookie = {
		.slot = slot,
		.does = does_of_role[info->role],
		.size = info->size,
		.times = info->times,
		.pointer = info->pointer,
		.pushed = (uint8_t)site->pushed,
		.number = (uint8_t)number,
	};
	bool allocates = info->role != HEAP_FREES;

	if (!site->emulated)
		cookie.flags |= HEAP_SITE_STEPPED;
	if (allocates && info->throws)
		cookie.flags |= HEAP_SITE_THROWS;
	else if (allocates && (nests(site->call) || !have_sessions))
		cookie.flags |= HEAP_SITE_RETURNS;
	if (nests(site->call))
		cookie.flags |= HEAP_SITE_NESTS;
	return cookie.cookie;
}

static void places_add(struct heap_places *places, uint64_t offset, uint64_t cookie)
{
	places->offsets[places->count] = offset;
	places->cookies[places->count++] = cookie;
}

static void add_site(struct heap_plan_file *file, const struct heap_site *site, uint64_t cookie)
{
	const struct heap_call_info *info = heap_call_info(site->call);

	places_add(&file->all, site->entry, cookie);
	if (info->role != HEAP_FREES && !info->throws) {
		places_add(&file->session, site->entry, cookie);
		return;
	}
	places_add(&file->entry, site->entry, cookie);
	if (info->role != HEAP_FREES)
		for (size_t i = 0; i < site->return_count; i++)
			places_add(&file->leave, site->returns[i], cookie);
}

static int places_reserve(struct heap_places *places, size_t count)
{
	places->offsets = calloc(count, sizeof(*places->offsets));
	places->cookies = calloc(count, sizeof(*places->cookies));
	return places->offsets && places->cookies ? 0 : -ENOMEM;
}

static int plan_file(struct heap_plan *plan, struct mapped *mapped,
                     const struct heap_allocator *allocator, uint8_t slot, bool have_sessions)
{
	struct heap_plan_file *file = &plan->files[plan->file_count++];
	size_t count = allocator->site_count;

	file->fd = TAKE_FD(mapped->fd);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	if (places_reserve(&file->session, count) || places_reserve(&file->entry, count) ||
	    places_reserve(&file->all, count) ||
	    places_reserve(&file->leave, count * MAX_HEAP_RETURNS))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_site(file, &allocator->sites[i],
		         cookie_of(&allocator->sites[i], i, slot, have_sessions));
	plan->sites += (uint32_t)(count + file->leave.count);
	return 0;
}

static int plan_all(struct heap_plan *plan, struct looking *looking, uint8_t slot,
                    bool have_sessions)
{
	_cleanup_free_ struct heap_allocator *allocators = NULL;
	int count = heap_allocators(looking->heap_files, looking->count, &allocators), err = 0;

	for (int i = 0; i < count && !err; i++) {
		struct mapped *mapped = &looking->files[allocators[i].file];

		if (!allocators[i].site_count || mapped->fd < 0)
			continue;
		if (!plan->file_count) {
			snprintf(plan->allocator, sizeof(plan->allocator), "%s",
			         heap_allocator_text(allocators[i].name));
			snprintf(plan->file, sizeof(plan->file), "%s", mapped->path);
		}
		err = plan_file(plan, mapped, &allocators[i], slot, have_sessions);
	}
	if (count < 0)
		return count;
	return err ?: plan->sites ? 0 : -ENOENT;
}

/* A program of 32 bits has other registers and another ABI. */
static bool is_ours(const struct looking *looking)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *own = NULL;

	if (fd < 0 || elf_open_fd(fd, &own))
		return false;
	for (size_t i = 0; i < looking->count; i++)
		if (elf_machine(looking->files[i].elf) != elf_machine(own))
			return false;
	return true;
}

int heap_plan_make(struct heap_plan *plan, uint32_t pid, uint8_t slot, bool have_sessions)
{
	_cleanup_(looking_freep) struct looking *looking = calloc(1, sizeof(*looking));
	int err;

	if (!looking)
		return -ENOMEM;
	looking->pid = pid;
	err = look(looking);
	if (!err && !is_ours(looking))
		err = -ENOTSUP;
	return err ?: plan_all(plan, looking, slot, have_sessions);
}

static void places_release(struct heap_places *places)
{
	free(places->offsets);
	free(places->cookies);
}

void heap_plan_release(struct heap_plan *plan)
{
	for (size_t i = 0; i < plan->file_count; i++) {
		struct heap_plan_file *file = &plan->files[i];

		closep(&file->fd);
		places_release(&file->session);
		places_release(&file->entry);
		places_release(&file->leave);
		places_release(&file->all);
	}
	*plan = (struct heap_plan){0};
}
