/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, catches, thrower(8) ... thrower(0), and from there the C++ runtime, which looks for
 * the handler. All time is spent on throwing, unwinding and destructors. Runs until killed or
 * for SECONDS.
 */
#include "stacks_work.h"

#include <stdexcept>

enum { DEPTH = 8, BATCH = 1000 };

namespace
{

struct guard {
	volatile int *count;
	~guard()
	{
		++*count;
	}
};

volatile int unwound, caught;

FRAME void thrower(int depth)
{
	guard here = {&unwound};

	if (depth == 0)
		throw std::runtime_error("thrown");
	thrower(depth - 1);
}

FRAME void catches()
{
	try {
		thrower(DEPTH);
	} catch (const std::exception &) {
		caught = caught + 1;
	}
}

} // namespace

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int i = 0; i < BATCH; i++)
			catches();
	}
	return caught == unwound;
}
