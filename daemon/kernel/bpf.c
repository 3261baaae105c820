/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the kernel half, and empties its maps with batch operations.
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
	FIRST_GPU_ROWS = 1024,
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

/* Empties a hash map into the arrays, which have room for all its entries. */
static int drain_map(int fd, u32 size, void *keys, size_t key_bytes, void *values,
                     size_t value_bytes, size_t *ret_count)
{
	u64 cursor = 0;
	size_t count = 0;
	bool first = true;
	int err = 0;

	while (!err && count < size) {
		u32 batch = size - (u32)count;

		err = bpf_map_lookup_and_delete_batch(
			fd, first ? NULL : &cursor, &cursor, (char *)keys + count * key_bytes,
			(char *)values + count * value_bytes, &batch, NULL);
		if (!err || err == -ENOENT)
			count += batch;
		first = false;
	}
	*ret_count = count;
	return err == -ENOENT ? 0 : err;
}

/* Adds what one lane counted on every CPU, and resets its counters. */
static int drain_lane(struct bpf *bpf, u32 at, struct counters *sum)
{
	int fd = bpf_map__fd(bpf->skeleton->maps.counters);
	struct counters before = *sum;
	int err = bpf_map_lookup_elem(fd, &at, bpf->per_cpu);

	if (err)
		return err;
	for (u32 cpu = 0; cpu < bpf->cpu_count; cpu++) {
		for (int i = 0; i < COUNTER_COUNT; i++)
			sum->values[i] += bpf->per_cpu[cpu].values[i];
		sum->taking_ns += bpf->per_cpu[cpu].taking_ns;
	}
	if (!memcmp(sum, &before, sizeof(before)))
		return 0;
	memset(bpf->per_cpu, 0, bpf->cpu_count * sizeof(*bpf->per_cpu));
	err = bpf_map_update_elem(fd, &at, bpf->per_cpu, BPF_ANY);
	if (err)
		*sum = before;
	return err;
}

static int drain_counters(struct bpf *bpf, u32 half, struct counters *ret_sum)
{
	u64 lane_busy = __atomic_load_n(&bpf->skeleton->bss->lane_busy, __ATOMIC_RELAXED);
	int first_err = 0;

	*ret_sum = (struct counters){0};
	for (u32 lane = 0; lane < AT_COUNT >> LANE_SHIFT; lane++) {
		int err = drain_lane(bpf, lane << LANE_SHIFT | half, ret_sum);

		if (!first_err)
			first_err = err;
	}
	ret_sum->values[COUNTER_lane_busy] = lane_busy - bpf->lane_busy;
	bpf->lane_busy = lane_busy;
	return first_err;
}

static int grow_gpu_rows(struct bpf *bpf, size_t room)
{
	struct gpu_call_key *keys = realloc(bpf->gpu_keys, room * sizeof(*keys));
	struct gpu_call *calls;

	if (!keys)
		return -ENOMEM;
	bpf->gpu_keys = keys;
	calls = realloc(bpf->gpu_calls, room * sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	bpf->gpu_calls = calls;
	bpf->gpu_room = room;
	return 0;
}

/* The room that was taken is free again. */
static void give_back(struct taken *taken)
{
	*taken = (struct taken){0};
}

/* Adds what was counted in the slots of rows. Completes blocks whose last number was not an
 * argument in a register (struct gpu_call_key). */
static void complete_gpu_rows(struct bpf *bpf, u32 half, size_t count)
{
	const struct gpu_slot *slots = bpf->skeleton->bss->gpu_slots[half];

	for (size_t i = 0; i < count; i++) {
		struct gpu_call *call = &bpf->gpu_calls[i];

		if (call->slot && call->slot < GPU_SLOTS) {
			call->count += slots[call->slot].count;
			call->value += slots[call->slot].value;
		}
		if (!bpf->gpu_keys[i].block[2])
			bpf->gpu_keys[i].block[2] = call->block_z;
	}
}

/* Drains the rows of GPU calls. Mostly there are none. */
static int drain_gpu(struct bpf *bpf, u32 half, struct drained *drained)
{
	const struct profd_bpf *skeleton = bpf_part(bpf, BPF_PART_GPU);
	size_t rows = skeleton ? skeleton->bss->gpu_rows[half].all : 0, room = FIRST_GPU_ROWS;
	int fd, err = 0;

	if (!rows)
		return 0;
	fd = bpf_map__fd(half ? skeleton->maps.gpu_calls_1 : skeleton->maps.gpu_calls_0);
	while (room < rows)
		room *= 2;
	if (room > bpf->gpu_room)
		err = grow_gpu_rows(bpf, room);
	if (!err)
		err = drain_map(fd, (u32)bpf->gpu_room, bpf->gpu_keys, sizeof(*bpf->gpu_keys),
		                bpf->gpu_calls, sizeof(*bpf->gpu_calls), &drained->gpu_count);
	/* Rows that could not be read remain for the next drain, and their slots remain taken. */
	skeleton->bss->gpu_rows[half].all -= (u32)drained->gpu_count;
	if (!err) {
		give_back(&skeleton->bss->gpu_rows[half]);
		give_back(&skeleton->bss->gpu_slots_taken[half]);
	}
	complete_gpu_rows(bpf, half, drained->gpu_count);
	drained->gpu_keys = bpf->gpu_keys;
	drained->gpu_calls = bpf->gpu_calls;
	return err;
}

/* Whether a counter counts something other than samples. These are all such counters. */
static bool is_without_sample(enum counter counter)
{
	return counter == COUNTER_ticks || counter == COUNTER_ticks_missed ||
	       counter == COUNTER_idle || counter == COUNTER_lane_busy;
}

/* Every program that adds an entry to the maps, or cannot add one, counts that. So the maps are
 * empty if no such counter has changed. This saves a walk through empty maps, which takes time in
 * proportion to their size. */
static bool is_empty(const struct bpf *bpf, u32 half, const struct counters *sum)
{
	if (bpf->left[half] || bpf->skeleton->bss->gpu_rows[half].all)
		return false;
	for (int i = 0; i < COUNTER_COUNT; i++)
		if (!is_without_sample(i) && sum->values[i])
			return false;
	return true;
}

void bpf_drain(struct bpf *bpf, u32 half, struct drained *ret_drained)
{
	struct profd_bpf *skeleton = bpf->skeleton;
	int tallies = bpf_map__fd(half ? skeleton->maps.tallies_1 : skeleton->maps.tallies_0);
	int stacks = bpf_map__fd(half ? skeleton->maps.stacks_1 : skeleton->maps.stacks_0);
	struct drained drained = {
		.tally_keys = bpf->tally_keys,
		.tallies = bpf->tallies,
		.stack_keys = bpf->stack_keys,
		.stacks = bpf->stacks,
	};
	int err = drain_counters(bpf, half, &drained.counters);

	if (!err && is_empty(bpf, half, &drained.counters)) {
		*ret_drained = drained;
		return;
	}
	drained.err = drain_map(tallies, bpf->tally_size, bpf->tally_keys, sizeof(*bpf->tally_keys),
	                        bpf->tallies, sizeof(*bpf->tallies), &drained.tally_count);
	if (!drained.err)
		drained.err = err;
	err = drain_map(stacks, bpf->stack_size, bpf->stack_keys, sizeof(*bpf->stack_keys),
	                bpf->stacks, sizeof(*bpf->stacks), &drained.stack_count);
	if (!drained.err)
		drained.err = err;
	err = drain_gpu(bpf, half, &drained);
	if (!drained.err)
		drained.err = err;
	/* Entries that could not be read remain for the next drain, and their room remains
	 * taken. */
	bpf->left[half] = drained.err != 0;
	if (!drained.err) {
		give_back(&skeleton->bss->others_tallies[half]);
		give_back(&skeleton->bss->nodes_taken[half]);
		give_back(&skeleton->bss->others_nodes[half]);
	}
	*ret_drained = drained;
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
