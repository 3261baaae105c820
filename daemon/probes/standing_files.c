/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The file is opened as the process has it mapped, and read again: the store's object may be
 * another file that claims the same contents, and a breakpoint in the wrong place breaks any
 * process that runs over it.
 */
#include "probes/standing_files.h"

#include "probes/usdt_ask.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)MAX_PROBED_FILES *(int)MAX_USDT_SITES == (int)STATIC_SITES,
               "each has as many sites as a file may have");

/* Programs that start again within this time find their file attached. */
#define IDLE_NS (600 * NSEC_PER_SEC)

struct standing_file {
	struct probed_file file; /* first */
	struct usdt_file usdt;   /* the lane's, like the last members of `file` */
};

/* The programs that the probes of one file run. */
struct programs {
	int by_probe[STATIC_PROBE_COUNT];
	int sites; /* the map with the probes' arguments */
};

static const struct standing_files_config *config_of(const struct probed_file *file)
{
	return &((const struct standing_files *)file->files)->config;
}

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

/* Loads the programs for which the file has probes. Both parts have the same map. */
static int load_programs(const struct standing_files_config *config, const struct usdt_file *usdt,
                         struct programs *ret_programs)
{
	int err = 0;

	if (usdt_file_has(usdt, STATIC_HEAP_ALLOC) || usdt_file_has(usdt, STATIC_HEAP_FREE))
		err = load_heap(config->heaps, ret_programs);
	if (!err &&
	    (usdt_file_has(usdt, STATIC_GPU_LAUNCHED) || usdt_file_has(usdt, STATIC_GPU_RAN)))
		err = load_gpu(config->gpus, ret_programs);
	return err;
}

/* The key of the file's site in the map. */
static uint32_t cookie_of(const struct standing_file *standing, size_t site)
{
	return (uint32_t)standing->file.slot * MAX_USDT_SITES + (uint32_t)site;
}

static int attach_sites(struct standing_file *standing, int program, enum static_probe probe)
{
	uint64_t offsets[MAX_USDT_SITES], cookies[MAX_USDT_SITES], semaphores[MAX_USDT_SITES];
	struct uprobe_sites sites = {offsets, cookies, semaphores, 0};
	char path[32];

	for (size_t i = 0; i < standing->usdt.count; i++) {
		const struct usdt_site *place = &standing->usdt.sites[i];

		if (place->probe != probe)
			continue;
		offsets[sites.count] = place->offset;
		semaphores[sites.count] = place->semaphore;
		cookies[sites.count++] = cookie_of(standing, i);
	}
	if (!sites.count)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", standing->file.fd);
	return uprobes_attach(&standing->file.links, program, UPROBE_ENTRY, path, 0, &sites);
}

/* Reads the probes of this very file. For the reader, the numbers tell these files from each other
 * and from the store's. */
static int read_probes(struct reader *reader, struct standing_file *standing)
{
	/* A fresh reader process reads each file: a file that took over a process must not choose
	 * where probes are written in another file. */
	reader_rest(reader, 0);
	standing->usdt.count = 0;
	return usdt_ask(reader, standing->file.fd, 1ULL << 32 | standing->file.number,
	                &standing->usdt);
}

static int tell_sites(const struct standing_file *standing, int map)
{
	int err = 0;

	for (size_t i = 0; !err && i < standing->usdt.count; i++) {
		uint32_t cookie = cookie_of(standing, i);

		err = bpf_map_update_elem(map, &cookie, &standing->usdt.sites[i].site, BPF_ANY);
	}
	return err;
}

/* On the lane. */
static int attach(struct probed_file *file)
{
	const struct standing_files_config *config = config_of(file);
	struct standing_file *standing = (struct standing_file *)file;
	struct programs programs = {0};
	int err = read_probes(config->reader, standing);

	if (!err)
		err = load_programs(config, &standing->usdt, &programs);
	if (!err)
		err = tell_sites(standing, programs.sites);
	for (int probe = 0; !err && probe < STATIC_PROBE_COUNT; probe++)
		err = attach_sites(standing, programs.by_probe[probe], (enum static_probe)probe);
	return err;
}

static void on_attached(struct probed_file *file)
{
	const struct standing_files_config *config = config_of(file);

	config->attached(&((struct standing_file *)file)->usdt, config->ctx);
}

static void on_changed(struct probed_files *probed)
{
	const struct standing_files_config *config = &((struct standing_files *)probed)->config;

	config->changed(config->ctx);
}

static const char *why_not(const struct probed_file *file)
{
	return strerror(-file->err);
}

static const struct probed_kind static_probes = {
	.what = "to the static probes of",
	.file_bytes = sizeof(struct standing_file),
	.idle_ns = IDLE_NS,
	.attach = attach,
	.attached = on_attached,
	.changed = on_changed,
	.why = why_not,
};

void standing_files_init(struct standing_files *files, const struct standing_files_config *config)
{
	files->config = *config;
	probed_files_init(&files->probed,
	                  &(struct probed_files_config){&static_probes, config->lane, config->procs,
	                                                config->opener});
}
