/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opened as the process has it mapped, and read again: the store's object may be another file that
 * says it has the same contents, and a breakpoint in the wrong place breaks whoever comes by.
 */
#include "collect/standing_files.h"

#include "base/log.h"
#include "collect/heap_standing.h" /* its bounds */
#include "collect/uprobes.h"
#include "collect/usdt_ask.h"
#include "object/reach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct standing_file {
	struct job job;
	struct standing_file *next;
	struct standing_files *files;
	int fd;
	dev_t device;
	ino_t inode;
	char *path;          /* as the process sees it */
	uint32_t first_site; /* cookie of its first place */
	struct usdt_file usdt;
	struct uprobes links; /* the lane's until attached */
	int err;
};

/* What the probes of one file run. */
struct programs {
	int by_probe[STATIC_PROBE_COUNT];
	int sites; /* the map of their arguments */
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

/* Those that the file has probes for. The map is the same one, whoever gives it. */
static int load_programs(const struct standing_file *file, struct programs *ret_programs)
{
	const struct usdt_file *usdt = &file->usdt;
	int err = 0;

	if (usdt_file_has(usdt, STATIC_HEAP_ALLOC) || usdt_file_has(usdt, STATIC_HEAP_FREE))
		err = load_heap(file->files->heaps, ret_programs);
	if (!err &&
	    (usdt_file_has(usdt, STATIC_GPU_LAUNCHED) || usdt_file_has(usdt, STATIC_GPU_RAN)))
		err = load_gpu(file->files->gpus, ret_programs);
	return err;
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
		cookies[sites.count++] = file->first_site + i;
	}
	if (!sites.count)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return uprobes_attach(&file->links, program, UPROBE_ENTRY, path, 0, &sites);
}

/* What this very file has, in the place of what the store's object has. Cookies tell such files
 * apart for the reader, and from the store's. */
static int read_probes(struct standing_file *file)
{
	size_t most = file->usdt.count;

	/* By a process that no other file can have taken over: no file may say where another one
	 * is written to. */
	reader_rest(file->files->reader, 0);
	int err =
		usdt_ask(file->files->reader, file->fd, 1ULL << 32 | file->first_site, &file->usdt);

	if (err == 0 && file->usdt.count > most)
		err = -E2BIG;
	if (err)
		file->usdt.count = 0;
	return err == -ENOENT ? 0 : err;
}

/* On the lane. */
static void attach(struct job *job)
{
	struct standing_file *file = (struct standing_file *)job;
	struct programs programs = {0};

	file->err = read_probes(file);
	if (!file->err)
		file->err = load_programs(file, &programs);
	for (size_t i = 0; !file->err && i < file->usdt.count; i++) {
		uint32_t site = file->first_site + (uint32_t)i;

		file->err = bpf_map_update_elem(programs.sites, &site, &file->usdt.sites[i].site,
		                                BPF_ANY);
	}
	for (int probe = 0; !file->err && probe < STATIC_PROBE_COUNT; probe++)
		file->err = attach_sites(file, programs.by_probe[probe], (enum static_probe)probe);
}

static void on_attached(struct job *job)
{
	struct standing_file *file = (struct standing_file *)job;

	if (file->err)
		log_warning("cannot listen to the static probes of %s: %s", file->path,
		            strerror(-file->err));
	else
		file->files->attached(&file->usdt, file->files->ctx);
}

static bool is_known(const struct standing_files *files, const struct stat *stat)
{
	for (const struct standing_file *file = files->first; file; file = file->next)
		if (file->device == stat->st_dev && file->inode == stat->st_ino)
			return true;
	return false;
}

static void file_free(struct standing_file *file)
{
	uprobes_detach(&file->links);
	closep(&file->fd);
	free(file->path);
	free(file);
}

static bool has_room(struct standing_files *files, const struct usdt_file *usdt, const char *path)
{
	if (files->count < MAX_STANDING_FILES && files->sites + usdt->count <= STATIC_SITES)
		return true;
	if (!files->told_full)
		log_warning("cannot listen to the static probes of %s: too many other files are "
		            "listened to",
		            path);
	files->told_full = true;
	return false;
}

void standing_files_listen(struct standing_files *files, uint32_t pid,
                           const struct proc_mapping *mapping, const struct usdt_file *usdt)
{
	struct standing_file *file;
	struct stat stat;
	int fd = reach_mapped(pid, mapping->start, mapping->end, &stat);

	if (fd < 0)
		return;
	if (is_known(files, &stat) || !has_room(files, usdt, mapping->path) ||
	    !(file = calloc(1, sizeof(*file)))) {
		close(fd);
		return;
	}
	*file = (struct standing_file){
		.job = {attach, on_attached, NULL},
		.files = files,
		.fd = fd,
		.device = stat.st_dev,
		.inode = stat.st_ino,
		.path = strdup(mapping->path),
		.first_site = files->sites,
		.usdt = *usdt,
	};
	if (!file->path || lane_submit(files->lane, &file->job)) {
		file_free(file);
		return;
	}
	file->next = files->first;
	files->first = file;
	files->count++;
	files->sites += (uint32_t)usdt->count;
}

void standing_files_release(struct standing_files *files)
{
	while (files->first) {
		struct standing_file *file = files->first;

		files->first = file->next;
		file_free(file);
	}
}
