/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lane asks the reader where the functions are, and attaches the programs.
 */
#include "cuda/gpu_files.h"

#include "base/log.h"
#include "cuda/gpu_ask.h"
#include "cuda/gpu_links.h"

#include <errno.h>

struct gpu_probed {
	struct probed_file file; /* first */
	struct gpu_file found;   /* the lane's, like the last members of `file` */
};

struct gpu_files {
	struct probed_files probed; /* first */
	struct gpu_files_config config;
};

static struct gpu_files *files_of(const struct probed_file *file)
{
	return (struct gpu_files *)file->files;
}

/* On the lane. */
static int attach(struct probed_file *file)
{
	const struct gpu_files_config *config = &files_of(file)->config;
	struct gpu_file *found = &((struct gpu_probed *)file)->found;
	struct reader *reader = config->reader;
	struct gpu_programs programs;
	int err;

	/* A fresh reader process reads each file: a file that took over a process must not choose
	 * where probes are written in another file. */
	reader_rest(reader, 0);
	err = gpu_ask(reader, file->fd, file->number, file->hint, found);
	reader_rest(reader, 0);
	if (!err)
		err = gpu_kernel_load(config->kernel, &programs);
	if (!err)
		err = gpu_links_attach(&file->links, &programs, found, file->fd);
	if (err)
		found->count = 0;
	return err;
}

static void on_changed(struct probed_files *probed)
{
	const struct gpu_files *files = (struct gpu_files *)probed;

	files->config.changed(files->config.ctx);
}

static void on_attached(struct probed_file *file)
{
	log_info("attached GPU probes to %s: %u functions", file->path,
	         ((struct gpu_probed *)file)->found.count);
	on_changed(file->files);
}

static const char *why_not(const struct probed_file *file)
{
	const char *why = gpu_kernel_why(files_of(file)->config.kernel);

	return *why ? why : uprobes_error(file->err);
}

static const struct probed_kind gpu_probes = {
	.what = "GPU probes to",
	.file_bytes = sizeof(struct gpu_probed),
	.attach = attach,
	.attached = on_attached,
	.changed = on_changed,
	.why = why_not,
};

struct gpu_files *gpu_files_new(const struct gpu_files_config *config)
{
	struct gpu_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->config = *config;
	lane_take_turns(config->lane, probed_files_user_of);
	probed_files_init(&files->probed,
	                  &(struct probed_files_config){&gpu_probes, config->lane, config->procs,
	                                                config->opener});
	return files;
}

void gpu_files_free(struct gpu_files *files)
{
	if (!files)
		return;
	probed_files_release(&files->probed);
	free(files);
}

bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries)
{
	uint64_t untrusted = files->probed.untrusted_count;
	bool done = probed_files_use(&files->probed, pid, mapping, libraries);

	if (files->probed.untrusted_count != untrusted)
		on_changed(&files->probed);
	return done;
}

bool gpu_files_sweep(struct gpu_files *files)
{
	probed_files_sweep(&files->probed);
	return file_opener_sweep(files->config.opener) || files->probed.first;
}

void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status)
{
	const struct probed_files *probed = &files->probed;

	*ret_status = (struct gpu_files_status){.untrusted = probed->untrusted_count};
	for (const struct probed_file *file = probed->first; file; file = file->next) {
		const struct gpu_file *found = &((const struct gpu_probed *)file)->found;

		if (file->state == PROBED_ATTACHED && found->libraries & libraries) {
			ret_status->attached++;
			ret_status->sites += found->count;
		} else if (file->state == PROBED_FAILED && file->hint & libraries &&
		           file->err != -ENOENT && !ret_status->err) {
			ret_status->err = file->err;
			ret_status->path = file->path;
		}
	}
	if (!ret_status->err && probed->untrusted_path && probed->untrusted_hint & libraries) {
		ret_status->err = -EPERM;
		ret_status->path = probed->untrusted_path;
	}
}
