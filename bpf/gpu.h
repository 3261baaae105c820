/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What both halves know of GPUs: which functions are probed and what each does, the rows in which
 * calls are counted, and the records that tell of memory, of names and of kernels that ran.
 *
 * Three layers, never added up: CUDA's driver (libcuda.so.1), which every framework ends in and
 * which alone is counted; CUDA's runtime (libcudart), which only says by which of its functions the
 * driver was called; the allocators of frameworks, whose memory was the driver's before.
 */
#pragma once

#include "bpf/abi.h"

_Static_assert(ACCOUNT_PLACES <= 1 << 8, "gpu_event.account");

enum {
	GPU_CALLS_ROWS = 16 * 1024, /* of a half: thread, function and what it was about */
	GPU_EVENT_BYTES = 4 << 20, /* of the ring buffer; an event has some 100, with a stack 500 */
	GPU_DEVICE_UNKNOWN = 0xff,
	GPU_DEVICE_HOST = 0xfe, /* memory of the host */
	GPU_NO_ARGUMENT = 0xff,
	GPU_NAME_BYTES = 512, /* of a kernel's mangled name; what is longer is cut */
};

/*
 * What a probed function does, and what its arguments `a` and `b` of the cookie are. Arguments
 * count from 0. "R": its return is wanted.
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
	ROLE(MAPS)    /* R: at address a, b bytes of physical memory with handle (b+2) */          \
	ROLE(UNMAPS)  /* R: at address a, b bytes; as of its beginning, as is the next but one */  \
	ROLE(RETAINS) /* R: one more reference of physical memory, by the handle to *a */          \
	ROLE(ENDS_CONTEXT) /* R: `detail` says what a is */                                        \
	/* Copies, and memory that is set. With GPU_SITE_BLOCKS the call is waited in, too: R. */  \
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
	/* What things are called, and where they are. */                                          \
	ROLE(NAMES)          /* R: handle to *a, name at b */                                      \
	ROLE(NAMES_AGAIN)    /* R: handle to *a, of what has handle b */                           \
	ROLE(MAKES_CONTEXT)  /* R: context to *a, device b */                                      \
	ROLE(SETS_CONTEXT)   /* current context of the thread: a */                                \
	ROLE(PUSHES_CONTEXT) /* the same, the one before comes back */                             \
	ROLE(POPS_CONTEXT)   /* by this */                                                         \
	/* Of the runtime: by which of its functions the driver is called. */                      \
	ROLE(TAGS) /* kind of copy a, or GPU_NO_ARGUMENT */                                        \
	/* Of allocators of frameworks: c10::reportMemoryUsageToProfiler() and its kin of PyTorch, \
	 * tsl::BFCAllocator and its kin of XLA and TensorFlow. */                                 \
	ROLE(REPORTS)          /* address 0, signed bytes 1, allocated 2, reserved 3, device 4 */  \
	ROLE(REPORTS_OOM)      /* bytes 0, allocated 1, reserved 2, device 3 */                    \
	ROLE(ALLOCATES_TENSOR) /* of the host: address a, b bytes */                               \
	ROLE(FREES_TENSOR)     /* address a */                                                     \
	ROLE(ALLOCATES_CHUNK) /* R: of allocator a, b bytes, with the attributes `size` if that is \
	                         not 0; gives the address */

enum gpu_role {
#define ROLE(name) GPU_##name,
	GPU_ROLES(ROLE)
#undef ROLE
		GPU_ROLE_COUNT
};

/* Which memory; `detail` of what allocates. */
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

/* From where to where; `detail` of what copies. The first five are cudaMemcpyKind's numbers, the
 * next ones are ours. */
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

/* What ends; `detail` of what ends a context. */
enum gpu_end {
	GPU_END_CONTEXT,   /* a context */
	GPU_END_REFERENCE, /* one reference to the primary context of a device, maybe the last */
	GPU_END_PRIMARY,   /* the primary context of a device, whoever has references to it */
};

enum gpu_site_flags {
	GPU_SITE_RETURNS = 1, /* a return probe is attached, too */
	GPU_SITE_BLOCKS = 2,  /* a copy that is waited for */
};

/* What a probe knows of where it is: the cookie. */
union gpu_site_cookie {
	struct {
		u8 role; /* enum gpu_role */
		u8 a, b;
		u8 detail; /* enum gpu_memory, enum gpu_direction, enum gpu_end */
		u8 size;   /* bytes of an element that is set; the argument of ALLOCATES_CHUNK */
		u8 pushed; /* bytes that the stack pointer is below its place at the first byte */
		u8 flags;  /* enum gpu_site_flags */
		u8 call;   /* place in GPU_CALLS of daemon/gpu/calls.h: what it is called */
	};
	u64 cookie;
};
_Static_assert(sizeof(union gpu_site_cookie) == sizeof(u64), "a cookie is a word");

/*
 * Calls are counted each, in rows of a half: kinds gpu_launch, gpu_copy, gpu_wait. A row with
 * `stack` 0 is the one being counted now: its stack, that of one of these calls, is in its value,
 * because looking for it would take longer than all the rest. When another of the calls is walked,
 * what was counted moves to the row of the stack before.
 */
struct gpu_call_key {
	u64 stack;
	u32 tid;
	u32 image;  /* as of tally_key */
	u64 object; /* of a launch: the function's or graph's handle */
	/* Of a launch. Where the last number of a block is no argument in a register, launches that
	 * differ in it alone are not told apart in the kernel half, because to read it takes as
	 * long as all the rest; the drain takes it from the row's value. */
	u32 grid[3], block[3];
	u16 kind;  /* enum profile_kind */
	u8 detail; /* of a copy: enum gpu_direction */
	u8 device;
	u8 call; /* the driver's function */
	u8 via;  /* the runtime's function that called it, or 0 */
	u16 unused;
};
_Static_assert(sizeof(struct gpu_call_key) == 56, "shared layout");

struct gpu_call {
	u64 count;
	u64 value; /* launches: the same; copies: bytes; waits: nanoseconds */
	u64 last_ns;
	u64 stack; /* STACK_NONE: of none of these calls it could be taken */
	u32 pid;
	u16 due;     /* calls until the next one is walked */
	u16 block_z; /* of one of these calls */
	char thread[TASK_COMM_BYTES];
	u32 slot; /* what is counted in that struct gpu_slot belongs to this row; 0: it has none */
	u32 user; /* as of struct tally */
};
_Static_assert(sizeof(struct gpu_call) == 64, "shared layout");

enum gpu_event_kind {
	GPU_EVENT_ALLOC = 1, /* address, size, memory, device; a stack if words */
	GPU_EVENT_FREE,      /* address; time_ns is the beginning of the call */
	GPU_EVENT_OOM,       /* size asked for; a stack if words */
	GPU_EVENT_FAILED,    /* the same of an allocation that failed otherwise; never a stack */
	GPU_EVENT_NAME,  /* address is the handle; `words` bytes of a name, NUL and padding to words
	                    of 8: `words` counts those; without words the name is at address `size`
	                    of the process, which began at `reserved` on CLOCK_BOOTTIME */
	GPU_EVENT_ALIAS, /* address is another handle of the kernel that has handle `size` */
	GPU_EVENT_CONTEXT,  /* address is a context of `device`; its primary one, and one more
	                       reference to it, if `size` */
	GPU_EVENT_LAUNCHED, /* of the helper: correlation number in address, a stack */
	GPU_EVENT_RAN,      /* of the helper: correlation number in address, nanoseconds in size, of
	                       `reserved` kernels; for each `allocated` of them ran; a name as
	                       GPU_EVENT_NAME has it, if words */
	GPU_EVENT_ENDED,    /* of `memory`, an enum gpu_end: the context is address, or `device`'s
	                       primary one; time_ns is the beginning of the call */
	GPU_EVENT_MAPPED,   /* `size` bytes of physical memory with `handle` at this address */
	GPU_EVENT_UNMAPPED, /* `size` bytes at this address; time_ns as of FREE */
	GPU_EVENT_RETAINED, /* address is a handle of physical memory, which has one more owner */
};

enum gpu_layer { GPU_LAYER_DRIVER, GPU_LAYER_TENSOR, GPU_LAYER_HELPER };

/* A record of the ring buffer gpu_events. Records of one address come in the order in which things
 * happened to it, but for what ends something, which is told at the end of the call with the time
 * of its beginning. */
struct gpu_event {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 address;
	u64 size;
	union {
		u64 allocated; /* of a framework's allocator: all of the device, after this */
		u64 context;   /* of the driver's ALLOC: the thread's current one; 0: not known */
		u64 handle;
	};
	u64 reserved; /* as `allocated` */
	u32 pid, tid;
	u32 image; /* as of tally_key */
	u16 kind;  /* enum gpu_event_kind */
	u16 words; /* behind this */
	u8 layer;  /* enum gpu_layer */
	u8 memory; /* enum gpu_memory, enum gpu_end */
	u8 device;
	u8 call;
	u8 via;
	u8 account; /* of LAUNCHED and RAN: its place, bpf/user.h */
	u8 unused[2];
};
_Static_assert(sizeof(struct gpu_event) == 64, "shared layout");

/* What the kernel half could not do, one a CPU, only ever growing. */
#define GPU_COUNTS(COUNT)                                                                     \
	COUNT(hits, "Calls of GPU functions seen")                                            \
	COUNT(returns, "Of those, calls whose return was wanted")                             \
	COUNT(walked, "Of those, calls whose stack was taken")                                \
	COUNT(rows_lost, "Calls of GPU functions not counted: no room for a row")             \
	COUNT(rows_over_share, "Rows of GPU calls not made: their user had his share")        \
	COUNT(slots_full, "Rows of GPU calls that had no slot: counting takes longer")        \
	COUNT(events_lost, "GPU memory events lost: the ring buffer was full")                \
	COUNT(events_over_share, "GPU memory events of users who had told too many already")  \
	COUNT(returns_lost, "Calls of GPU functions whose return was not seen")               \
	COUNT(threads_lost, "Calls of GPU functions that nothing was known of the thread of") \
	COUNT(unreadable, "Calls of GPU functions whose arguments could not be read")         \
	COUNT(stacks_busy, "Stacks of GPU calls not taken: another walked on the same CPU")   \
	COUNT(known_lost, "Contexts and allocators not remembered: the process has many")     \
	COUNT(contexts_unknown, "Contexts made current whose device is not known")            \
	COUNT(allocators_searched, "Allocators of frameworks whose name was looked for")

struct gpu_counts {
#define COUNT(name, help) u64 name;
	GPU_COUNTS(COUNT)
#undef COUNT
};
