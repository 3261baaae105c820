/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shared object with functions that take the arguments of CUDA's and do almost nothing. The first
 * instructions are those of a real libcuda.so: a comparison, a jump that is not taken or leads to
 * the next instruction, and a jump through a table.
 */
#include "tests/gpu/driver.h"

#include <time.h>

/* A probe of the kernel half is cheap at the je, 10 bytes in. */
#if defined(__x86_64__)
#define ENTERED(name)                                                               \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	        "\tcmpl $0x321654, driver_switch(%rip)\n"                           \
	        "\tje 1f\n"                                                         \
	        "1:\tjmp *" #name "_to(%rip)\n"                                     \
	        ".size " #name ", .-" #name "\n")
#else
#define ENTERED(name)                                                                         \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tb " #name \
	        "_does\n"                                                                     \
	        ".size " #name ", .-" #name "\n")
#endif

/* A function that is reached through its thunk. */
#define DRIVER(name, ...)                                                                     \
	static __attribute__((used, noinline)) int name##_does(__VA_ARGS__) __asm__(#name     \
	                                                                            "_does"); \
	static __attribute__((used)) int (*name##_to)(__VA_ARGS__) __asm__(#name "_to") =     \
		name##_does;                                                                  \
	ENTERED(name);                                                                        \
	static int name##_does(__VA_ARGS__)

static __attribute__((used)) int driver_switch __asm__("driver_switch") = 1;

/* The next handle or address; each is used once. */
static uint64_t next = 0x7f0000000000;

static uint64_t sleep_ns(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	nanosleep(&time, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000 + (uint64_t)end.tv_nsec -
	       (uint64_t)begin.tv_nsec;
}

static int give(uint64_t *to, uint64_t bytes)
{
	if (bytes > DRIVER_MEMORY)
		return DRIVER_NO_MEMORY;
	*to = __atomic_fetch_add(&next, (bytes + 511) & ~511ULL, __ATOMIC_RELAXED);
	return 0;
}

DRIVER(drv_alloc, uint64_t *to, uint64_t bytes)
{
	return give(to, bytes);
}

DRIVER(drv_alloc_pitched, uint64_t *to, uint64_t *pitch, uint64_t width, uint64_t height)
{
	*pitch = (width + 511) & ~511ULL;
	return give(to, *pitch * height);
}

DRIVER(drv_alloc_array, uint64_t *to, const void *descriptor)
{
	(void)descriptor;
	return give(to, 512);
}

DRIVER(drv_alloc_array3d, uint64_t *to, const void *descriptor)
{
	(void)descriptor;
	return give(to, 512);
}

DRIVER(drv_alloc_mipmaps, uint64_t *to, const void *descriptor, unsigned levels)
{
	(void)descriptor;
	(void)levels;
	return give(to, 512);
}

DRIVER(drv_alloc_physical, uint64_t *to, uint64_t bytes, const void *prop, uint64_t flags)
{
	(void)prop;
	(void)flags;
	return give(to, bytes);
}

DRIVER(drv_register, void *address, uint64_t bytes, unsigned flags)
{
	(void)address;
	(void)bytes;
	return flags ? DRIVER_INVALID : 0;
}

DRIVER(drv_free, uint64_t address)
{
	return address & 1 ? DRIVER_INVALID : 0;
}

DRIVER(drv_copy, uint64_t to, uint64_t from, uint64_t bytes)
{
	(void)to;
	(void)from;
	return bytes ? 0 : DRIVER_INVALID;
}

DRIVER(drv_copy_waits, uint64_t to, uint64_t from, uint64_t bytes)
{
	(void)to;
	(void)from;
	driver_waited_ns += sleep_ns(3000000);
	return bytes ? 0 : DRIVER_INVALID;
}

DRIVER(drv_copy_2d, const void *what)
{
	return what ? 0 : DRIVER_INVALID;
}

DRIVER(drv_copy_3d, const void *what)
{
	return what ? 0 : DRIVER_INVALID;
}

DRIVER(drv_copy_batch, uint64_t *to, uint64_t *from, const uint64_t *sizes, uint64_t count)
{
	(void)to;
	(void)from;
	(void)sizes;
	return count ? 0 : DRIVER_INVALID;
}

DRIVER(drv_set, uint64_t to, unsigned value, uint64_t count)
{
	(void)to;
	(void)value;
	return count ? 0 : DRIVER_INVALID;
}

DRIVER(drv_set_2d, uint64_t to, uint64_t pitch, unsigned value, uint64_t width, uint64_t height)
{
	(void)to;
	(void)pitch;
	(void)value;
	return width && height ? 0 : DRIVER_INVALID;
}

DRIVER(drv_launch, uint64_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, uint64_t stream)
{
	(void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
	(void)shared;
	(void)stream;
	return function ? 0 : DRIVER_INVALID;
}

DRIVER(drv_launch_config, const void *config, uint64_t function)
{
	return config && function ? 0 : DRIVER_INVALID;
}

DRIVER(drv_launch_graph, uint64_t graph, uint64_t stream)
{
	(void)stream;
	return graph ? 0 : DRIVER_INVALID;
}

DRIVER(drv_wait, uint64_t stream)
{
	driver_waited_ns += sleep_ns(3000000);
	return stream ? DRIVER_INVALID : 0;
}

DRIVER(drv_wait_nests, uint64_t stream)
{
	uint64_t address;

	(void)stream;
	drv_copy(1, 2, 3);
	drv_launch(1, 1, 1, 1, 1, 1, 1, 0, 0);
	drv_wait(0);
	return drv_alloc(&address, 100);
}

DRIVER(drv_wait_calls, void (*callback)(void *ctx), void *ctx)
{
	callback(ctx);
	return 0;
}

DRIVER(drv_get_function, uint64_t *to, uint64_t module, const char *name)
{
	(void)module;
	return name[0] == '?' ? DRIVER_INVALID : give(to, 512);
}

DRIVER(drv_get_again, uint64_t *to, uint64_t function)
{
	(void)function;
	return give(to, 512);
}

DRIVER(drv_make_context, uint64_t *to, unsigned flags, int device)
{
	(void)flags;
	(void)device;
	return give(to, 512);
}

DRIVER(drv_retain_context, uint64_t *to, int device)
{
	(void)device;
	return give(to, 512);
}

DRIVER(drv_set_context, uint64_t context)
{
	(void)context;
	return 0;
}

DRIVER(drv_push_context, uint64_t context)
{
	(void)context;
	return 0;
}

DRIVER(drv_pop_context, uint64_t *to)
{
	*to = 0;
	return 0;
}

DRIVER(drv_end_context, uint64_t context)
{
	/* Long enough to distinguish the start of the call from its end. */
	sleep_ns(1000000);
	return context ? 0 : DRIVER_INVALID;
}

DRIVER(drv_release_primary, int device)
{
	return device < 0 ? DRIVER_INVALID : 0;
}

DRIVER(drv_reset_primary, int device)
{
	return device < 0 ? DRIVER_INVALID : 0;
}

DRIVER(drv_map, uint64_t address, uint64_t bytes, uint64_t offset, uint64_t handle, uint64_t flags)
{
	(void)address;
	(void)offset;
	(void)handle;
	(void)flags;
	return bytes ? 0 : DRIVER_INVALID;
}

DRIVER(drv_unmap, uint64_t address, uint64_t bytes)
{
	(void)address;
	sleep_ns(1000000);
	return bytes ? 0 : DRIVER_INVALID;
}

DRIVER(drv_retain_handle, uint64_t *to, uint64_t address)
{
	*to = address;
	return address ? 0 : DRIVER_INVALID;
}

uint64_t driver_waited_ns;
