/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: all CPU time is in the C++ function
 * outer::inner::Engine<int>::spin_template<long>(long), whose symbol is mangled. Runs until killed
 * or for SECONDS.
 */
#include "work.h"

namespace outer
{
namespace inner
{

template <typename T> struct Engine {
	T unused;

	template <typename N> __attribute__((noinline)) void spin_template(N count)
	{
		WORK((uint64_t)count);
	}
};

} /* namespace inner */
} /* namespace outer */

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	outer::inner::Engine<int> engine = {0};

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		engine.spin_template<long>(1000 * 1000);
	return 0;
}
