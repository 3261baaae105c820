/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Launches kernels of known durations, as a program with CUDA does, but with a stand-in for CUPTI
 * instead of a GPU. site_six(), site_three() and site_one() launch 1, 3 and 10 kernels in a row,
 * which take 60, 30 and 10 % of the GPU's busy time. Durations vary from launch to launch by up to
 * half. There are 7000 launches a second; after a delay by the machine the program catches up. With
 * `fast` it launches as many as it can.
 *
 *     kernels CUPTI [SECONDS [fast]]
 *
 * Prints "ready" and, at the end or at the end of its input, the true figures: "SECONDS LAUNCHES
 * NANOSECONDS-OF-GPU".
 */
#include "tests/cuda_helper/fake_cupti.h"
#include "tests/workloads/work.h"

#include <dlfcn.h>
#include <poll.h>
#include <string.h>

enum { ROUND_NS = 2 * 1000 * 1000 };

static void (*launch_fake)(const struct fake_launch *);
static uint64_t launches, gpu_ns, random_state = 1;

/* Launches as CUDA's runtime does; `ns` is the mean duration. */
static __attribute__((noinline)) void cuda_launch_kernel(const char *name, uint64_t ns)
{
	struct fake_kernel kernel = {name, 0};

	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	kernel.ns = ns / 2 + (random_state >> 33) % ns;
	launches++;
	gpu_ns += kernel.ns;
	launch_fake(&(struct fake_launch){
		.runtime = 211,
		.driver = 307,
		.handle = (uint64_t)(uintptr_t)name,
		.kernels = &kernel,
		.count = 1,
	});
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static __attribute__((noinline)) void site_six(void)
{
	cuda_launch_kernel("_Z5largePfi", 60000);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void site_three(void)
{
	for (int i = 0; i < 3; i++)
		cuda_launch_kernel("_Z6mediumPfi", 10000);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void site_one(void)
{
	for (int i = 0; i < 10; i++)
		cuda_launch_kernel("_Z5smallPfi", 1000);
	__asm__ volatile("" ::: "memory");
}

/* Loads the injection library as CUDA's driver does when it starts. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (path && (!initialize || initialize() != 1))
		fprintf(stderr, "no injection: %s\n", dlerror());
}

static int is_over(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};

	return poll(&input, 1, 0) > 0;
}

/* Sleeps until one round after the time when the last one was due. */
static void sleep_until(struct timespec *next)
{
	next->tv_nsec += ROUND_NS;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

int main(int argc, char **argv)
{
	int fast = argc > 3 && strcmp(argv[3], "fast") == 0;
	double start = seconds_now(CLOCK_MONOTONIC), end = deadline(argc, argv, 2), now = start;
	struct timespec next;
	void *cupti = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (cupti)
		*(void **)&launch_fake = dlsym(cupti, "fake_launch");
	if (!launch_fake) {
		fprintf(stderr, "no stand-in for CUPTI: %s\n", dlerror());
		return 1;
	}
	inject();
	clock_gettime(CLOCK_MONOTONIC, &next);
	say_ready();
	while (now < end && (fast || !is_over())) {
		site_six();
		site_three();
		site_one();
		if (!fast)
			sleep_until(&next);
		now = seconds_now(CLOCK_MONOTONIC);
	}
	printf("%f %lu %lu\n", now - start, launches, gpu_ns);
	return 0;
}
