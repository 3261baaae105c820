/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parts are loaded one at a time. The pointer to a part is set last, so other threads only see
 * complete parts.
 */
#include "kernel/bpf_parts.h"

#include "bpf/profd.skel.h"
#include "kernel/bpf_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BIT(part) (1u << BPF_PART_##part)

/* Programs and maps by the prefix of their names; the first match counts. What matches no group is
 * loaded at the start. */
struct group {
	const char *begin;
	u32 parts;
};

static const struct group program_groups[] = {
	{"cpu_switch", BIT(SWITCHES)},
	{"threads_ran", BIT(RUN_TIMES)},
	{"wait_", BIT(WAITS)},
	{"block_", BIT(WAITS)},
	{"glue_find", BIT(SWITCHES) | BIT(WAITS)},
	{"fault_", BIT(FAULTS)},
	{"resident_taken", BIT(GROWTH)},
	{"resident_", BIT(GROWTH_CLOSELY)},
	{"address_space_grows", BIT(GROWTH_CLOSELY)},
	{"heap_usdt_", BIT(HEAP_TOLD)},
	{"heap_", BIT(HEAP)},
	{"gpu_launched", BIT(GPU_TOLD)},
	{"gpu_ran", BIT(GPU_TOLD)},
	{"gpu_", BIT(GPU)},
	{NULL, 0},
};

static const struct group map_groups[] = {
	{"wait_", BIT(WAITS)},
	{"block_", BIT(WAITS)},
	{"resident_", BIT(GROWTH) | BIT(GROWTH_CLOSELY)},
	{"growth_", BIT(GROWTH) | BIT(GROWTH_CLOSELY)},
	{"mapped", BIT(GROWTH_CLOSELY)},
	{"fault_", BIT(FAULTS)},
	{"heap_", BIT(HEAP) | BIT(HEAP_TOLD)},
	{"gpu_", BIT(GPU) | BIT(GPU_TOLD)},
	{"static_sites", BIT(HEAP_TOLD) | BIT(GPU_TOLD)},
	{NULL, 0},
};

static const char *const part_names[BPF_PARTS] = {
#define PART(name, what) [BPF_PART_##name] = (what),
	BPF_PART_LIST(PART)
#undef PART
};

struct part {
	struct profd_bpf *skeleton;
	int err; /* set after `why` */
	char why[128];
};

struct bpf_parts {
	pthread_mutex_t loading;
	struct part all[BPF_PARTS];
};

static u32 parts_of(const struct group *groups, const char *name)
{
	while (groups->begin && strncmp(name, groups->begin, strlen(groups->begin)) != 0)
		groups++;
	return groups->parts;
}

int bpf_parts_defer(struct bpf *bpf)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int err;

	bpf->parts = calloc(1, sizeof(*bpf->parts));
	err = bpf->parts ? -pthread_mutex_init(&bpf->parts->loading, NULL) : -ENOMEM;
	bpf_object__for_each_program(program, bpf->skeleton->obj)
	{
		if (!err && parts_of(program_groups, bpf_program__name(program)))
			err = bpf_program__set_autoload(program, false);
	}
	bpf_object__for_each_map(map, bpf->skeleton->obj)
	{
		if (!err && parts_of(map_groups, bpf_map__name(map)))
			err = bpf_map__set_autocreate(map, false);
	}
	return err;
}

const struct profd_bpf *bpf_part(const struct bpf *bpf, enum bpf_part part)
{
	return __atomic_load_n(&bpf->parts->all[part].skeleton, __ATOMIC_ACQUIRE);
}

const char *bpf_part_why(const struct bpf *bpf, enum bpf_part part)
{
	const struct part *state = &bpf->parts->all[part];

	return __atomic_load_n(&state->err, __ATOMIC_ACQUIRE) ? state->why : "";
}

static struct bpf_program *switch_program(const struct bpf *bpf)
{
	const struct profd_bpf *waits = bpf_part(bpf, BPF_PART_WAITS);
	const struct profd_bpf *ticks = bpf_part(bpf, BPF_PART_SWITCHES);

	if (waits && bpf->waits_are_ready)
		return waits->progs.wait_switch;
	return ticks ? ticks->progs.cpu_switch : NULL;
}

int bpf_watch_switches(struct bpf *bpf)
{
	struct bpf_program *program = switch_program(bpf);
	struct bpf_link *link;

	bpf->skeleton->bss->switches_are_watched = bpf_part(bpf, BPF_PART_SWITCHES) != NULL;
	if (program == bpf->switch_program)
		return 0;
	link = bpf_program__attach(program);
	if (!link)
		return -errno;
	bpf_unwatch_switches(bpf);
	bpf->switch_link = link;
	bpf->switch_program = program;
	return 0;
}

void bpf_unwatch_switches(struct bpf *bpf)
{
	bpf_link__destroy(bpf->switch_link);
	bpf->switch_link = NULL;
	bpf->switch_program = NULL;
}

/* The first of these parts that is loaded. It has the maps that the parts share. */
static const struct profd_bpf *first_of(const struct bpf *bpf, u32 parts)
{
	const struct profd_bpf *first = NULL;

	for (int part = 0; part < BPF_PARTS && !first; part++)
		if (parts & 1u << part)
			first = bpf_part(bpf, (enum bpf_part)part);
	return first;
}

/* Leaves out a map of other parts, and reuses a map that exists. A part has its own copy of the
 * constants, because the verifier must see that they can no longer change. */
static int choose_map(const struct bpf *bpf, enum bpf_part part, struct bpf_map *map)
{
	const char *name = bpf_map__name(map);
	u32 parts = parts_of(map_groups, name);
	const struct profd_bpf *owner = parts ? first_of(bpf, parts) : bpf->skeleton;
	const struct bpf_map *shared;

	if (parts && !(parts & 1u << part))
		return bpf_map__set_autocreate(map, false);
	shared = owner ? bpf_object__find_map_by_name(owner->obj, name) : NULL;
	return shared ? bpf_map__reuse_fd(map, bpf_map__fd(shared)) : 0;
}

static int prepare_part(const struct bpf *bpf, enum bpf_part part, struct profd_bpf *skeleton)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int err = 0;

	*skeleton->rodata = *bpf->skeleton->rodata;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		u32 parts = parts_of(program_groups, bpf_program__name(program));

		err = err ?: bpf_program__set_autoload(program, parts & 1u << part);
	}
	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (!err && map != skeleton->maps.rodata)
			err = choose_map(bpf, part, map);
	}
	return err;
}

/* What cannot be found is not known: frames too many are no reason to do without the part. */
static void find_glue(const struct profd_bpf *skeleton)
{
	struct bpf_program *program = skeleton->progs.glue_find;

	if (bpf_program__fd(program) < 0)
		return;
	(void)bpf_prog_test_run_opts(bpf_program__fd(program), NULL);
	bpf_program__unload(program);
}

static int load(const struct bpf *bpf, enum bpf_part part, bpf_prepare_fn *prepare,
                struct profd_bpf **ret_skeleton)
{
	struct profd_bpf *skeleton = bpf_open_object(bpf);
	int err = skeleton ? prepare_part(bpf, part, skeleton) : -errno;

	if (!err) {
		if (prepare)
			prepare(skeleton);
		err = profd_bpf__load(skeleton);
	}
	if (err) {
		profd_bpf__destroy(skeleton);
		return err;
	}
	find_glue(skeleton);
	*ret_skeleton = skeleton;
	return 0;
}

static void explain(enum bpf_part part, int err, char why[128])
{
	bool refused = err == -EPERM || err == -EACCES;

	snprintf(why, 128, "cannot load the BPF programs for %s: %s%s", part_names[part],
	         strerror(-err), refused ? " (requires CAP_BPF and CAP_PERFMON)" : "");
}

int bpf_part_load(struct bpf *bpf, enum bpf_part part, bpf_prepare_fn *prepare)
{
	struct part *state = &bpf->parts->all[part];
	struct profd_bpf *skeleton = NULL;
	int err;

	pthread_mutex_lock(&bpf->parts->loading);
	err = state->err;
	if (!err && !state->skeleton) {
		err = load(bpf, part, prepare, &skeleton);
		if (err)
			explain(part, err, state->why);
		__atomic_store_n(&state->err, err, __ATOMIC_RELEASE);
		__atomic_store_n(&state->skeleton, skeleton, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&bpf->parts->loading);
	return err;
}

static u64 bytes_of(const struct bpf *bpf, const struct profd_bpf *skeleton)
{
	struct bpf_map *map;
	u64 total = 0;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		u32 parts = parts_of(map_groups, bpf_map__name(map));

		/* A map that several parts share is counted once. */
		if (map == skeleton->maps.rodata || (parts && first_of(bpf, parts) == skeleton))
			total += bpf_map_memory(map);
	}
	return total;
}

u64 bpf_parts_map_bytes(const struct bpf *bpf)
{
	u64 total = 0;

	for (int part = 0; part < BPF_PARTS; part++) {
		const struct profd_bpf *skeleton = bpf_part(bpf, (enum bpf_part)part);

		total += skeleton ? bytes_of(bpf, skeleton) : 0;
	}
	return total;
}

void bpf_parts_release(struct bpf *bpf)
{
	if (!bpf->parts)
		return;
	bpf_unwatch_switches(bpf);
	for (int part = 0; part < BPF_PARTS; part++)
		profd_bpf__destroy(bpf->parts->all[part].skeleton);
	pthread_mutex_destroy(&bpf->parts->loading);
	free(bpf->parts);
	bpf->parts = NULL;
}
