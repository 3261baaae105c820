/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lists that the BPF programs and the daemon expand. A list is written once: enum, names, help
 * texts, Prometheus metrics and /status are all made from these lines.
 */
#pragma once

/* Kinds of samples; each is a struct source_NAME of the daemon (daemon/ingest/source.h). The second
 * and third argument are the COUNTERS of its samples: recorded, and lost because the tally map had
 * no room. */
#define PROFILE_KINDS(KIND)                                     \
	KIND(cpu, samples, tallies_lost)                        \
	KIND(rss, rss_samples, rss_lost)                        \
	KIND(mmap, mmap_samples, mmap_lost)                     \
	KIND(fault, fault_samples, fault_samples_lost)          \
	KIND(offcpu, waits, waits_lost)                         \
	KIND(waker, wakings, wakings_lost)                      \
	KIND(block, ios, ios_lost)                              \
	KIND(gpu_memory, gpu_allocations, gpu_allocations_lost) \
	KIND(gpu_tensor, gpu_tensors, gpu_tensors_lost)         \
	KIND(gpu_launch, gpu_launches, gpu_launches_lost)       \
	KIND(gpu_copy, gpu_copies, gpu_copies_lost)             \
	KIND(gpu_wait, gpu_waits, gpu_waits_lost)               \
	KIND(gpu_kernel, gpu_kernels, gpu_kernels_lost)

/* Runtimes whose code is walked by what their processes' memory says; each is a struct
 * runtime_NAME of the daemon (daemon/runtimes/runtime.h). */
#define RUNTIMES(RUNTIME) RUNTIME(python)

/* Why a thread waits, and in which system call: enumerator, label, what it is. */
#define WAIT_STATES(WAIT)                                         \
	WAIT(RUNNABLE, "runnable", "it wants a CPU and has none") \
	WAIT(SLEEP, "sleep", "can be interrupted")                \
	WAIT(DISK, "disk", "cannot: mostly for a disk")           \
	WAIT(STOPPED, "stopped", "by a signal or a debugger")
#define WAIT_CALLS(WAIT)                                         \
	WAIT(OTHER, "other", "any other")                        \
	WAIT(FUTEX, "futex", "locks and conditions")             \
	WAIT(POLL, "poll", "poll, select, epoll")                \
	WAIT(READ, "read", "read and its kin")                   \
	WAIT(WRITE, "write", "write, fsync and their kin")       \
	WAIT(SOCKET, "socket", "accept, connect, send, receive") \
	WAIT(NANOSLEEP, "nanosleep", "sleeps")                   \
	WAIT(WAIT4, "wait4", "for a child")                      \
	WAIT(IO_URING, "io_uring", "for completions")            \
	WAIT(PAGE_FAULT, "page_fault", "no system call")

/* What block devices are asked for: enumerator, label. The first have the kernel's numbers. */
#define BLOCK_OPERATIONS(OPERATION)   \
	OPERATION(READ, "read")       \
	OPERATION(WRITE, "write")     \
	OPERATION(FLUSH, "flush")     \
	OPERATION(DISCARD, "discard") \
	OPERATION(OTHER, "other")     \
	OPERATION(WRITE_BACK, "write")

/* Reasons why a user stack is truncated. The text after CUT is the name of the frame that stands
 * where the missing frames belong: "[unknown: no unwind information]". */
#define CUT "User stacks truncated: "
#define WALK_CUTS(COUNTER)                                             \
	COUNTER(cut_no_process, CUT "process not known yet")           \
	COUNTER(cut_unmapped, CUT "address outside every mapping")     \
	COUNTER(cut_pending, CUT "unwind table not built yet")         \
	COUNTER(cut_no_room, CUT "no room for the unwind table")       \
	COUNTER(cut_no_rows, CUT "no unwind information")              \
	COUNTER(cut_unsupported, CUT "unsupported unwind rule")        \
	COUNTER(cut_register, CUT "register not known in a caller")    \
	COUNTER(cut_unreadable, CUT "stack memory not readable")       \
	COUNTER(cut_bad_frame, CUT "frame does not lead up the stack") \
	COUNTER(cut_truncated, CUT "more frames than are walked")      \
	COUNTER(cut_wait, CUT "wait not sampled when it began")        \
	COUNTER(cut_compat, CUT "32-bit process")

/* What the BPF programs count. Always ticks = samples + idle + tallies_lost. */
#define COUNTERS(COUNTER)                                                                          \
	COUNTER(ticks, "Ticks of the sampling timers")                                             \
	COUNTER(ticks_missed,                                                                      \
	        "Timer periods without a tick: idle CPU asleep, steal time, or interrupts off")    \
	COUNTER(idle, "Ticks at which the idle task ran; they are counted but not recorded")       \
	COUNTER(samples, "Samples of CPU time recorded")                                           \
	COUNTER(tallies_lost, "Samples of CPU time lost because the tally map was full")           \
	COUNTER(rss_samples, "Samples of growth of resident memory recorded")                      \
	COUNTER(rss_lost,                                                                          \
	        "Samples of growth of resident memory lost because the tally map was full")        \
	COUNTER(mmap_samples, "Samples of growth of address space recorded")                       \
	COUNTER(mmap_lost,                                                                         \
	        "Samples of growth of address space lost because the tally map was full")          \
	COUNTER(fault_samples, "Samples of page faults recorded")                                  \
	COUNTER(fault_samples_lost, "Samples of page faults lost because the tally map was full")  \
	COUNTER(waits, "Waits recorded, each as many times as it stands for")                      \
	COUNTER(waits_lost, "Waits that were to be recorded and were lost for lack of room")       \
	COUNTER(wakings, "Waits recorded with who ended them, each as many times as it stands "    \
	                 "for")                                                                    \
	COUNTER(wakings_lost, "Waits of which who ended them was lost for lack of room")           \
	COUNTER(wait_parts, "Parts of waits recorded, beside the last part of each")               \
	COUNTER(wait_parts_lost, "Parts of waits lost because the tally map was full")             \
	COUNTER(ios, "Disk requests recorded, each as many times as it stands for")                \
	COUNTER(ios_lost, "Disk requests that were to be recorded and were lost: no room, or "     \
	                  "their end was not seen")                                                \
	COUNTER(growth_put_off,                                                                    \
	        "Samples of growth of memory put off by the limit of 400 a second")                \
	COUNTER(growth_forgotten, "Processes whose growth since the last sample was dropped to "   \
	                          "make room for a process of another user")                       \
	COUNTER(growth_refused,                                                                    \
	        "Times that growth was not recorded because the pid's bucket was full")            \
	COUNTER(gpu_allocations, "Allocations of GPU memory recorded")                             \
	COUNTER(gpu_allocations_lost,                                                              \
	        "Allocations of GPU memory lost for lack of room in the ring buffer")              \
	COUNTER(gpu_tensors, "Allocations of tensors recorded")                                    \
	COUNTER(gpu_tensors_lost,                                                                  \
	        "Allocations of tensors lost for lack of room in the ring buffer")                 \
	COUNTER(gpu_launches, "Launches of GPU kernels and graphs counted")                        \
	COUNTER(gpu_launches_lost, "Launches of GPU kernels and graphs lost for lack of a row")    \
	COUNTER(gpu_copies, "Copies to, from and on GPUs counted")                                 \
	COUNTER(gpu_copies_lost, "Copies to, from and on GPUs lost for lack of a row")             \
	COUNTER(gpu_waits, "Waits for GPUs counted")                                               \
	COUNTER(gpu_waits_lost, "Waits for GPUs lost for lack of a row")                           \
	COUNTER(gpu_kernels, "Durations of GPU kernels recorded")                                  \
	COUNTER(gpu_kernels_lost,                                                                  \
	        "Durations of GPU kernels lost for lack of room in the ring buffer")               \
	COUNTER(lane_busy, "Samples of other kinds than CPU time put off or lost because the CPU " \
	                   "was taking another one")                                               \
	COUNTER(stacks_lost,                                                                       \
	        "Samples recorded without their stack because the stack map was full")             \
	COUNTER(stacks_over_share,                                                                 \
	        "Stacks lost because their user's share of the stack map was full")                \
	COUNTER(kernel_stack_failed, "Kernel stacks that could not be read")                       \
	COUNTER(frames, "User frames walked")                                                      \
	COUNTER(frames_by_pointer, "User frames whose caller was found by the frame pointer")      \
	COUNTER(python_frames, "Python frames walked")                                             \
	COUNTER(python_codes, "Python code objects reported to the daemon")                        \
	COUNTER(python_codes_lost, "Python code objects lost because the ring buffer was full or " \
	                           "memory was not readable")                                      \
	COUNTER(python_threads_told, "Reports of Python threads to the daemon")                    \
	COUNTER(python_threads_lost,                                                               \
	        "Reports of Python threads lost for lack of room in the ring buffer")              \
	COUNTER(python_codes_put_off, "Reports of Python code objects put off because their "      \
	                              "user's share of the ring buffer was full")                  \
	COUNTER(python_no_thread,                                                                  \
	        "Samples of Python processes in threads without a Python thread state")            \
	COUNTER(python_unmatched, "Python frames put at the root of a stack because no native "    \
	                          "frame was found that runs them")                                \
	COUNTER(python_natives_left_out, "Native frames between Python frames left out because "   \
	                                 "the stack had no room for them")                         \
	COUNTER(python_broken, "Python frames whose structures could not be read")                 \
	COUNTER(walk_complete, "User stacks walked to their outermost frame")                      \
	WALK_CUTS(COUNTER)
