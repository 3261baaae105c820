/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, repeats, computes, with first_level, shapes::second_level<long> and
 * shapes::third<long>::level inlined into it; each line marked with a share takes that share of the
 * time outside sorts(), which calls the standard library's sort with everything inlined into it.
 * Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <algorithm>
#include <vector>

/* Not static: for inlined functions without a linkage name, addr2line prints their caller's. */
#define INLINED inline __attribute__((always_inline))

/* A function that is neither inlined nor cloned under another name. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART FRAME
#endif

enum { UNIT = 1000 * 1000, NUMBERS = 20000 };

namespace shapes
{

template <typename T> struct third {
	INLINED static T level(T count)
	{
		SPIN(6 * count); /* share 60 */
		return count;
	}
};

template <typename T> INLINED T second_level(T count)
{
	SPIN(3 * count); /* share 30 */
	return third<T>::level(count);
}

} // namespace shapes

INLINED long first_level(long count)
{
	SPIN(1 * count); /* share 10 */
	return shapes::second_level<long>(count);
}

APART long computes(long count)
{
	return first_level(count) + 1;
}

APART int sorts(unsigned seed)
{
	std::vector<unsigned> numbers(NUMBERS);

	for (unsigned &number : numbers)
		number = seed = seed * 1664525 + 1013904223;
	std::sort(numbers.begin(), numbers.end(),
	          [](unsigned a, unsigned b) { return a % 1021 < b % 1021; });
	return (int)numbers[0];
}

/* Calls from inlined code, so the call sites are inlined lines as well. */
INLINED long one_round(unsigned seed)
{
	long sum = computes(UNIT);

	return sum + sorts(seed);
}

APART long repeats(unsigned seed)
{
	return one_round(seed) + 1;
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	long sum = 0;

	say_ready();
	for (unsigned round = 0; seconds_now(CLOCK_MONOTONIC) < stop; round++)
		sum += repeats(round);
	return sum == 0;
}
