/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures what a counted launch costs: the same calls without a probe, with a probe that does
 * nothing, counted, and with an event that has a stack of one frame; side by side, in turns, at
 * full speed and at a fixed rate. The figures are medians over the turns. What counting adds is the
 * median of the differences within a turn, because other programs on the machine slow down all
 * calls of a turn together. One function begins as those of CUDA's driver do, and one with a push.
 * Needs root.
 */
#include "base/clock.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/stage.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	ROUNDS = 15,
	CALLS = 20000,     /* of a turn */
	TOLD_CALLS = 2000, /* the ring buffer has room for their events */
	RATE = 100000,     /* calls a second, where they are not at full speed */
	BURST = 100,       /* calls between two reads of the clock */
};

enum way { NOT_PROBED, EMPTY, COUNTED, TOLD, WAYS };

static const char *const way_names[WAYS] = {"not probed", "empty uprobe", "counted",
                                            "told, with a stack"};

struct shape {
	const char *name;
	int (*call)(uint64_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
	            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
	            uint64_t stream);
	int is_thunk;
};

static const struct shape shapes[] = {
	{"cmp, je, jmp *", drv_launch, 1},
	{"push", rt_launch, 0},
};

static void forget(const struct gpu_event *event, void *ctx)
{
	(void)event;
	(void)ctx;
}

/* Loads a program that returns at once. */
static int empty_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);

	if (uprobes_are_multi())
		options.expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_ATTACH;
	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", insns,
	                     sizeof(insns) / sizeof(insns[0]), &options);
}

static int attach(struct stage *stage, const struct shape *shape, enum way way, int empty)
{
	struct stage_site site = {
		.function = (void *)shape->call,
		.is_thunk = shape->is_thunk,
		.site = {.role = GPU_LAUNCHES, .a = 0, .b = 1, .call = 1},
	};

	stage_detach(stage);
	if (way == NOT_PROBED)
		return 0;
	if (way == EMPTY)
		return stage_attach_program(stage, empty, &site, 1);
	/* A large allocation's stack is always walked; its size is taken from argument 1. */
	if (way == TOLD)
		site.site.role = GPU_ALLOCATES_TENSOR;
	return stage_attach(stage, &site, 1, 1);
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static void burst(const struct shape *shape, int calls)
{
	for (int i = 0; i < calls; i++)
		shape->call(0x1000 + (uint64_t)(i & 15), 1 << 30, 1, 1, 128, 1, 1, 0, 0);
}

/* Returns the CPU time of a call, at full speed. */
static double flat_out(const struct shape *shape, int calls)
{
	uint64_t start = cpu_ns();

	burst(shape, calls);
	return (double)(cpu_ns() - start) / calls;
}

/* The same at a fixed rate. The column "not probed" has the effects of waiting as well. */
static double paced(const struct shape *shape, int calls)
{
	uint64_t start = clock_mono_ns(), busy = 0;

	for (int done = 0; done < calls; done += BURST) {
		uint64_t due = start + (uint64_t)done * (NSEC_PER_SEC / RATE), before;

		while (clock_mono_ns() < due)
			;
		before = cpu_ns();
		burst(shape, BURST);
		busy += cpu_ns() - before;
	}
	return (double)busy / calls;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Drains the maps and reads the events between the turns, as the daemon does. */
static void empty_out(struct stage *stage)
{
	struct drained drained;

	stage_drain(stage, &drained);
	stage_read(stage);
}

static int measure(struct stage *stage, const struct shape *shape, int empty,
                   double (*turn)(const struct shape *shape, int calls), const char *how)
{
	double ns[WAYS][ROUNDS], over[ROUNDS], times[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		for (enum way way = 0; way < WAYS; way++) {
			int err = attach(stage, shape, way, empty);

			if (err)
				return err;
			burst(shape, BURST);
			ns[way][round] = turn(shape, way == TOLD ? TOLD_CALLS : CALLS);
			empty_out(stage);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		over[round] = ns[COUNTED][round] - ns[EMPTY][round];
		times[round] = ns[COUNTED][round] / ns[EMPTY][round];
	}
	printf("%-16s %-10s", shape->name, how);
	for (enum way way = 0; way < WAYS; way++)
		printf(" %18.0f", median(ns[way]));
	printf(" %18.0f %9.2f\n", median(over), median(times));
	return 0;
}

int main(void)
{
	struct stage stage = {0};
	int empty, err;

	if (stage_open(&stage, forget, NULL))
		return EXIT_FAILURE;
	empty = empty_program();
	err = empty < 0 ? empty : 0;
	printf("CPU time of a call, ns\n%-16s %-10s", "begins with", "");
	for (enum way way = 0; way < WAYS; way++)
		printf(" %18s", way_names[way]);
	printf(" %18s %9s\n", "counted - empty", "ratio");
	for (size_t i = 0; !err && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		err = measure(&stage, &shapes[i], empty, flat_out, "flat out");
		if (!err)
			err = measure(&stage, &shapes[i], empty, paced, "100000/s");
	}
	if (err)
		fprintf(stderr, "%s\n", strerror(-err));
	stage_close(&stage);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
