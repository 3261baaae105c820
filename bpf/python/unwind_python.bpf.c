/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Python frames: from the thread to its state, from there along its frames, which are then put
 * among the native ones. This is done in processes whose CPython the daemon has described.
 */
#include "bpf/walk/unwind.bpf.h"

#include "bpf/python/python_thread.bpf.h"

#include "bpf/python/python_frame.bpf.h"
#include "bpf/python/python_merge.bpf.h"

/* The daemon describes a process's Python before it publishes the process's mappings. So where the
 * mappings are not known, a description may be that of an earlier program. Then the parent's is
 * used, if the process still runs the same program as its parent. */
static __always_inline const struct python_process *find_python(const struct walk *walk, u32 pid)
{
	if (walk->parent)
		pid = walk->parent;
	else if (!walk->count)
		return NULL;
	return bpf_map_lookup_elem(&python_processes, &pid);
}

static __always_inline void begin(struct python_walk *python, u32 at, u32 pid)
{
	python->pid = pid;
	python->image = task_image();
	python->at = at;
	python->interpreter = python->thread = 0;
	python->frame = python->cframe = 0;
	python->words_len = python->runs_len = python->broken = python->bare = 0;
	python->started_again = 0;
	python->truncated = 0;
	python->shift = 0;
}

__noinline u32 unwind_python(u32 at)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct python_walk *python = python_get(at);
	struct scratch *scratch = scratch_get(at);
	const struct python_process *process;

	if (!scratch)
		return 0;
	process = find_python(&scratch->walk, pid);
	if (!process || !python)
		return 0;
	python->process = *process;
	begin(python, at, pid);
	if (!find_thread(python, task_thread_pointer())) {
		count(at, COUNTER_python_no_thread, 1);
		return 0;
	}
	python_tell_thread(at, scratch->began);
	scratch->gil = gil_of(python, python->interpreter, python->thread);
	if (scratch->gil == GIL_RELEASED && waits_for_gil(python, scratch->futex))
		scratch->gil = GIL_WAITING;
	load_frames(python);
	count(at, COUNTER_python_frames, python->words_len / 2);
	count(at, COUNTER_python_broken, python->broken);
	if (python->runs_len == 0 && python->words_len == 0)
		return 0;
	return merge_frames(python, scratch);
}
