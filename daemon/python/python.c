/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPython as a runtime: processes that run it are described in the map python_processes, and the
 * kernel half reports code objects and threads in the ring buffer python_codes.
 */
#include "python/pythons.h"

#include "base/clock.h"
#include "base/log.h"
#include "kernel/bpf.h"
#include "proc/process_memory.h"
#include "python/python_codes.h"
#include "cpython/python_tasks.h"
#include "python/python_threads.h"
#include "runtimes/runtimes.h"

#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* A large program has 20,000 code objects of some 600 bytes. When memory runs out, the user
	 * with most of them loses some. */
	CODES_BYTES = 32 << 20,
};

struct python {
	struct bpf *bpf;
	struct pythons *pythons;
	struct python_codes *codes;
	struct python_threads *threads;
	u64 *codes_told; /* see python_codes_told_in() */
	struct ring_buffer *ring;
	size_t bytes_read; /* from the ring, by one python_read() */
	uv_poll_t poll;
	bool polling;
};

static int set_process(uint32_t pid, const struct python_process *process, void *ctx)
{
	struct python *python = ctx;
	int fd = bpf_map__fd(python->bpf->skeleton->maps.python_processes);

	return bpf_map_update_elem(fd, &pid, process, BPF_ANY);
}

static void unset_process(uint32_t pid, void *ctx)
{
	struct python *python = ctx;

	bpf_map_delete_elem(bpf_map__fd(python->bpf->skeleton->maps.python_processes), &pid);
}

static u64 *map_told(const struct bpf_map *map)
{
	void *memory = mmap(NULL, PYTHON_SENT * sizeof(u64), PROT_READ | PROT_WRITE, MAP_SHARED,
	                    bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Bad records are counted by the functions called here, and do not stop the others. One call reads
 * at most as many bytes as the ring holds, so a process that fills the ring as fast as it is read
 * does not keep the loop here. */
static int take_code(void *ctx, void *bytes, size_t len)
{
	const struct python_code *code = bytes;
	struct python *python = ctx;

	if (!python_threads_add(python->threads, bytes, len) && len >= sizeof(*code))
		python_codes_add(python->codes, pythons_owner(python->pythons, code->pid), bytes,
		                 len);
	python->bytes_read += len;
	return python->bytes_read < PYTHON_CODES_BYTES ? 0 : -EAGAIN;
}

static void python_read(void *own)
{
	struct python *python = own;

	python->bytes_read = 0;
	python_codes_rest(python->codes, clock_mono_ns());
	int err = ring_buffer__consume(python->ring);

	if (err < 0 && err != -EAGAIN)
		log_debug("cannot read the ring buffer of code objects: %s", strerror(-err));
}

static void python_sync(void *own)
{
	const struct python *python = own;

	pythons_sync(python->pythons);
}

static bool describe(void *ctx, uint32_t pid, struct python_process *ret_process)
{
	const struct python *python = ctx;

	return pythons_describe(python->pythons, pid, ret_process);
}

static uint32_t owner_of(void *ctx, uint32_t pid)
{
	const struct python *python = ctx;

	return pythons_owner(python->pythons, pid);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void python_free(void *own)
{
	struct python *python = own;

	if (!python)
		return;
	pythons_free(python->pythons);
	python_threads_free(python->threads);
	python_codes_free(python->codes);
	ring_buffer__free(python->ring);
	if (python->codes_told)
		munmap(python->codes_told, PYTHON_SENT * sizeof(u64));
	free(python);
}

static int open_parts(struct python *python, const struct runtime_config *config)
{
	const struct python_sink sink = {set_process, unset_process, python};
	const struct python_threads_hooks hooks = {describe, owner_of, python, config->execs};

	python->bpf = config->bpf;
	python->ring = ring_buffer__new(bpf_map__fd(python->bpf->skeleton->maps.python_codes),
	                                take_code, python, NULL);
	if (!python->ring)
		return -errno;
	python->codes_told = map_told(python->bpf->skeleton->maps.python_sent);
	if (!python->codes_told)
		return -errno;
	python->codes = python_codes_new(CODES_BYTES);
	if (!python->codes)
		return -ENOMEM;
	python_codes_told_in(python->codes, python->codes_told);
	python_codes_fetch_by(python->codes, config->crew, config->execs);
	python->threads = python_threads_new(config->loop, &hooks);
	python->pythons = pythons_new(config->loop, config->procs, config->store, &sink);
	return python->threads && python->pythons ? 0 : -ENOMEM;
}

static int python_open(const struct runtime_config *config, void **ret_own)
{
	struct python *python = calloc(1, sizeof(*python));
	int err = python ? open_parts(python, config) : -ENOMEM;

	if (err)
		python_free(python);
	else
		*ret_own = python;
	return err;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	python_read(poll->data);
}

/* Reads the ring buffer whenever it has records, so that there is always room. */
static int python_start(void *own, uv_loop_t *loop)
{
	struct python *python = own;
	int err = uv_poll_init(loop, &python->poll, ring_buffer__epoll_fd(python->ring));

	if (err)
		return err;
	python->poll.data = python;
	python->polling = true;
	return uv_poll_start(&python->poll, UV_READABLE, on_readable);
}

static void python_stop(void *own)
{
	struct python *python = own;

	pythons_stop(python->pythons);
	python_threads_stop(python->threads);
	if (python->polling)
		uv_close((uv_handle_t *)&python->poll, NULL);
	python->polling = false;
}

/* ---- what it knows --------------------------------------------------------------------------- */

static bool python_find(void *own, uint64_t signature, uint32_t offset,
                        struct runtime_frame *ret_frame)
{
	const struct python *python = own;

	return python_codes_find(python->codes, signature, offset, ret_frame);
}

static uint32_t python_version(const void *own, uint32_t pid)
{
	const struct python *python = own;

	return pythons_version(python->pythons, pid);
}

static uint64_t python_began(const void *own, uint32_t pid, uint64_t image_mono_ns)
{
	const struct python *python = own;

	return pythons_began(python->pythons, pid, image_mono_ns);
}

static const char *python_thread_name(void *own, const struct runtime_thread *thread)
{
	const struct python *python = own;

	return python_threads_name(python->threads, thread->pid, thread->image, thread->tid,
	                           thread->mono_ns);
}

/* Of a reading of tasks. */
struct tasks_plan {
	struct python_process process;
	struct python_asyncio asyncio;
};

/* Aside: see runtimes/tasks.h. */
static int read_tasks(const struct runtime_tasks_plan *plan, struct runtime_tasks *ret_tasks)
{
	_cleanup_(process_memory_close) struct process_memory memory;
	const struct tasks_plan *own = (const void *)plan->own;
	struct python_objects objects = {
		.process = &own->process,
		.read = process_memory_get_by,
		.ctx = &memory,
		.reads_left = MAX_PYTHON_TASK_READS,
	};
	int err = process_memory_open(plan->pid, &memory);

	*ret_tasks = (struct runtime_tasks){0};
	if (!err)
		err = python_tasks_read(&objects, &own->asyncio, ret_tasks);
	return err;
}

static const char *python_plan_tasks(const void *own, uint32_t pid,
                                     struct runtime_tasks_plan *ret_plan)
{
	const struct python *python = own;
	const char *why = NULL;
	struct tasks_plan plan;

	_Static_assert(sizeof(plan) <= sizeof(ret_plan->own), "fits");
	*ret_plan = (struct runtime_tasks_plan){
		.pid = pid,
		.owner = pythons_owner(python->pythons, pid),
		.read = read_tasks,
	};
	plan.asyncio = (struct python_asyncio){0};
	if (!pythons_describe(python->pythons, pid, &plan.process))
		return "profd does not know its Python yet";
	if (!python_tasks_known(&plan.process))
		return "profd knows the tasks of Python 3.11 to 3.14 with a GIL only";
	if (plan.process.version >= PYTHON_DESCRIBES_TASKS)
		why = pythons_asyncio(python->pythons, pid, &plan.asyncio);
	if (why)
		return why;
	memcpy(ret_plan->own, &plan, sizeof(plan));
	return NULL;
}

static void python_figures(const void *own, figure_fn *fn, void *ctx)
{
	const struct python *python = own;
	struct pythons_stats pythons;
	struct python_threads_stats threads;
	struct python_codes_stats codes;

	pythons_get_stats(python->pythons, &pythons);
	python_threads_get_stats(python->threads, &threads);
	python_codes_get_stats(python->codes, &codes);
#define TELL(of, prefix, name, type, help) \
	fn(&(struct figure){"python", #name, prefix #name, FIGURE_##type, help, of.name}, ctx);
#define STAT(name, type, help) TELL(pythons, "python_", name, type, help)
	PYTHONS_STATS(STAT)
#undef STAT
#define STAT(name, type, help) TELL(threads, "python_", name, type, help)
	PYTHON_THREADS_STATS(STAT)
#undef STAT
#define STAT(name, type, help) TELL(codes, "python_names_", name, type, help)
	PYTHON_CODES_STATS(STAT)
#undef STAT
#undef TELL
}

static void python_add_reader_stats(const void *own, struct reader_stats *stats)
{
	const struct python *python = own;

	pythons_add_reader_stats(python->pythons, stats);
}

const struct runtime runtime_python = {
	.name = "python",
	.open = python_open,
	.start = python_start,
	.stop = python_stop,
	.free = python_free,
	.sync = python_sync,
	.read = python_read,
	.find = python_find,
	.version = python_version,
	.began = python_began,
	.thread_name = python_thread_name,
	.plan_tasks = python_plan_tasks,
	.figures = python_figures,
	.add_reader_stats = python_add_reader_stats,
};
