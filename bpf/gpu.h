/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF programs and the daemon know of GPUs: which functions are probed and what each does,
 * the rows in which calls are counted, and the records that describe memory, names and kernels that
 * ran.
 *
 * There are three layers, whose figures are never added up: CUDA's driver (libcuda.so.1), which
 * every framework calls in the end and which alone is counted; CUDA's runtime (libcudart), which
 * only says by which of its functions the driver was called; the allocators of frameworks, whose
 * memory came from the driver before.
 */
#pragma once

#include "bpf/abi.h"

_Static_assert(ACCOUNT_PLACES <= 1 << 8, "gpu_event.account");

enum {
	GPU_CALLS_ROWS = 16 * 1024, /* of a half: thread, function and what the call was about */
	GPU_EVENT_BYTES = 4 << 20, /* of the ring buffer; an event takes some 100, with stack 500 */
	GPU_DEVICE_UNKNOWN = 0xff,
	GPU_DEVICE_HOST = 0xfe, /* memory of the host */
	GPU_NO_ARGUMENT = 0xff,
	GPU_NAME_BYTES = 512, /* of a kernel's mangled name; longer names are truncated */
};

/*
 * What a probed function does, and what its arguments `a` and `b` of the cookie are. Arguments
 * count from 0. "R": the return of the function is wanted.
 */
#define GPU_ROLES(ROLE)                                                                            \
	/* Memory. Where the address is written to *a, it is read when the call has returned 0. */ \
	ROLE(ALLOCATES)          /* R: address to *a, b bytes */                                   \
	ROLE(ALLOCATES_PITCHED)  /* R: address to *a, *(a+1) bytes a row, written too, times (a+3) \
	                          */                                                               \
	ROLE(ALLOCATES_ARRAY)    /* R: handle to *a, CUDA_ARRAY_DESCRIPTOR at b */                 \
	ROLE(ALLOCATES_ARRAY3D)  /* R: handle to *a, CUDA_ARRAY3D_DESCRIPTOR at b */               \
	ROLE(ALLOCATES_MIPMAPS)  /* R: the same, (b+1) levels */                                   \
	ROLE(ALLOCATES_PHYSICAL) /* R: handle to *a, b bytes, CUmemAllocationProp at (b+1) */      \
	ROLE(REGISTERS)          /* R: address a, b bytes: host memory that was there before */    \
	ROLE(FREES)              /* R: address or handle a; counts when it returns 0, as of its    \
	                            beginning */                                                   \
	ROLE(MAPS)         /* R: at address a, b bytes of physical memory with handle (b+2) */     \
	ROLE(UNMAPS)       /* R: at address a, b bytes; as of its beginning, like ENDS_CONTEXT */  \
	ROLE(RETAINS)      /* R: one more reference of physical memory, by the handle to *a */     \
	ROLE(ENDS_CONTEXT) /* R: `detail` says what a is */                                        \
	/* Copies, and memory that is set. With GPU_SITE_BLOCKS the call also waits: R. */         \
	ROLE(COPIES)       /* b bytes */                                                           \
	ROLE(COPIES_2D)    /* CUDA_MEMCPY2D at a */                                                \
	ROLE(COPIES_3D)    /* CUDA_MEMCPY3D at a */                                                \
	ROLE(COPIES_BATCH) /* array of sizes at a, b of them */                                    \
	ROLE(SETS)         /* b elements of `size` bytes */                                        \
	ROLE(SETS_2D)      /* (b) wide, (b+1) high, of `size` bytes */                             \
	/* Launches. */                                                                            \
	ROLE(LAUNCHES)           /* function a, grid and block behind it */                        \
	ROLE(LAUNCHES_BY_CONFIG) /* CUlaunchConfig at a, function b */                             \
	ROLE(LAUNCHES_GRAPH)     /* CUgraphExec a */                                               \
	ROLE(WAITS)              /* R: until the device is done */                                 \
	/* Names of objects, and their contexts. */                                                \
	ROLE(NAMES)          /* R: handle to *a, name at b */                                      \
	ROLE(NAMES_AGAIN)    /* R: another handle to *a, of the object that has handle b */        \
	ROLE(MAKES_CONTEXT)  /* R: context to *a, device b */                                      \
	ROLE(SETS_CONTEXT)   /* current context of the thread: a */                                \
	ROLE(PUSHES_CONTEXT) /* the same; POPS_CONTEXT restores the one before */                  \
	ROLE(POPS_CONTEXT)   /* restores the context before the latest push */                     \
	/* The runtime: by which of its functions the driver is called. */                         \
	ROLE(TAGS) /* kind of copy a, or GPU_NO_ARGUMENT */                                        \
	/* Allocators of frameworks: c10::reportMemoryUsageToProfiler() and its kin of PyTorch,    \
	 * tsl::BFCAllocator and its kin of XLA and TensorFlow. */                                 \
	ROLE(REPORTS)          /* address 0, signed bytes 1, allocated 2, reserved 3, device 4 */  \
	ROLE(REPORTS_OOM)      /* bytes 0, allocated 1, reserved 2, device 3 */                    \
	ROLE(ALLOCATES_TENSOR) /* memory of the host: address a, b bytes */                        \
	ROLE(FREES_TENSOR)     /* address a */                                                     \
	ROLE(ALLOCATES_CHUNK) /* R: of allocator a, b bytes, with the attributes `size` if that is \
	                         not 0; gives the address */

enum gpu_role {
#define ROLE(name) GPU_##name,
	GPU_ROLES(ROLE)
#undef ROLE
		GPU_ROLE_COUNT
};

/* Kinds of memory; `detail` of functions that allocate. */
#define GPU_MEMORIES(MEMORY)             \
	MEMORY(DEVICE, "device")         \
	MEMORY(POOL, "pool")             \
	MEMORY(MANAGED, "managed")       \
	MEMORY(PINNED, "pinned")         \
	MEMORY(REGISTERED, "registered") \
	MEMORY(ARRAY, "array")           \
	MEMORY(PHYSICAL, "physical")     \
	MEMORY(TENSOR, "tensor")

enum gpu_memory {
#define MEMORY(name, text) GPU_MEMORY_##name,
	GPU_MEMORIES(MEMORY)
#undef MEMORY
		GPU_MEMORY_COUNT
};

/* Directions of copies; `detail` of functions that copy. The first five have cudaMemcpyKind's
 * numbers, the others have numbers of profd. */
#define GPU_DIRECTIONS(DIRECTION)     \
	DIRECTION(H2H, "HtoH")        \
	DIRECTION(H2D, "HtoD")        \
	DIRECTION(D2H, "DtoH")        \
	DIRECTION(D2D, "DtoD")        \
	DIRECTION(DEFAULT, "unknown") \
	DIRECTION(PEER, "peer")       \
	DIRECTION(SET, "memset")

enum gpu_direction {
#define DIRECTION(name, text) GPU_COPY_##name,
	GPU_DIRECTIONS(DIRECTION)
#undef DIRECTION
		GPU_DIRECTION_COUNT
};

/* What ends; `detail` of functions that end a context. */
enum gpu_end {
	GPU_END_CONTEXT,   /* a context */
	GPU_END_REFERENCE, /* one reference to the primary context of a device, maybe the last */
	GPU_END_PRIMARY,   /* the primary context of a device, whatever references to it exist */
};

enum gpu_site_flags {
	GPU_SITE_RETURNS = 1, /* a return probe is attached as well */
	GPU_SITE_BLOCKS = 2,  /* a copy whose call waits for it */
};

/* A probe's cookie, which says where the probe is. */
union gpu_site_cookie {
	struct {
		u8 role; /* enum gpu_role */
		u8 a, b;
		u8 detail; /* enum gpu_memory, enum gpu_direction, enum gpu_end */
		u8 size;   /* bytes of an element that is set; an argument of ALLOCATES_CHUNK */
		u8 pushed; /* bytes that the stack pointer is below its value at the first byte */
		u8 flags;  /* enum gpu_site_flags */
		u8 call;   /* index in the lists of daemon/cuda/calls.h: the function's name */
	};
	u64 cookie;
};
_Static_assert(sizeof(union gpu_site_cookie) == sizeof(u64), "a cookie is a word");

/*
 * Each call is counted, in rows of a half: kinds gpu_launch, gpu_copy, gpu_wait. A row with `stack`
 * 0 in its key is the one in which calls are being counted. Its stack, that of one of these calls,
 * is in its value, because finding a stack for each call would take longer than all the rest. When
 * another of the calls is walked, the calls counted so far move to the row of the previous stack.
 */
struct gpu_call_key {
	u64 stack;
	u32 tid;
	u32 image;  /* as of tally_key */
	u64 object; /* for a launch: the function's or graph's handle */
	/* For a launch. Where the last number of a block is no argument in a register, the BPF
	 * programs do not distinguish launches that differ only in that number, because reading it
	 * takes as long as all the rest. The drain takes it from the row's value. */
	u32 grid[3], block[3];
	u16 kind;  /* enum profile_kind */
	u8 detail; /* for a copy: enum gpu_direction */
	u8 device;
	u8 call; /* the driver's function */
	u8 via;  /* the runtime's function that called the driver, or 0 */
	u16 unused;
};
_Static_assert(sizeof(struct gpu_call_key) == 56, "shared layout");

struct gpu_call {
	u64 count;
	u64 value; /* launches: the same as count; copies: bytes; waits: nanoseconds */
	u64 last_ns;
	u64 stack; /* STACK_NONE: it could be taken at none of these calls */
	u32 pid;
	u16 due;     /* calls until the next one is walked */
	u16 block_z; /* of one of these calls */
	char thread[TASK_COMM_BYTES];
	u32 slot; /* calls counted in that struct gpu_slot belong to this row; 0: none */
	u32 user; /* as of struct tally */
};
_Static_assert(sizeof(struct gpu_call) == 64, "shared layout");

enum gpu_event_kind {
	GPU_EVENT_ALLOC = 1, /* address, size, memory, device; a stack if words */
	GPU_EVENT_FREE,      /* address; time_ns is the beginning of the call */
	GPU_EVENT_OOM,       /* size asked for; a stack if words */
	GPU_EVENT_FAILED,    /* the same for an allocation that failed otherwise; never a stack */
	GPU_EVENT_NAME,    /* address is the handle. The name follows: `words` counts its words of 8
	                      bytes, with NUL and padding. Without words, the name is at address `size`
	                      of the process, which began at `reserved` on CLOCK_BOOTTIME */
	GPU_EVENT_ALIAS,   /* address is another handle of the kernel that has handle `size` */
	GPU_EVENT_CONTEXT, /* address is a context of `device`; if `size`, it is the primary
	                      context, with one more reference to it */
	GPU_EVENT_LAUNCHED, /* from the helper: correlation number in address, a stack */
	GPU_EVENT_RAN,      /* from the helper: `reserved` kernels of the launch with correlation
	                       number address ran for `size` nanoseconds in all; each stands for
	                       `allocated` kernels. If words, a name as in GPU_EVENT_NAME */
	GPU_EVENT_ENDED,    /* `memory` is an enum gpu_end: the context is address, or `device`'s
	                       primary one; time_ns is the beginning of the call */
	GPU_EVENT_MAPPED,   /* `size` bytes of physical memory with `handle` at this address */
	GPU_EVENT_UNMAPPED, /* `size` bytes at this address; time_ns as of FREE */
	GPU_EVENT_RETAINED, /* address is a handle of physical memory, which has one more owner */
};

enum gpu_layer { GPU_LAYER_DRIVER, GPU_LAYER_TENSOR, GPU_LAYER_HELPER };

/* A record of the ring buffer gpu_events. Records about one address come in the order of the
 * events, except for those of a call that ends something: they are sent when the call returns, with
 * the time at which it began. */
struct gpu_event {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 address;
	u64 size;
	union {
		u64 allocated; /* from a framework's allocator: all of the device, after this */
		u64 context;   /* driver's ALLOC: the thread's current context; 0: not known */
		u64 handle;
	};
	u64 reserved; /* as `allocated` */
	u32 pid, tid;
	u32 image; /* as of tally_key */
	u16 kind;  /* enum gpu_event_kind */
	u16 words; /* words that follow the record */
	u8 layer;  /* enum gpu_layer */
	u8 memory; /* enum gpu_memory, enum gpu_end */
	u8 device;
	u8 call;
	u8 via;
	u8 account; /* LAUNCHED and RAN: place of the account, bpf/user.h */
	u8 unused[2];
};
_Static_assert(sizeof(struct gpu_event) == 64, "shared layout");

/* Counts of calls and of what could not be done; one for each CPU, they only grow. */
#define GPU_COUNTS(COUNT)                                                                       \
	COUNT(hits, "Calls of probed GPU functions")                                            \
	COUNT(returns, "Calls of GPU functions that were followed to their return")             \
	COUNT(walked, "Calls of GPU functions whose stack was walked")                          \
	COUNT(rows_lost, "Calls of GPU functions lost for lack of a row")                       \
	COUNT(rows_over_share, "Rows of GPU calls refused because their user's share was full") \
	COUNT(slots_full, "Rows of GPU calls without a slot, which slows their counting down")  \
	COUNT(events_lost, "GPU events lost because the ring buffer was full")                  \
	COUNT(events_over_share,                                                                \
	      "GPU events lost because their user's share of the ring buffer was full")         \
	COUNT(returns_lost, "Calls of GPU functions whose return was not seen")                 \
	COUNT(threads_lost, "Calls of GPU functions whose thread state was not available")      \
	COUNT(unreadable, "Calls of GPU functions whose arguments could not be read")           \
	COUNT(stacks_busy, "Stacks of GPU calls lost because the CPU was walking another one")  \
	COUNT(known_lost,                                                                       \
	      "GPU contexts and allocators dropped because their process has too many")         \
	COUNT(contexts_unknown, "Times that a GPU context of unknown device became current")    \
	COUNT(allocators_searched, "Searches for the name of a framework's allocator")

struct gpu_counts {
#define COUNT(name, help) u64 name;
	GPU_COUNTS(COUNT)
#undef COUNT
};
