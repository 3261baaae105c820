/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the current thread to its thread state. Interpreters and their threads are lists, and each
 * thread state holds the pthread_self() of its thread. The state that was found is remembered, and
 * believed while both lists begin as they did and the thread state still holds the same value.
 */
#pragma once

#include "bpf/hash.bpf.h"
#include "bpf/python/python_read.bpf.h"
#include "bpf/task.bpf.h"

/* x86-64: pthread_self() is the thread pointer. arm64: pthread_self() is a structure of less than a
 * page that ends at the thread pointer; no other value of thread_id is that near. */
#if defined(__TARGET_ARCH_x86)
enum { THREAD_BYTES = 0 };
#else
enum { THREAD_BYTES = PAGE_BYTES };
#endif

static __always_inline int is_current(const struct python_walk *python, u64 thread, u64 pointer)
{
	u64 id = python_pointer(thread + python->process.thread_id);

	return id && id <= pointer && pointer - id <= THREAD_BYTES;
}

/* The address of the GIL's state, which may be none. */
static __always_inline u64 gil_at(const struct python_walk *python, u64 interpreter)
{
	const struct python_process *process = &python->process;

	return !process->gil && process->interpreter_gil
	               ? python_pointer(interpreter + process->interpreter_gil)
	               : process->gil;
}

/* struct _gil_runtime_state in Include/internal/pycore_gil.h: after what gil_of() reads it has a
 * condition and a mutex of glibc, two of each, 208 bytes in all. Threads that want the GIL wait for
 * one of these. */
enum { GIL_BYTES = 208 };

static __always_inline int waits_for_gil(const struct python_walk *python, u64 futex)
{
	u64 gil = futex ? gil_at(python, python->interpreter) : 0;

	return gil && futex - gil < GIL_BYTES;
}

static __always_inline enum python_gil gil_of(const struct python_walk *python, u64 interpreter,
                                              u64 thread)
{
	const struct python_process *process = &python->process;
	u64 gil = gil_at(python, interpreter);
	u32 locked = 0;

	if (process->free_threaded)
		return GIL_NONE;
	if (!is_user_address(gil) ||
	    bpf_probe_read_user(&locked, sizeof(locked), (void *)(gil + process->gil_locked)))
		return GIL_UNKNOWN;
	return locked && python_pointer(gil + process->gil_holder) == thread ? GIL_HELD
	                                                                     : GIL_RELEASED;
}

/* One thread may have a state in each of several interpreters. The one that runs is innermost on
 * the stack, or has the GIL (from 3.13 on; before, the GIL changes its holder without notice). Else
 * it is the newest one with a frame, which comes first in the list. The smallest distance wins. */
static __always_inline u64 distance_of(const struct python_walk *python, u64 interpreter,
                                       u64 thread, u64 sp)
{
	const struct python_process *process = &python->process;
	u64 frame = python_pointer(thread + process->thread_frame);

	/* A frame inside the thread state itself means that there is none. */
	if (!frame || frame - thread < PAGE_BYTES)
		return ~0ULL;
	if (process->cframe_previous)
		return frame >= sp ? frame - sp : user_end;
	if (process->entry == PYTHON_ENTRY_SHIM && gil_of(python, interpreter, thread) == GIL_HELD)
		return 0;
	return user_end;
}

struct thread_wanted {
	u64 pointer;
	u32 at;
};

static long search_thread(u32 index, void *context)
{
	const struct thread_wanted *wanted = context;
	struct python_walk *python = python_get(wanted->at);
	struct scratch *scratch = scratch_get(wanted->at);
	struct python_search *search;
	u64 thread, distance;

	if (!python || !scratch)
		return 1;
	search = &python->search;
	thread = search->thread;
	if (!thread) {
		u64 interpreter = search->next_interpreter;

		if (!interpreter)
			return 1;
		search->interpreters++;
		search->interpreter = interpreter;
		search->threads = 0;
		search->thread = python_pointer(interpreter + python->process.interpreter_threads);
		search->next_interpreter =
			python_pointer(interpreter + python->process.interpreter_next);
		return 0;
	}
	search->thread = ++search->threads == MAX_PYTHON_THREADS
	                         ? 0
	                         : python_pointer(thread + python->process.thread_next);
	if (!is_current(python, thread, wanted->pointer))
		return 0;
	distance = distance_of(python, search->interpreter, thread, scratch->native[0].sp);
	if (!search->found++ || distance < search->found_distance) {
		search->found_interpreter = search->interpreter;
		search->found_thread = thread;
		search->found_distance = distance;
	}
	return 0;
}

static __always_inline u32 thread_slot(const struct python_walk *python, u64 pointer)
{
	return mix_first(pointer, python->pid) >> 32 & (PYTHON_THREADS - 1);
}

/* Sets python->thread and python->interpreter; false where the thread has no state. */
static __always_inline int find_thread(struct python_walk *python, u64 pointer)
{
	struct thread_wanted wanted = {.pointer = pointer, .at = python->at};
	u64 interpreter = python_pointer(python->process.interpreters);
	u64 first = python_pointer(interpreter + python->process.interpreter_threads);
	u32 at = thread_slot(python, pointer);
	struct python_thread *known = bpf_map_lookup_elem(&python_threads, &at);

	if (!known || !interpreter)
		return 0;
	if (known->pointer == pointer && known->pid == python->pid &&
	    known->first_interpreter == interpreter && known->first_thread == first &&
	    is_current(python, known->thread, pointer)) {
		python->interpreter = known->interpreter;
		python->thread = known->thread;
		return 1;
	}
	__builtin_memset(&python->search, 0, sizeof(python->search));
	python->search.next_interpreter = interpreter;
	bpf_loop(MAX_PYTHON_SEARCHES, search_thread, &wanted, 0);
	python->interpreter = python->search.found_interpreter;
	python->thread = python->search.found_thread;
	/* With several states, the one that runs changes without a change in the lists. With
	 * several interpreters, a new state in an interpreter other than the first would not be
	 * noticed. */
	if (python->search.found == 1 && python->search.interpreters == 1)
		*known = (struct python_thread){
			.pointer = pointer,
			.pid = python->pid,
			.first_interpreter = interpreter,
			.first_thread = first,
			.interpreter = python->interpreter,
			.thread = python->thread,
			.told = known->told,
		};
	return python->thread != 0;
}

/* Sends the thread that was found, so that the daemon reads what the program calls it. It is sent
 * now, because the thread may end before the next drain, and again a minute later, in case the
 * daemon could not keep the name. 1 when it was sent now. */
u32 python_tell_thread(u32 at, u64 now);
__noinline u32 python_tell_thread(u32 at, u64 now)
{
	struct python_walk *python = python_get(at);
	u64 pointer = task_thread_pointer(), id = bpf_get_current_pid_tgid(), told;
	struct python_thread_told thread;
	struct python_thread *known;
	struct ring_user *user;
	u32 slot;

	if (!python || !python->process.interpreter_modules)
		return 0;
	slot = thread_slot(python, pointer);
	known = bpf_map_lookup_elem(&python_threads, &slot);
	told = mix(mix_first(pointer, id), (u64)python->image << 32 | (u32)(now >> 36));
	if (!known || known->told == told)
		return 0;
	thread = (struct python_thread_told){
		.word = WORD_THREAD |
	                (python_pointer(python->thread + python->process.thread_id) & WORD_VALUE),
		.pid = python->pid,
		.tid = (u32)id,
		.image = python->image,
		.time_ns = now,
		.began_ns = task_began(),
	};
	python->place = user_place();
	user = python_user_with_room(python);
	if (!user || bpf_ringbuf_output(&python_codes, &thread, sizeof(thread), 0)) {
		count(at, COUNTER_python_threads_lost, 1);
		return 0;
	}
	ring_user_charge(&python_codes, user, sizeof(thread));
	known->told = told;
	count(at, COUNTER_python_threads_told, 1);
	return 1;
}
