/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the kernel half.
 */
#include "kernel/bpf_private.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "bpf/profd.skel.h"
#include "kernel/bpf_accounts.h"
#include "kernel/bpf_parts.h"
#include "kernel/bpf_types.h"
#include "kernel/perf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	DRAIN_SECONDS = 2, /* the maps hold this much without a drain, which is due every second */
	/* Samples of memory growth on the host, for each kind: the most at once, and per second. */
	GROWTH_BURST = 2000,
	GROWTH_HZ = 400,
	MAX_TALLIES = 131072,
	/* Measured: 1.5 to 2.5 on mixed loads, because outer frames are shared. With this bound a
	 * tick finds room even if most stacks are deep and have little in common. GPU calls use the
	 * room of the other kinds. */
	NODES_PER_TICK = 8,
	NODES_PER_OTHER = 1,
	LIBBPF_LINES = 40, /* of one message, at most */
};

/* The verifier's whole log of a program is one message. Its last lines say what was wrong. */
static void log_last_lines(char *text)
{
	char *line = text + strlen(text), *rest;
	int lines = 0;

	while (line > text && lines < LIBBPF_LINES)
		lines += *--line == '\n';
	for (line = strtok_r(line, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
}

__attribute__((format(printf, 2, 0))) static int keep_quiet(enum libbpf_print_level level,
                                                            const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	if (text)
		log_last_lines(text);
	return 0;
}

static u32 at_most(u64 size, u32 limit)
{
	return size < limit ? (u32)size : limit;
}

/* Reserves room for all samples that the timer can take; no other kind uses that room. */
static void choose_sizes(struct bpf *bpf, u32 online_cpus, u32 sample_hz, u32 growth_kinds)
{
	u32 ticks = at_most((u64)online_cpus * sample_hz * DRAIN_SECONDS, MAX_TALLIES);
	u32 others = growth_kinds * (GROWTH_BURST + GROWTH_HZ * DRAIN_SECONDS);
	u32 stacks = others * NODES_PER_OTHER;

	bpf->tally_size = ticks + others + bpf->cpu_count * LANES;
	bpf->stack_size = ticks * NODES_PER_TICK + stacks + bpf->cpu_count * LANES;
	bpf->others_tallies = others;
	bpf->others_stacks = stacks;
}

static int size_maps(struct bpf *bpf)
{
	struct profd_bpf *skeleton = bpf->skeleton;
	struct bpf_map *const tallies[] = {skeleton->maps.tallies_0, skeleton->maps.tallies_1};
	struct bpf_map *const stacks[] = {skeleton->maps.stacks_0, skeleton->maps.stacks_1};

	for (int half = 0; half < HALVES; half++) {
		int err = bpf_map__set_max_entries(tallies[half], bpf->tally_size);

		if (!err)
			err = bpf_map__set_max_entries(stacks[half], bpf->stack_size);
		if (err)
			return err;
	}
	skeleton->rodata->others_room.tallies = bpf->others_tallies;
	skeleton->rodata->others_room.stacks = bpf->others_stacks;
	skeleton->rodata->node_room = bpf->stack_size;
	return 0;
}

static int draw_hash_key(struct profd_bpf *skeleton)
{
	struct hash_key key;

	if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EIO;
	key.factor |= 1;
	skeleton->rodata->hash_key.start = key.start;
	skeleton->rodata->hash_key.factor = key.factor;
	return 0;
}

int bpf_find_btf(void)
{
	return access(BPF_BTF_FILE, R_OK) ? -errno : 0;
}

/* bpf_loop() is the newest feature that profd requires. False only if the verifier says that it is
 * missing, not if profd may not ask. */
static bool has_loops(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) != 0;
}

struct profd_bpf *bpf_open_object(const struct bpf *bpf)
{
	char path[64];
	/* libbpf reads this file when the object is loaded. Without a path, libbpf 1.1 also
	 * searches the kernel's modules for types that this kernel lacks, and fails without
	 * CAP_SYS_ADMIN. */
	const struct bpf_object_open_opts options = {
		.sz = sizeof(options),
		.btf_custom_path = path,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", bpf->types_fd);
	return profd_bpf__open_opts(&options);
}

static int open_first(struct bpf *bpf)
{
	bpf->types_fd = memfd_create("profd-types", MFD_CLOEXEC);
	bpf->skeleton = bpf->types_fd < 0 ? NULL : bpf_open_object(bpf);
	if (!bpf->skeleton)
		return -errno;
	return bpf_types_write(bpf_object__btf(bpf->skeleton->obj), BPF_BTF_FILE, bpf->types_fd);
}

int bpf_open(struct bpf *bpf, u32 online_cpus, u32 sample_hz, u32 growth_kinds, char why[256])
{
	int cpu_count = libbpf_num_possible_cpus();

	libbpf_set_print(keep_quiet);
	if (bpf_find_btf()) {
		snprintf(why, 256,
		         "the kernel has no BTF (" BPF_BTF_FILE "): it must be built with "
		         "CONFIG_DEBUG_INFO_BTF=y");
		return -ENOTSUP;
	}
	if (!has_loops()) {
		snprintf(why, 256, "this kernel has no bpf_loop(): Linux 5.17 or newer is needed");
		return -ENOTSUP;
	}
	if (cpu_count < 1 || cpu_count > MAX_CPUS) {
		snprintf(why, 256, "the kernel has %d possible CPUs; profd supports 1 to %d",
		         cpu_count, MAX_CPUS);
		return -ENOTSUP;
	}
	bpf->cpu_count = (u32)cpu_count;
	if (cpulist_limit(&bpf->cpu_limit))
		bpf->cpu_limit = MAX_CPUS;
	bpf->online_cpus = online_cpus;
	choose_sizes(bpf, online_cpus, sample_hz, growth_kinds);
	bpf->tally_keys = calloc(bpf->tally_size, sizeof(*bpf->tally_keys));
	bpf->tallies = calloc(bpf->tally_size, sizeof(*bpf->tallies));
	bpf->stack_keys = calloc(bpf->stack_size, sizeof(*bpf->stack_keys));
	bpf->stacks = calloc(bpf->stack_size, sizeof(*bpf->stacks));
	bpf->per_cpu = calloc(bpf->cpu_count, sizeof(*bpf->per_cpu));
	bpf->quiet = calloc(bpf->cpu_limit, sizeof(*bpf->quiet));
	int err = open_first(bpf);
	if (!bpf->tally_keys || !bpf->tallies || !bpf->stack_keys || !bpf->stacks ||
	    !bpf->per_cpu || !bpf->quiet)
		err = err ?: -ENOMEM;
	err = err ?: size_maps(bpf) ?: bpf_accounts_size(bpf->skeleton) ?: bpf_parts_defer(bpf);
	if (err) {
		snprintf(why, 256, "cannot prepare the BPF programs: %s", strerror(-err));
		return err;
	}
	err = draw_hash_key(bpf->skeleton);
	if (err) {
		snprintf(why, 256, "cannot get a random number: %s", strerror(-err));
		return err;
	}
	bpf->skeleton->rodata->growth_ns = NSEC_PER_SEC / GROWTH_HZ * online_cpus;
	bpf->skeleton->rodata->growth_burst = GROWTH_BURST / online_cpus + 1;
	return 0;
}

int bpf_load(struct bpf *bpf, char why[256])
{
	int err = profd_bpf__load(bpf->skeleton) ?: bpf_accounts_tell(bpf->skeleton);

	if (err == -EPERM || err == -EACCES)
		snprintf(why, 256,
		         "the kernel refuses to load BPF programs (%s): run profd as root, or with "
		         "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_SYSLOG",
		         strerror(-err));
	else if (err)
		snprintf(why, 256,
		         "the kernel rejects the BPF programs (%s): --verbose logs the reason",
		         strerror(-err));
	return err;
}

void bpf_release(struct bpf *bpf)
{
	bpf_parts_release(bpf);
	profd_bpf__destroy(bpf->skeleton);
	if (bpf->types_fd > 0)
		close(bpf->types_fd);
	free(bpf->tally_keys);
	free(bpf->tallies);
	free(bpf->stack_keys);
	free(bpf->stacks);
	free(bpf->gpu_keys);
	free(bpf->gpu_calls);
	free(bpf->per_cpu);
	free(bpf->quiet);
	*bpf = (struct bpf){0};
}

int bpf_watch_exec(struct bpf *bpf)
{
	bpf->exec_link = bpf_program__attach(bpf->skeleton->progs.process_exec);
	if (!bpf->exec_link)
		return -errno;
	bpf->exit_link = bpf_program__attach(bpf->skeleton->progs.process_exit);
	return bpf->exit_link ? 0 : -errno;
}

void bpf_unwatch_exec(struct bpf *bpf)
{
	bpf_link__destroy(bpf->exec_link);
	bpf_link__destroy(bpf->exit_link);
	bpf->exec_link = bpf->exit_link = NULL;
}

u64 bpf_map_memory(const struct bpf_map *map)
{
	_cleanup_(buf_release) struct buf info = BUF_INIT;
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	if (buf_read_file(&info, path, 4096))
		return 0;
	line = strstr(buf_text(&info), "memlock:");
	return line ? strtoull(line + strlen("memlock:"), NULL, 10) : 0;
}

u64 bpf_map_bytes(const struct bpf *bpf)
{
	struct bpf_map *map;
	u64 total = bpf_parts_map_bytes(bpf);

	bpf_object__for_each_map(map, bpf->skeleton->obj)
	{
		total += bpf_map_memory(map);
	}
	return total;
}
