/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files are opened as the process has them mapped, so that the probes go into the very inodes: not
 * into the file that has the path by now, and not into another container's copy.
 */
#include "heap/heap_search.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "base/clock.h"
#include "heap/heap_ask.h"
#include "object/maps.h"
#include "object/reach.h"
#include "proc/owner.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#endif

/* With more unread files, too little is known of the process to say which allocator it uses. */
enum { MAX_UNREAD = 2 };

/* For one file, and for all: the caller waits, and so do all that ask after it. */
static const uint64_t file_ns = 10 * NSEC_PER_SEC, all_ns = 30 * NSEC_PER_SEC;
/* For the list of files and for opening them, which its owner can make last without end. */
static const uint64_t list_ns = 5 * NSEC_PER_SEC;

/* An executable file that the process maps. */
struct mapped {
	int fd; /* -1: it has no allocator */
	char *path;
	dev_t device;
	ino_t inode;
	uint64_t bytes;
	uint64_t code_start, code_end;
};

/* The files of a process, each once. Listed aside. */
struct listing {
	struct aside_call call;
	struct stat program;
	struct mapped files[MAX_HEAP_FILES];
	size_t count;
	int err;
};

struct looking {
	struct reader *reader;
	uint64_t until_ns;
	struct listing *listing;
	struct heap_ranking ranking;
	struct heap_search *search;
};

static void listing_free(struct listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->count; i++) {
		closep(&listing->files[i].fd);
		free(listing->files[i].path);
	}
	free(listing);
}
DEFINE_CLEANUP(struct listing *, listing_free)

static void free_call(struct aside_call *call)
{
	listing_free((struct listing *)call);
}

void heap_search_free(struct heap_search *search)
{
	if (!search)
		return;
	for (size_t i = 0; i < search->count; i++) {
		closep(&search->found[i].fd);
		free(search->found[i].path);
	}
	free(search);
}

/* NULL: the file is new. */
static struct mapped *find_known(struct listing *listing, const struct stat *stat)
{
	for (size_t i = 0; i < listing->count; i++) {
		if (listing->files[i].device == stat->st_dev &&
		    listing->files[i].inode == stat->st_ino)
			return &listing->files[i];
	}
	return NULL;
}

static int add_mapping(const struct maps_line *line, void *ctx)
{
	struct listing *listing = ctx;
	struct stat stat;

	if (!line->executable || !line->inode || listing->count == MAX_HEAP_FILES)
		return 0;
	/* Memory that is no regular file, such as a device's, has no allocator. */
	_cleanup_close_ int fd = reach_mapped(listing->call.pid, line->start, line->end, &stat);
	if (fd < 0)
		return 0;
	struct mapped *known = find_known(listing, &stat);
	/* Code may be mapped in parts, one behind the other. */
	if (known && known->code_end == line->start)
		known->code_end = line->end;
	if (known)
		return 0;
	char *name = strndup(line->path, line->path_len);
	if (!name)
		return -ENOMEM;
	listing->files[listing->count++] = (struct mapped){
		.fd = TAKE_FD(fd),
		.path = name,
		.device = stat.st_dev,
		.inode = stat.st_ino,
		.bytes = (uint64_t)stat.st_size,
		.code_start = line->start,
		.code_end = line->end,
	};
	return 0;
}

/* On the thread aside. */
static void list_files(struct aside_call *call)
{
	struct listing *listing = (struct listing *)call;
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/exe", call->pid);
	if (stat(path, &listing->program))
		listing->program = (struct stat){0};
	snprintf(path, sizeof(path), "/proc/%u/maps", call->pid);
	listing->err = buf_read_file(&text, path, MAX_PROC_FILE_BYTES);
	if (listing->err == -ENOENT)
		listing->err = -ESRCH;
	if (!listing->err)
		listing->err = maps_parse(buf_text(&text), text.len, add_mapping, listing);
}

/* Call before each question. */
static int set_deadline(const struct looking *looking)
{
	uint64_t now = clock_mono_ns();

	if (now >= looking->until_ns)
		return -ETIMEDOUT;
	uint64_t left = looking->until_ns - now;
	uint64_t deadline_ns = left < file_ns ? left : file_ns;

	reader_deadline(looking->reader, deadline_ns);
	/* Waits for a CPU count: the other files are to have their time. */
	reader_longest(looking->reader, deadline_ns);
	return 0;
}

/* What to do about the result of a question: 0 to go on without the file. */
static int heed(struct looking *looking, const struct mapped *file, int err)
{
	struct heap_search *search = looking->search;

	if (err == -ECHILD || err == -ECANCELED || err == -ENOMEM)
		return err;
	/* Other errors mean that it is no ELF file, such as an archive of Java classes. */
	if (err != -EIO)
		return 0;
	if (!search->unread)
		snprintf(search->unread_path, sizeof(search->unread_path), "%s", file->path);
	return ++search->unread > MAX_UNREAD ? -EIO : 0;
}

/* A file that is of no use is closed at once: a process may map a thousand files. */
static int survey(struct looking *looking, size_t number)
{
	struct mapped *file = &looking->listing->files[number];
	const struct heap_question question = {file->fd, number, file->bytes};
	const struct stat *program = &looking->listing->program;
	bool is_program = program->st_dev == file->device && program->st_ino == file->inode;
	struct heap_survey said;
	int err = set_deadline(looking);

	if (err)
		return err;
	err = heap_ask_survey(looking->reader, &question, &said);
	bool is_foreign = !err && said.machine != OUR_MACHINE;
	/* A 32-bit program has other registers and another ABI. Any other file of another machine
	 * is only data: none of its code can run in this process. */
	if (is_foreign && is_program)
		return -ENOTSUP;
	if (err || is_foreign || !heap_ranking_add(&looking->ranking, number, &said, is_program))
		close(TAKE_FD(file->fd));
	return heed(looking, file, err);
}

static int survey_all(struct looking *looking)
{
	int err = 0;

	for (size_t i = 0; !err && i < looking->listing->count; i++)
		err = survey(looking, i);
	return err;
}

static int find_sites(struct looking *looking)
{
	struct heap_search *search = looking->search;

	for (size_t i = 0; i < looking->ranking.count; i++) {
		size_t number = looking->ranking.best[i].file;
		struct mapped *file = &looking->listing->files[number];
		const struct heap_question question = {file->fd, number, file->bytes};
		struct heap_found *found = &search->found[search->count];
		int err = set_deadline(looking);

		if (err)
			return err;
		err = heap_ask_sites(looking->reader, &question, &found->allocator);
		if (!err) {
			found->fd = TAKE_FD(file->fd);
			found->path = TAKE_PTR(file->path);
			found->code_start = file->code_start;
			found->code_end = file->code_end;
			search->count++;
			continue;
		}
		err = heed(looking, file, err);
		if (err)
			return err;
	}
	if (search->count)
		return 0;
	return search->unread ? -EIO : -ENOENT;
}

int heap_search_process(struct aside *aside, struct reader *reader, uint32_t pid,
                        struct heap_search **ret_search)
{
	_cleanup_(listing_freep) struct listing *listing = calloc(1, sizeof(*listing));
	struct looking looking = {
		.reader = reader, .until_ns = clock_mono_ns() + all_ns, .listing = listing};
	int err;

	*ret_search = looking.search = calloc(1, sizeof(*looking.search));
	if (!listing || !looking.search)
		return -ENOMEM;
	listing->call = (struct aside_call){
		.owner = owner_read(pid), .pid = pid, .run = list_files, .free = free_call};
	err = aside_run(aside, &listing->call, list_ns);
	if (err == -ETIMEDOUT)
		listing = NULL;
	if (err)
		return err == -EBUSY || err == -EAGAIN ? -ETIMEDOUT : err;
	return listing->err ?: survey_all(&looking) ?: find_sites(&looking);
}
