/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct activities - what threads do in the samples of a profile of waits or of all time
 * (VIEW_wall of profile/view.h): each sample is one of ACTIVITIES, by its labels and the
 * functions of its stack, by the rules of activity.c. Pure; any thread.
 */
#pragma once

#include "profile/builder.h"
#include "profile/selection.h"

/* ACTIVITY(name, title, bound): `bound` is one of BOUNDS of encode/bound.h. The first are of
 * threads that run, up to LAST_RUNNING. */
#define ACTIVITIES(ACTIVITY)                                                                \
	ACTIVITY(user, "user code", cpu)                                                    \
	ACTIVITY(kernel, "kernel code", cpu)                                                \
	ACTIVITY(fault, "page faults", faults)                                              \
	ACTIVITY(network_code, "network code of the kernel", network)                       \
	ACTIVITY(pipe_code, "pipe code of the kernel", process)                             \
	ACTIVITY(disk_code, "disk code of the kernel", disk)                                \
	ACTIVITY(gpu_code, "spins until a GPU has finished", gpu)                           \
	ACTIVITY(runnable, "wants a CPU and has none", contended_cpu)                       \
	ACTIVITY(gil, "wants the GIL", gil)                                                 \
	ACTIVITY(lock, "waits for a lock", lock)                                            \
	ACTIVITY(thread, "waits for another thread (condition, or lock not known)", thread) \
	ACTIVITY(disk, "waits for a disk or file system", disk)                             \
	ACTIVITY(network, "waits for the network", network)                                 \
	ACTIVITY(process, "waits for another process (pipes, children)", process)           \
	ACTIVITY(gpu, "waits for a GPU", gpu)                                               \
	ACTIVITY(sleep, "sleeps for a set time", sleep)                                     \
	ACTIVITY(stopped, "is stopped", stopped)                                            \
	ACTIVITY(other, "waits in other system calls", other)                               \
	ACTIVITY(unknown, "not known: not sampled", nothing)                                \
	ACTIVITY(work, "waits for work, or for answers (poll, accept, conditions)", nothing)

#define ACTIVITY(name, title, bound) ACTIVITY_##name,
enum activity { ACTIVITIES(ACTIVITY) ACTIVITY_COUNT, LAST_RUNNING = ACTIVITY_gpu_code };
#undef ACTIVITY

extern const char *const activity_names[ACTIVITY_COUNT], *const activity_titles[ACTIVITY_COUNT];

struct activities {
	uint16_t *of_nodes; /* what the functions of each path say: private to activity.c */
};

/* 0 or -ENOMEM. The profile must be named already, and outlive the result. */
int activities_find(const struct profile *profile, struct activities *ret_activities);
void activities_release(struct activities *activities);
enum activity activity_of(const struct activities *activities, const struct profile *profile,
                          const struct sample *sample);

/* Whether it takes activities to tell which samples a selection keeps. */
bool activities_decide(const struct selection *selection);
/* Removes the samples that the selection leaves out by what their threads do. That is waiting for
 * work, and event loops that wait where tasks are shown; comments say how much it was. VIEW_lock
 * only keeps waits for locks, and those for work that are in a futex call. Call when all names are
 * known. 0 or -ENOMEM. */
int activities_leave_out(struct builder *builder, const struct selection *selection);
