/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fills the map python_processes, and reads the ring buffer python_codes, in which the kernel half
 * also reports threads.
 */
#include "collect/python.h"

#include "base/log.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* A large program has 20,000 code objects of some 600 bytes. When memory runs out, the user
	 * with most of them loses some. */
	CODES_BYTES = 32 << 20,
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

void python_read(struct python *python)
{
	python->bytes_read = 0;
	int err = ring_buffer__consume(python->ring);

	if (err < 0 && err != -EAGAIN)
		log_debug("cannot read the ring buffer of code objects: %s", strerror(-err));
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

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	python_read(poll->data);
}

int python_open(struct python *python, struct bpf *bpf, uv_loop_t *loop,
                const struct python_tables *tables)
{
	const struct python_sink sink = {set_process, unset_process, python};
	const struct python_threads_hooks hooks = {describe, owner_of, python, tables->execs};

	python->bpf = bpf;
	python->ring = ring_buffer__new(bpf_map__fd(bpf->skeleton->maps.python_codes), take_code,
	                                python, NULL);
	if (!python->ring)
		return -errno;
	python->codes_told = map_told(bpf->skeleton->maps.python_sent);
	if (!python->codes_told)
		return -errno;
	python->codes = python_codes_new(CODES_BYTES);
	if (!python->codes)
		return -ENOMEM;
	python_codes_fetch_by(python->codes, tables->crew, tables->execs);
	python->threads = python_threads_new(loop, &hooks);
	python->pythons = pythons_new(loop, tables->procs, tables->store, &sink);
	return python->threads && python->pythons ? 0 : -ENOMEM;
}

int python_start(struct python *python, uv_loop_t *loop)
{
	int err = uv_poll_init(loop, &python->poll, ring_buffer__epoll_fd(python->ring));

	if (err)
		return err;
	python->poll.data = python;
	python->polling = true;
	return uv_poll_start(&python->poll, UV_READABLE, on_readable);
}

void python_stop(struct python *python)
{
	pythons_stop(python->pythons);
	python_threads_stop(python->threads);
	if (python->polling)
		uv_close((uv_handle_t *)&python->poll, NULL);
	python->polling = false;
}

void python_release(struct python *python)
{
	pythons_free(python->pythons);
	python_threads_free(python->threads);
	python_codes_free(python->codes);
	ring_buffer__free(python->ring);
	if (python->codes_told)
		munmap(python->codes_told, PYTHON_SENT * sizeof(u64));
	*python = (struct python){0};
}
