/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each process that changed is examined again: which of the files that it maps contain CPython, and
 * where. A process with files that are still being examined waits until the next CPython is found.
 */
#include "python/pythons.h"

#include "base/clock.h"
#include "base/pid_set.h"
#include "base/shares.h"
#include "base/table.h"
#include "python/python_build.h"
#include "python/python_files.h"
#include "proc/bias.h"
#include "proc/owner.h"
#include "proc/sets_without.h"

#include <string.h>

enum {
	MAX_CHANGED = 16384, /* between two calls; if more changed, all processes are looked at */
	MAX_REFUSED = 256,   /* processes without room that are tried again */
	/* Mappings among which asyncio is searched for, each time that tasks are read: on the
	 * loop. Programs with all of a distribution's modules have some 300. */
	MAX_LOOKED_AT = 4096,
};

/* A process that runs CPython, or ran it when it ended. */
struct runner {
	uint32_t pid;
	struct python_file *file; /* NULL when the process has ended */
	uint64_t bias;
	uint64_t image_ns; /* when the program began; 0: before profd started */
	uint64_t began_boot_ns;
	uint32_t version;
	uint32_t owner; /* of the process, when it was last published */
	bool published;
	UT_hash_handle hh;
};

struct pythons {
	struct procs *procs;
	struct python_sink sink;
	struct python_files *files;
	struct runner *by_pid;
	struct procs_watcher watcher;
	struct pid_set changed, waiting, refused;
	struct sets_without without; /* sets of mappings without CPython */
	bool all_changed, stopped;
	struct shares published; /* by user */
	uint64_t refusals;
};

static void note_change(uint32_t pid, void *ctx)
{
	struct pythons *pythons = ctx;

	pid_set_add(&pythons->changed, pid);
}

/* A CPython was found, which waiting processes may have, or their files can be examined now. */
static void note_found(void *ctx)
{
	struct pythons *pythons = ctx;

	if (pid_set_move(&pythons->waiting, &pythons->changed))
		pythons->all_changed = true;
	pythons_sync(pythons);
}

struct pythons *pythons_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                            const struct python_sink *sink)
{
	struct pythons *pythons = calloc(1, sizeof(*pythons));

	if (!pythons)
		return NULL;
	pythons->procs = procs;
	pythons->sink = *sink;
	pythons->all_changed = true;
	pythons->published.whole = MAX_PYTHON_PROCESSES;
	pythons->files = python_files_new(loop, store, note_found, pythons);
	if (!pythons->files || pid_set_init(&pythons->changed, MAX_CHANGED) ||
	    pid_set_init(&pythons->waiting, MAX_CHANGED) ||
	    pid_set_init(&pythons->refused, MAX_REFUSED)) {
		pythons_free(pythons);
		return NULL;
	}
	pythons->watcher = (struct procs_watcher){.fn = note_change, .ctx = pythons};
	procs_watch(procs, &pythons->watcher);
	return pythons;
}

void pythons_stop(struct pythons *pythons)
{
	if (pythons->stopped)
		return;
	pythons->stopped = true;
	procs_unwatch(pythons->procs, &pythons->watcher);
	if (pythons->files)
		python_files_stop(pythons->files);
}

void pythons_free(struct pythons *pythons)
{
	struct runner *runner, *next;

	if (!pythons)
		return;
	pythons_stop(pythons);
	HASH_ITER (hh, pythons->by_pid, runner, next) {
		HASH_DEL(pythons->by_pid, runner);
		free(runner);
	}
	python_files_free(pythons->files);
	shares_clear(&pythons->published);
	pid_set_release(&pythons->changed);
	pid_set_release(&pythons->waiting);
	pid_set_release(&pythons->refused);
	free(pythons);
}

static struct runner *find(const struct pythons *pythons, uint32_t pid)
{
	struct runner *runner;

	HASH_FIND(hh, pythons->by_pid, &pid, sizeof(pid), runner);
	return runner;
}

static struct runner *find_or_add(struct pythons *pythons, uint32_t pid)
{
	struct runner *runner = find(pythons, pid);

	if (runner || !(runner = calloc(1, sizeof(*runner))))
		return runner;
	runner->pid = pid;
	HASH_ADD(hh, pythons->by_pid, pid, sizeof(runner->pid), runner);
	if (!runner->hh.tbl) {
		free(runner);
		return NULL;
	}
	return runner;
}

static void unpublish(struct pythons *pythons, struct runner *runner)
{
	if (!runner->published)
		return;
	runner->published = false;
	shares_give(&pythons->published, runner->owner, 1);
	pythons->sink.unset(runner->pid, pythons->sink.ctx);
	/* Now there is room for one of the processes that were refused. */
	pid_set_move(&pythons->refused, &pythons->changed);
}

static void withdraw(struct pythons *pythons, struct runner *runner)
{
	python_file_hold(&runner->file, NULL);
	unpublish(pythons, runner);
}

static void forget(struct pythons *pythons, struct runner *runner)
{
	withdraw(pythons, runner);
	HASH_DEL(pythons->by_pid, runner);
	free(runner);
}

/* Takes a share of the process's user, unless the process is published already. */
static bool take_share(struct pythons *pythons, struct runner *runner)
{
	if (runner->published)
		return true;
	runner->owner = owner_read(runner->pid);
	return shares_take(&pythons->published, runner->owner, 1);
}

static struct python_process described(const struct runner *runner)
{
	struct python_process process = runner->file->contents.process;

	python_build_move(&process, runner->bias);
	return process;
}

static void publish(struct pythons *pythons, struct runner *runner)
{
	struct python_process process = described(runner);

	if (take_share(pythons, runner)) {
		if (pythons->sink.set(runner->pid, &process, pythons->sink.ctx) == 0) {
			runner->published = true;
			return;
		}
		if (!runner->published)
			shares_give(&pythons->published, runner->owner, 1);
	}
	/* No description is better than an outdated one. */
	unpublish(pythons, runner);
	pythons->refusals++;
	pid_set_add(&pythons->refused, runner->pid);
}

struct choice {
	struct python_file *file; /* held; NULL: no file */
	uint64_t bias;
	bool pending; /* another file may turn out to contain CPython, or the store has closed it */
};

/* Chooses the file that was chosen before if it is still mapped, because it was mapped first.
 * Otherwise the lowest address wins, because the program itself is below its libraries. */
static struct choice choose(struct pythons *pythons, const struct mapping_set *set,
                            const struct runner *runner)
{
	struct choice choice = {0};
	uint32_t last = 0;

	if (sets_without_has(&pythons->without, set))
		return choice;
	for (size_t i = 0; i < mapping_set_count(set); i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);
		bool pending = false;
		uint64_t bias;

		/* A file that is being opened makes it another set. */
		if (!mapping->object || mapping->object == last || store_is_ticket(mapping->object))
			continue;
		last = mapping->object;
		struct python_file *file = python_files_get(pythons->files, last, &pending);
		choice.pending |= pending;
		if (!file || (choice.file && (!runner || file != runner->file)) ||
		    !bias_of_mapping(file->object, mapping, &bias))
			continue;
		python_file_hold(&choice.file, file);
		choice.bias = bias;
	}
	if (!choice.file && !choice.pending)
		sets_without_add(&pythons->without, set);
	return choice;
}

/* A program that ran before profd began before it was first examined, so that time is used. */
static uint64_t boot_ns(uint64_t image_ns)
{
	uint64_t mono = clock_mono_ns(), boot = clock_boot_ns();

	return image_ns && image_ns < mono ? boot - (mono - image_ns) : boot;
}

static void run_it(struct pythons *pythons, uint32_t pid, const struct choice *choice)
{
	uint64_t image_ns = procs_image(pythons->procs, pid, UINT64_MAX)->start_mono_ns;
	struct runner *runner = find_or_add(pythons, pid);

	if (!runner)
		return;
	if (runner->published && runner->file == choice->file && runner->bias == choice->bias &&
	    runner->image_ns == image_ns)
		return;
	python_file_hold(&runner->file, choice->file);
	runner->bias = choice->bias;
	if (!runner->began_boot_ns || runner->image_ns != image_ns)
		runner->began_boot_ns = boot_ns(image_ns);
	runner->image_ns = image_ns;
	runner->version = choice->file->contents.process.version;
	publish(pythons, runner);
}

static void look(struct pythons *pythons, uint32_t pid)
{
	const struct mapping_set *set = procs_mappings(pythons->procs, pid);
	struct runner *runner = find(pythons, pid);

	if (!set) {
		if (runner && procs_known(pythons->procs, pid))
			withdraw(pythons, runner);
		else if (runner)
			forget(pythons, runner);
		return;
	}
	struct choice choice = choose(pythons, set, runner);
	if (choice.pending)
		pid_set_add(&pythons->waiting, pid);
	if (choice.file)
		run_it(pythons, pid, &choice);
	else if (runner)
		forget(pythons, runner);
	python_file_hold(&choice.file, NULL);
}

static void look_at_process(const struct proc *proc, void *ctx)
{
	look(ctx, proc->pid);
}

static void look_at_all(struct pythons *pythons)
{
	struct runner *runner, *next;

	/* First the processes that ended, then those that live. */
	HASH_ITER (hh, pythons->by_pid, runner, next)
		look(pythons, runner->pid);
	procs_each(pythons->procs, look_at_process, pythons);
}

void pythons_sync(struct pythons *pythons)
{
	bool all = pythons->all_changed || pythons->changed.overflown;
	uint32_t pid;

	if (pythons->stopped)
		return;
	pythons->all_changed = pythons->changed.overflown = false;
	if (all)
		look_at_all(pythons);
	/* A process that has ended makes room for others, which are examined here too. */
	while ((pid = pid_set_take(&pythons->changed)))
		look(pythons, pid);
}

uint32_t pythons_version(const struct pythons *pythons, uint32_t pid)
{
	const struct runner *runner = find(pythons, pid);

	return runner ? runner->version : 0;
}

uint64_t pythons_began(const struct pythons *pythons, uint32_t pid, uint64_t image_ns)
{
	const struct runner *runner = find(pythons, pid);

	return runner && runner->image_ns == image_ns ? runner->began_boot_ns : 0;
}

bool pythons_describe(const struct pythons *pythons, uint32_t pid,
                      struct python_process *ret_process)
{
	const struct runner *runner = find(pythons, pid);

	if (!runner || !runner->published)
		return false;
	*ret_process = described(runner);
	return true;
}

/* Whether a file is the module _asyncio, by its name. */
static bool is_asyncio(const char *path)
{
	static const char name[] = "/_asyncio.";
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash, name, sizeof(name) - 1);
}

const char *pythons_asyncio(const struct pythons *pythons, uint32_t pid,
                            struct python_asyncio *ret_asyncio)
{
	const struct mapping_set *set = procs_mappings(pythons->procs, pid);
	const struct runner *runner = find(pythons, pid);
	const char *why = NULL;

	*ret_asyncio = runner && runner->file ? runner->file->contents.asyncio
	                                      : (struct python_asyncio){0};
	for (size_t i = 0; set && !ret_asyncio->task_node && i < mapping_set_count(set); i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);
		const struct python_asyncio *found;
		bool pending;

		if (i == MAX_LOOKED_AT)
			return "it maps too many files";
		if (!is_asyncio(mapping->path))
			continue;
		found = python_files_asyncio(pythons->files, mapping->object, &pending);
		if (found)
			*ret_asyncio = *found;
		why = pending ? "profd does not know its Python yet"
		              : "what its module _asyncio says of itself cannot be read";
	}
	return ret_asyncio->task_node ? NULL : why;
}

uint32_t pythons_owner(const struct pythons *pythons, uint32_t pid)
{
	const struct runner *runner = find(pythons, pid);

	return runner ? runner->owner : OWNER_UNKNOWN;
}

void pythons_get_stats(const struct pythons *pythons, struct pythons_stats *ret_stats)
{
	*ret_stats = (struct pythons_stats){
		.processes = pythons->published.taken,
		.files = python_files_count(pythons->files),
		.files_failed = python_files_failed(pythons->files),
		.files_put_off = python_files_put_off(pythons->files),
		.processes_refused = pythons->refusals,
	};
}

void pythons_add_reader_stats(const struct pythons *pythons, struct reader_stats *stats)
{
	python_files_add_reader_stats(pythons->files, stats);
}
