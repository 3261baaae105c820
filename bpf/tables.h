/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lists that the BPF programs and the daemon expand. A list is written once: enum, names, help
 * texts, Prometheus metrics and /status are all made from these lines.
 */
#pragma once

/* Kinds of samples; each has bpf/NAME.bpf.c and daemon/collect/NAME.c. The second and third
 * argument are the COUNTERS of its samples: recorded, and lost because the tally map had no
 * room. */
#define PROFILE_KINDS(KIND)                                     \
	KIND(cpu, samples, tallies_lost)                        \
	KIND(rss, rss_samples, rss_lost)                        \
	KIND(mmap, mmap_samples, mmap_lost)                     \
	KIND(gpu_memory, gpu_allocations, gpu_allocations_lost) \
	KIND(gpu_tensor, gpu_tensors, gpu_tensors_lost)         \
	KIND(gpu_launch, gpu_launches, gpu_launches_lost)       \
	KIND(gpu_copy, gpu_copies, gpu_copies_lost)             \
	KIND(gpu_wait, gpu_waits, gpu_waits_lost)               \
	KIND(gpu_kernel, gpu_kernels, gpu_kernels_lost)

/* Reasons why a user stack is truncated. The text after CUT is the name of the frame that stands
 * where the missing frames belong: "[unknown: no unwind information]". */
#define CUT "User stacks cut short: "
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
	COUNTER(cut_compat, CUT "32-bit process")

/* What the BPF programs count. Always ticks = samples + idle + tallies_lost. */
#define COUNTERS(COUNTER)                                                                          \
	COUNTER(ticks, "Sampling timer ticks seen")                                                \
	COUNTER(ticks_missed,                                                                      \
	        "Timer periods without a tick: an idle CPU asleep, stolen time, interrupts off")   \
	COUNTER(idle, "Ticks that found the idle task; counted, not recorded")                     \
	COUNTER(samples, "Samples of CPU time recorded")                                           \
	COUNTER(tallies_lost, "Samples of CPU time lost because the tally map was full")           \
	COUNTER(rss_samples, "Samples of growing resident memory recorded")                        \
	COUNTER(rss_lost,                                                                          \
	        "Samples of growing resident memory lost because the tally map was full")          \
	COUNTER(mmap_samples, "Samples of growing address space recorded")                         \
	COUNTER(mmap_lost, "Samples of growing address space lost because the tally map was full") \
	COUNTER(growth_put_off, "Samples of growing memory put off: the host takes 400 a second")  \
	COUNTER(growth_forgotten, "Processes whose growth since the last sample was forgotten: "   \
	                          "their user had most of those with pids alike")                  \
	COUNTER(growth_refused, "Times that growth was not looked at: too many with pids alike")   \
	COUNTER(gpu_allocations, "Allocations of GPU memory seen")                                 \
	COUNTER(gpu_allocations_lost,                                                              \
	        "Allocations of GPU memory lost: no room in the ring buffer")                      \
	COUNTER(gpu_tensors, "Allocations of tensors seen")                                        \
	COUNTER(gpu_tensors_lost, "Allocations of tensors lost: no room in the ring buffer")       \
	COUNTER(gpu_launches, "Launches of GPU kernels and graphs counted")                        \
	COUNTER(gpu_launches_lost, "Launches not counted: no room for a row")                      \
	COUNTER(gpu_copies, "Copies to, from and on GPUs counted")                                 \
	COUNTER(gpu_copies_lost, "Copies to, from and on GPUs not counted: no room for a row")     \
	COUNTER(gpu_waits, "Waits for GPUs counted")                                               \
	COUNTER(gpu_waits_lost, "Waits for GPUs not counted: no room for a row")                   \
	COUNTER(gpu_kernels, "GPU kernels whose duration was told")                                \
	COUNTER(gpu_kernels_lost,                                                                  \
	        "GPU kernels whose duration was told and lost: no room in the ring buffer")        \
	COUNTER(lane_busy, "Samples of other kinds than CPU time put off or lost because "         \
	                   "another was being taken on the same CPU")                              \
	COUNTER(stacks_lost,                                                                       \
	        "Samples recorded without their stack because the stack map was full")             \
	COUNTER(stacks_over_share,                                                                 \
	        "Stacks lost because those of the same user had taken his share of the stack map") \
	COUNTER(kernel_stack_failed, "Kernel stacks that could not be taken")                      \
	COUNTER(frames, "User frames walked")                                                      \
	COUNTER(frames_by_pointer, "User frames whose caller was found by frame pointer")          \
	COUNTER(python_frames, "Python frames walked")                                             \
	COUNTER(python_codes, "Code objects told to the daemon")                                   \
	COUNTER(python_codes_lost, "Code objects not told: the ring buffer was full, or memory "   \
	                           "not readable")                                                 \
	COUNTER(python_threads_told, "Times that threads of Python were told to the daemon")       \
	COUNTER(python_threads_lost, "Threads not told: the ring buffer was full, or programs "    \
	                             "of the same user had told too much")                         \
	COUNTER(python_codes_put_off, "Code objects not told yet: programs of the same user told " \
	                              "of too many at once")                                       \
	COUNTER(python_no_thread, "Samples of Python processes without a Python thread state")     \
	COUNTER(python_unmatched, "Python frames put at the root of a stack: no native frame "     \
	                          "was found to run them")                                         \
	COUNTER(python_natives_left_out, "Native frames between Python ones for which a stack "    \
	                                 "had no room")                                            \
	COUNTER(python_broken, "Python frames whose structures could not be read")                 \
	COUNTER(walk_complete, "User stacks walked to their outermost frame")                      \
	WALK_CUTS(COUNTER)
