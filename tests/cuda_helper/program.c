/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/cuda_helper/program.h"

#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

const char *cupti_path, *driver_path;
void (*launch_fake)(const struct fake_launch *);
void (*hold)(int), (*keep_buffers)(int);
static void (*get_counts)(struct fake_counts *);

void program_begin(void)
{
	void *library = dlopen(cupti_path, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(library, "%s", dlerror());
	*(void **)&launch_fake = dlsym(library, "fake_launch");
	*(void **)&get_counts = dlsym(library, "fake_get_counts");
	*(void **)&hold = dlsym(library, "fake_hold");
	*(void **)&keep_buffers = dlsym(library, "fake_keep_buffers");
	ck_assert(launch_fake && get_counts && hold && keep_buffers);
}

void pause_ms(long ms)
{
	const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

struct fake_counts counts_now(void)
{
	struct fake_counts counts;

	get_counts(&counts);
	return counts;
}

/* Launches by cudaLaunchKernel(), which calls cuLaunchKernel(). */
static void launch_one(const char *name, uint64_t ns)
{
	const struct fake_kernel kernel = {name, ns};

	launch_fake(&(struct fake_launch){
		.runtime = 211,
		.driver = 307,
		.handle = (uint64_t)(uintptr_t)name,
		.kernels = &kernel,
		.count = 1,
	});
}

const char long_one[] = "long one", middle[] = "middle", small_one[] = "small one";

void launch_cycles(int cycles)
{
	for (int cycle = 0; cycle < cycles; cycle++) {
		launch_one(long_one, 60000);
		for (int i = 0; i < 13; i++)
			launch_one(i % 4 == 1 ? middle : small_one, i % 4 == 1 ? 10000 : 1000);
	}
}

void settle(void)
{
	pause_ms(1300);
}

int catch_lines(void)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
	ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
	return ends[0];
}

const char *lines_said(int from)
{
	static char said[1024];
	ssize_t len = read(from, said, sizeof(said) - 1);

	said[len > 0 ? len : 0] = '\0';
	return said;
}
