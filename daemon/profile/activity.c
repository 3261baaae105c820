/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "profile/activity.h"

#include "base/clock.h"
#include "base/text.h"
#include "profile/select.h"
#include "profile/sum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTIVITY(name, title, bound) #name,
const char *const activity_names[] = {ACTIVITIES(ACTIVITY)};
#undef ACTIVITY
#define ACTIVITY(name, title, bound) title,
const char *const activity_titles[] = {ACTIVITIES(ACTIVITY)};
#undef ACTIVITY

/* What a function on a stack says of the sample. */
enum trait {
	IN_FAULT = 1 << 0,       /* the kernel gives the thread a page */
	IN_SOCKET = 1 << 1,      /* the kernel's network code */
	IN_DISK = 1 << 2,        /* the kernel's block layer */
	IN_ACCEPT = 1 << 3,      /* a server waits for its next client */
	IN_PIPE = 1 << 4,        /* also local sockets, and a child that has the parent's memory */
	IN_CONDITION = 1 << 5,   /* something has to happen: another thread has work, or ends */
	IN_PYTHON_WAIT = 1 << 6, /* the same, of the innermost Python function alone */
	IN_LOCK = 1 << 7,        /* also the kernel's own, such as that of a process's mappings */
	IN_GIL = 1 << 8,
	IN_SLEEP = 1 << 9,   /* a sleep that is no nanosleep() */
	IN_GPU = 1 << 10,    /* waits until a GPU has finished */
	IN_CLIENT = 1 << 11, /* waits for an answer */
	IN_KERNEL = 1 << 12, /* of the leaf alone */
	/* An event loop of asyncio, and what it calls to wait for events: of the two innermost
	 * Python functions alone. A task may wait in the same way. */
	IN_LOOP = 1 << 13,
	IN_SELECT = 1 << 14,
};

/* Those of the innermost Python function alone. */
enum { INNERMOST = IN_PYTHON_WAIT | IN_LOOP | IN_SELECT };

/* Where a rule applies. */
enum place {
	KERNEL,
	NATIVE,
	PYTHON, /* the function's last name, in a file whose path ends like this */
};

/* Functions by name. One that ends in '*' stands for all that begin so. */
static const struct rule {
	enum place place;
	const char *name, *file;
	enum trait trait;
} rules[] = {
	{KERNEL, "handle_mm_fault", "", IN_FAULT},
	{KERNEL, "exc_page_fault", "", IN_FAULT},
	{KERNEL, "asm_exc_page_fault", "", IN_FAULT},
	{KERNEL, "do_page_fault", "", IN_FAULT},
	{KERNEL, "sock_*", "", IN_SOCKET},
	{KERNEL, "__sock_*", "", IN_SOCKET},
	{KERNEL, "tcp_*", "", IN_SOCKET},
	{KERNEL, "udp_*", "", IN_SOCKET},
	{KERNEL, "inet_*", "", IN_SOCKET},
	{KERNEL, "__sys_sendto", "", IN_SOCKET},
	{KERNEL, "__sys_recvfrom", "", IN_SOCKET},
	{KERNEL, "__sys_sendmsg", "", IN_SOCKET},
	{KERNEL, "__sys_recvmsg", "", IN_SOCKET},
	{KERNEL, "__sys_connect", "", IN_SOCKET},
	{KERNEL, "blk_*", "", IN_DISK},
	{KERNEL, "__blk_*", "", IN_DISK},
	{KERNEL, "submit_bio*", "", IN_DISK},
	{KERNEL, "iomap_dio_*", "", IN_DISK},
	{KERNEL, "__iomap_dio_*", "", IN_DISK},
	{KERNEL, "vfs_fsync_range", "", IN_DISK},
	{KERNEL, "do_accept", "", IN_ACCEPT},
	{KERNEL, "__sys_accept4", "", IN_ACCEPT},
	{KERNEL, "inet_csk_accept", "", IN_ACCEPT},
	{KERNEL, "pipe_*", "", IN_PIPE},
	{KERNEL, "anon_pipe_*", "", IN_PIPE},
	{KERNEL, "fifo_*", "", IN_PIPE},
	{KERNEL, "unix_stream_*", "", IN_PIPE},
	{KERNEL, "unix_dgram_*", "", IN_PIPE},
	{KERNEL, "wait_for_vfork_done", "", IN_PIPE},
	{KERNEL, "n_tty_*", "", IN_CONDITION},
	{KERNEL, "do_sigtimedwait", "", IN_CONDITION},
	{KERNEL, "sigsuspend", "", IN_CONDITION},
	{KERNEL, "__do_sys_pause", "", IN_CONDITION},
	{KERNEL, "signalfd_read*", "", IN_CONDITION},
	{KERNEL, "eventfd_read", "", IN_CONDITION},
	{KERNEL, "inotify_read", "", IN_CONDITION},
	{KERNEL, "read_events", "", IN_CONDITION}, /* io_getevents() */
	{KERNEL, "timerfd_read*", "", IN_SLEEP},
	{KERNEL, "rwsem_down_*", "", IN_LOCK},
	{KERNEL, "__mutex_lock*", "", IN_LOCK},
	{KERNEL, "do_semtimedop", "", IN_LOCK},
	{KERNEL, "__do_semtimedop", "", IN_LOCK},
	{KERNEL, "flock_lock_*", "", IN_LOCK},
	{KERNEL, "fcntl_setlk*", "", IN_LOCK},
	{KERNEL, "futex_lock_pi*", "", IN_LOCK},
	/* glibc and musl; std::condition_variable calls them. */
	{NATIVE, "pthread_cond_*", "", IN_CONDITION},
	{NATIVE, "__pthread_cond_*", "", IN_CONDITION},
	{NATIVE, "___pthread_cond_*", "", IN_CONDITION},
	{NATIVE, "pthread_join", "", IN_CONDITION},
	/* In all that glibc waits for but mutexes. Of a wait that was not sampled when it began,
         * only this is known. */
	{NATIVE, "__futex_abstimed_wait*", "", IN_CONDITION},
	{NATIVE, "__pthread_clockjoin*", "", IN_CONDITION},
	{NATIVE, "pthread_mutex_*", "", IN_LOCK},
	{NATIVE, "___pthread_mutex_*", "", IN_LOCK},
	{NATIVE, "__lll_lock_wait*", "", IN_LOCK},
	{NATIVE, "__GI___lll_lock_wait*", "", IN_LOCK},
	{NATIVE, "pthread_rwlock_*", "", IN_LOCK},
	{NATIVE, "__pthread_rwlock_*", "", IN_LOCK},
	{NATIVE, "___pthread_rwlock_*", "", IN_LOCK},
	{NATIVE, "accept", "", IN_ACCEPT},
	{NATIVE, "accept4", "", IN_ACCEPT},
	/* Rust. Of a method, "<std::..." is compared without its first character. */
	{NATIVE, "std::thread::park*", "", IN_CONDITION},
	{NATIVE, "std::thread::Thread::park*", "", IN_CONDITION},
	{NATIVE, "std::thread::thread::Thread>::park*", "", IN_CONDITION},
	{NATIVE, "std::sys::sync::condvar::*", "", IN_CONDITION},
	{NATIVE, "std::sys::sync::mutex::*", "", IN_LOCK},
	{NATIVE, "std::sys::sync::rwlock::*", "", IN_LOCK},
	{NATIVE, "parking_lot::condvar::*", "", IN_CONDITION},
	{NATIVE, "parking_lot::raw_mutex::*", "", IN_LOCK},
	{NATIVE, "parking_lot::raw_rwlock::*", "", IN_LOCK},
	/* Go: a thread of the runtime without a goroutine to run; and its own locks. */
	{NATIVE, "runtime.findRunnable", "", IN_CONDITION},
	{NATIVE, "runtime.findrunnable", "", IN_CONDITION},
	{NATIVE, "runtime.stopm", "", IN_CONDITION},
	{NATIVE, "runtime.stoplockedm", "", IN_CONDITION},
	{NATIVE, "runtime.sysmon", "", IN_CONDITION},
	{NATIVE, "runtime.templateThread", "", IN_CONDITION},
	{NATIVE, "os/signal.signal_recv", "", IN_CONDITION},
	{NATIVE, "runtime.lock2", "", IN_LOCK},
	/* Java: what has to do with a monitor is told apart below its own wait for a condition. */
	{NATIVE, "Unsafe_Park", "", IN_CONDITION},
	{NATIVE, "ObjectMonitor::wait*", "", IN_CONDITION},
	{NATIVE, "ObjectMonitor::enter*", "", IN_LOCK},
	{NATIVE, "ObjectSynchronizer::enter*", "", IN_LOCK},
	/* GLib, OpenMP */
	{NATIVE, "g_cond_wait*", "", IN_CONDITION},
	{NATIVE, "g_mutex_lock*", "", IN_LOCK},
	{NATIVE, "gomp_team_barrier_wait*", "", IN_CONDITION},
	{NATIVE, "gomp_barrier_wait*", "", IN_CONDITION},
	/* CPython. Up to 3.10 it sleeps by select(); its locks are semaphores or its own mutexes.
         */
	{NATIVE, "time_sleep", "", IN_SLEEP},
	{NATIVE, "pysleep", "", IN_SLEEP},
	{NATIVE, "floatsleep", "", IN_SLEEP},
	{NATIVE, "PyThread_acquire_lock*", "", IN_LOCK},
	{NATIVE, "lock_PyThread_acquire_lock", "", IN_LOCK},
	{NATIVE, "_PyMutex_Lock*", "", IN_LOCK},
	{NATIVE, "take_gil", "", IN_GIL},
	{NATIVE, "PyEval_RestoreThread", "", IN_GIL},
	{NATIVE, "PyEval_AcquireThread", "", IN_GIL},
	{PYTHON, "wait", "/threading.py", IN_PYTHON_WAIT},
	{PYTHON, "join", "/threading.py", IN_PYTHON_WAIT},
	{PYTHON, "_wait_for_tstate_lock", "/threading.py", IN_PYTHON_WAIT},
	{PYTHON, "get", "/queue.py", IN_PYTHON_WAIT},
	{PYTHON, "_worker", "/concurrent/futures/thread.py", IN_PYTHON_WAIT},
	{PYTHON, "_run_once", "/asyncio/base_events.py", IN_LOOP},
	{PYTHON, "select", "/selectors.py", IN_SELECT},
	/* uvloop has no function of Python in between. */
	{PYTHON, "run", "/asyncio/runners.py", IN_LOOP | IN_SELECT},
	/* Clients that wait for an answer by poll(). */
	{NATIVE, "sock_call*", "", IN_CLIENT},
	{NATIVE, "internal_connect", "", IN_CLIENT},
	{NATIVE, "PQgetResult", "", IN_CLIENT},
	{NATIVE, "pqWait*", "", IN_CLIENT},
	{NATIVE, "Curl_poll*", "", IN_CLIENT},
	/* CUDA */
	{NATIVE, "cuStreamSynchronize*", "", IN_GPU},
	{NATIVE, "cuCtxSynchronize*", "", IN_GPU},
	{NATIVE, "cuEventSynchronize*", "", IN_GPU},
	{NATIVE, "cuMemcpyDtoH*", "", IN_GPU},
	{NATIVE, "cudaStreamSynchronize*", "", IN_GPU},
	{NATIVE, "cudaDeviceSynchronize*", "", IN_GPU},
	{NATIVE, "cudaEventSynchronize*", "", IN_GPU},
};

static enum place place_of(const struct mapping *mapping)
{
	if (mapping->kind == MAPPING_KERNEL)
		return KERNEL;
	return mapping->kind == MAPPING_INTERPRETED ? PYTHON : NATIVE;
}

static unsigned int traits_of_function(const struct profile *profile, uint32_t id, enum place place)
{
	const char *name = profile_string(profile, profile->functions[id].name),
		   *last = strrchr(name, '.');
	const char *file = profile_string(profile, profile->functions[id].filename);
	unsigned int traits = 0;

	if (place == PYTHON && last)
		name = last + 1;
	if (place == NATIVE && *name == '<')
		name++;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].place == place && text_matches(name, rules[i].name) &&
		    text_has_end(file, rules[i].file))
			traits |= rules[i].trait;
	return traits;
}

static uint16_t traits_of_location(const struct profile *profile, uint32_t id)
{
	const struct location *location = &profile->locations[id];
	enum place place = place_of(&profile->mappings[location->mapping]);
	unsigned int traits = 0;

	for (uint32_t i = 0; i < location->line_count; i++)
		traits |= traits_of_function(
			profile, profile->lines[location->first_line + i].function, place);
	return (uint16_t)(place == KERNEL ? traits | IN_KERNEL : traits);
}

int activities_find(const struct profile *profile, struct activities *ret_activities)
{
	_cleanup_free_ uint16_t *of_locations =
		calloc(profile->location_count, sizeof(*of_locations));
	uint16_t *of_nodes = calloc(profile->node_count, sizeof(*of_nodes));

	ret_activities->of_nodes = of_nodes;
	if (!of_locations || !of_nodes)
		return -ENOMEM;
	for (uint32_t id = 1; id < profile->location_count; id++)
		of_locations[id] = traits_of_location(profile, id);
	for (uint32_t id = 1; id < profile->node_count; id++) {
		const struct node *node = &profile->nodes[id];
		uint32_t mapping = profile->locations[node->location].mapping;
		uint16_t of_callers = of_nodes[node->parent] & (uint16_t)~IN_KERNEL;

		if (place_of(&profile->mappings[mapping]) == PYTHON)
			of_callers &= (uint16_t)~INNERMOST;
		of_nodes[id] = of_callers | of_locations[node->location];
		if (of_locations[node->location] & IN_SELECT)
			of_nodes[id] |= of_nodes[node->parent] & IN_LOOP;
	}
	return 0;
}

void activities_release(struct activities *activities)
{
	free(activities->of_nodes);
	*activities = (struct activities){0};
}

static enum activity running(unsigned int traits)
{
	if (traits & IN_GPU)
		return ACTIVITY_gpu_code;
	if (!(traits & IN_KERNEL))
		return ACTIVITY_user;
	if (traits & IN_FAULT)
		return ACTIVITY_fault;
	if (traits & IN_PIPE)
		return ACTIVITY_pipe_code;
	if (traits & IN_SOCKET)
		return ACTIVITY_network_code;
	return traits & IN_DISK ? ACTIVITY_disk_code : ACTIVITY_kernel;
}

/* A wait that no signal ends. */
static enum activity blocked(unsigned int traits)
{
	if (traits & IN_LOCK)
		return ACTIVITY_lock;
	return traits & IN_PIPE ? ACTIVITY_process : ACTIVITY_disk;
}

/* A wait in a futex call. What is no lock by the name of a function may still be one. */
static enum activity in_futex(unsigned int traits)
{
	if (traits & IN_PYTHON_WAIT)
		return ACTIVITY_work;
	if (traits & IN_LOCK)
		return ACTIVITY_lock;
	return traits & IN_CONDITION ? ACTIVITY_work : ACTIVITY_thread;
}

/* A wait that a signal may end, by the system call in which it is. */
static enum activity sleeping(unsigned int traits, const char *call)
{
	if (traits & IN_SLEEP || !strcmp(call, "nanosleep"))
		return ACTIVITY_sleep;
	if (!strcmp(call, "futex"))
		return in_futex(traits);
	if (!strcmp(call, "poll"))
		return traits & IN_CLIENT ? ACTIVITY_network : ACTIVITY_work;
	if (!strcmp(call, "io_uring") || traits & (IN_ACCEPT | IN_CONDITION | IN_PYTHON_WAIT))
		return ACTIVITY_work;
	if (traits & IN_LOCK)
		return ACTIVITY_lock;
	if (!strcmp(call, "wait4") || traits & IN_PIPE)
		return ACTIVITY_process;
	if (!strcmp(call, "socket") || traits & IN_SOCKET)
		return ACTIVITY_network;
	return !strcmp(call, "page_fault") ? ACTIVITY_disk : ACTIVITY_other;
}

enum activity activity_of(const struct activities *activities, const struct profile *profile,
                          const struct sample *sample)
{
	const struct task *task = &profile->tasks[sample->task];
	const char *state = profile_string(profile, task->state);
	unsigned int traits = activities->of_nodes[sample->node];

	if (!strcmp(state, RUNNING_STATE))
		return running(traits);
	if (!strcmp(state, "runnable"))
		return ACTIVITY_runnable;
	if (!strcmp(state, "stopped"))
		return ACTIVITY_stopped;
	if (!strcmp(state, "disk"))
		return blocked(traits);
	if (strcmp(state, "sleep") != 0)
		return ACTIVITY_unknown;
	if (!strcmp(profile_string(profile, task->gil), "waiting") || traits & IN_GIL)
		return ACTIVITY_gil;
	if (traits & IN_GPU)
		return ACTIVITY_gpu;
	return sleeping(traits, profile_string(profile, task->wait));
}

bool activities_decide(const struct selection *selection)
{
	return selection->no_work || selection->tasks || selection->view == VIEW_lock;
}

/* Whether a view has samples of this activity at all. */
static bool is_in_view(enum view view, enum activity activity, const char *call)
{
	if (view != VIEW_lock || activity == ACTIVITY_lock || activity == ACTIVITY_gil)
		return true;
	return (activity == ACTIVITY_thread || activity == ACTIVITY_work) && !strcmp(call, "futex");
}

/* Whether an event loop waits. */
static bool is_idle_loop(const struct activities *activities, const struct profile *profile,
                         const struct sample *sample)
{
	const unsigned int traits = IN_LOOP | IN_SELECT;
	const struct task *task = &profile->tasks[sample->task];

	return (activities->of_nodes[sample->node] & traits) == traits &&
	       !strcmp(profile_string(profile, task->state), "sleep") &&
	       !strcmp(profile_string(profile, task->wait), "poll");
}

static void comment(struct builder *builder, const char *what, uint64_t ns)
{
	char text[96];

	snprintf(text, sizeof(text), "%s left out: %.3f s", what, (double)ns / NSEC_PER_SEC);
	builder_comment(builder, text);
}

int activities_leave_out(struct builder *builder, const struct selection *selection)
{
	const struct profile *profile = builder_view(builder);
	_cleanup_(activities_release) struct activities activities = {0};
	_cleanup_free_ bool *drops = calloc(profile->sample_count, sizeof(*drops));
	uint64_t work_ns = 0, loop_ns = 0;

	if (!drops || activities_find(profile, &activities))
		return -ENOMEM;
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		enum activity activity = activity_of(&activities, profile, sample);
		const char *call = profile_string(profile, profile->tasks[sample->task].wait);
		uint64_t *left_out = NULL;

		drops[i] = !is_in_view(selection->view, activity, call);
		if (selection->tasks && is_idle_loop(&activities, profile, sample))
			left_out = &loop_ns;
		else if (selection->no_work && activity == ACTIVITY_work)
			left_out = &work_ns;
		if (drops[i] || !left_out)
			continue;
		drops[i] = true;
		sum_add(left_out, sample->values[profile->shown]);
	}
	builder_drop_samples(builder, drops);
	if (selection->no_work)
		comment(builder, "waiting for work", work_ns);
	if (selection->tasks)
		comment(builder, "event loops that wait for their tasks", loop_ns);
	return builder_error(builder);
}
