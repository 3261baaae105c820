/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The file is opened as the process has it mapped, and read again: the store's object may be
 * another file that claims the same contents, and a breakpoint in the wrong place breaks any
 * process that runs over it.
 */
#include "probes/standing_file.h"

#include "base/log.h"
#include "probes/usdt_ask.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The programs that the probes of one file run. */
struct programs {
	int by_probe[STATIC_PROBE_COUNT];
	int sites; /* the map with the probes' arguments */
};

static int load_heap(const struct heap_kernel *kernel, struct programs *programs)
{
	struct heap_told_programs told;
	int err = heap_kernel_load_told(kernel, &told);

	if (err)
		return err;
	programs->by_probe[STATIC_HEAP_ALLOC] = told.alloc;
	programs->by_probe[STATIC_HEAP_FREE] = told.freed;
	programs->sites = told.sites;
	return 0;
}

static int load_gpu(const struct gpu_kernel *kernel, struct programs *programs)
{
	struct gpu_told_programs told;
	int err = gpu_kernel_load_told(kernel, &told);

	if (err)
		return err;
	programs->by_probe[STATIC_GPU_LAUNCHED] = told.launched;
	programs->by_probe[STATIC_GPU_RAN] = told.ran;
	programs->sites = told.sites;
	return 0;
}

/* Loads the programs for which the file has probes. The map is the same one, whichever part has
 * it. */
static int load_programs(const struct standing_file *file, struct programs *ret_programs)
{
	const struct standing_files_config *config = &file->files->config;
	const struct usdt_file *usdt = &file->usdt;
	int err = 0;

	if (usdt_file_has(usdt, STATIC_HEAP_ALLOC) || usdt_file_has(usdt, STATIC_HEAP_FREE))
		err = load_heap(config->heaps, ret_programs);
	if (!err &&
	    (usdt_file_has(usdt, STATIC_GPU_LAUNCHED) || usdt_file_has(usdt, STATIC_GPU_RAN)))
		err = load_gpu(config->gpus, ret_programs);
	return err;
}

/* The key of the file's site in the map. */
static uint32_t cookie_of(const struct standing_file *file, size_t site)
{
	return (uint32_t)file->slot * MAX_USDT_SITES + (uint32_t)site;
}

static int attach_sites(struct standing_file *file, int program, enum static_probe probe)
{
	uint64_t offsets[MAX_USDT_SITES], cookies[MAX_USDT_SITES], semaphores[MAX_USDT_SITES];
	struct uprobe_sites sites = {offsets, cookies, semaphores, 0};
	char path[32];

	for (size_t i = 0; i < file->usdt.count; i++) {
		const struct usdt_site *place = &file->usdt.sites[i];

		if (place->probe != probe)
			continue;
		offsets[sites.count] = place->offset;
		semaphores[sites.count] = place->semaphore;
		cookies[sites.count++] = cookie_of(file, i);
	}
	if (!sites.count)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return uprobes_attach(&file->links, program, UPROBE_ENTRY, path, 0, &sites);
}

/* Reads the probes of this very file. For the reader, the numbers tell these files from each other
 * and from the store's. */
static int read_probes(struct standing_file *file)
{
	struct reader *reader = file->files->config.reader;

	/* A fresh reader process reads each file: a file that took over a process must not choose
	 * where probes are written in another file. */
	reader_rest(reader, 0);
	file->usdt.count = 0;
	return usdt_ask(reader, file->fd, 1ULL << 32 | file->number, &file->usdt);
}

static int tell_sites(const struct standing_file *file, int map)
{
	int err = 0;

	for (size_t i = 0; !err && i < file->usdt.count; i++) {
		uint32_t cookie = cookie_of(file, i);

		err = bpf_map_update_elem(map, &cookie, &file->usdt.sites[i].site, BPF_ANY);
	}
	return err;
}

/* On the lane. */
static void attach(struct job *job)
{
	struct standing_file *file = (struct standing_file *)job;
	struct programs programs = {0};

	file->err = read_probes(file);
	if (!file->err)
		file->err = load_programs(file, &programs);
	if (!file->err)
		file->err = tell_sites(file, programs.sites);
	for (int probe = 0; !file->err && probe < STATIC_PROBE_COUNT; probe++)
		file->err = attach_sites(file, programs.by_probe[probe], (enum static_probe)probe);
	if (file->err)
		uprobes_detach(&file->links);
}

static void detach(struct job *job)
{
	uprobes_detach(&((struct standing_file *)job)->links);
}

void standing_file_free(struct standing_file *file)
{
	uprobes_detach(&file->links);
	file_opener_close(file->files->config.opener, &file->fd, file->owner, &file->inode);
	free(file->path);
	free(file);
}

static void give_place_back(struct standing_file *file)
{
	struct standing_files *files = file->files;

	if (file->slot == NO_SLOT)
		return;
	files->slots &= ~(1ULL << file->slot);
	shares_give(&files->shares, file->owner, 1);
	file->slot = NO_SLOT;
	files->config.released(files->config.ctx);
}

void standing_file_remove(struct standing_file *file)
{
	struct standing_files *files = file->files;
	struct standing_file **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	file_users_forget(&files->users, &file->used);
	give_place_back(file);
	standing_file_free(file);
}

/* The newest failures are kept, so that they are not tried over and over. A forgotten file is tried
 * again when a process maps it. */
static void forget_failed(struct standing_files *files)
{
	struct standing_file *oldest = NULL;
	size_t count = 0;

	for (struct standing_file *file = files->first; file; file = file->next) {
		if (file->state != STANDING_FAILED)
			continue;
		count++;
		oldest = file;
	}
	if (count > MAX_STANDING_FAILED)
		standing_file_remove(oldest);
}

static void on_attached(struct job *job)
{
	struct standing_file *file = (struct standing_file *)job;
	struct standing_files *files = file->files;

	if (!file->err) {
		file->state = STANDING_ATTACHED;
		files->config.attached(&file->usdt, files->config.ctx);
		return;
	}
	file->state = STANDING_FAILED;
	/* -ENOENT: the file claims the same contents as one with probes, and has none. */
	if (file->err != -ENOENT && file->err != -ECANCELED && files->told_left) {
		files->told_left--;
		log_warning("cannot attach to the static probes of %s: %s", file->path,
		            strerror(-file->err));
	}
	give_place_back(file);
	forget_failed(files);
}

int standing_file_attach(struct standing_file *file)
{
	file->err = -ECANCELED; /* stays when the job is not run */
	file->job = (struct job){attach, on_attached, NULL};
	int err = lane_submit(file->files->config.lane, &file->job);

	if (!err)
		file->state = STANDING_ATTACHING;
	return err;
}

static void on_detached(struct job *job)
{
	struct standing_file *file = (struct standing_file *)job;

	if (!file->used.users || standing_file_attach(file))
		standing_file_remove(file);
}

void standing_file_detach(struct standing_file *file)
{
	file->job = (struct job){detach, on_detached, NULL};
	if (!lane_submit(file->files->config.lane, &file->job))
		file->state = STANDING_DETACHING;
}
