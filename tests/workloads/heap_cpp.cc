/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *     heap_cpp [SECONDS]
 *
 * Throws exceptions through all allocation functions of C++: operators new that fail, constructors
 * that throw so that the new block is freed, and new handlers that throw. It checks that it catches
 * what it threw: the exit status is 0 on success; on failure it is 1, after a line of text, or the
 * process dies by a signal. Truth: only maker() keeps what it allocates, 1 KiB a round. Prints
 * "rounds N" at its end. Runs until killed or for SECONDS.
 */
#include "work.h"

#include <new>
#include <stdexcept>
#include <vector>

#define FRAME __attribute__((noipa))

namespace
{

enum { DEPTH = 8 };

volatile std::size_t too_much = SIZE_MAX / 4;
volatile int unwound;

struct guard {
	~guard()
	{
		unwound = unwound + 1;
	}
};

struct thrower {
	char bytes[300];
	FRAME thrower()
	{
		throw std::runtime_error("constructor");
	}
};

struct alignas(128) aligned_thrower : thrower {
};

struct alignas(256) wide {
	char bytes[256];
};

FRAME void new_fails()
{
	char *volatile at = new char[too_much];

	delete[] at;
}

FRAME void new_one_fails()
{
	void *volatile at = ::operator new(too_much);

	::operator delete(at);
}

FRAME void aligned_new_fails()
{
	void *volatile at = ::operator new(too_much, std::align_val_t(256));

	::operator delete(at, std::align_val_t(256));
}

FRAME void aligned_array_fails()
{
	wide *volatile at = new wide[too_much / 1024];

	delete[] at;
}

FRAME void constructor_throws()
{
	delete new thrower;
}

FRAME void aligned_constructor_throws()
{
	delete new aligned_thrower;
}

FRAME void array_constructor_throws()
{
	delete[] new thrower[3];
}

FRAME void vector_grows_too_far()
{
	std::vector<char> bytes(100);

	bytes.resize(too_much);
}

/* Called from within operator new, which it leaves by an exception. */
FRAME void handler()
{
	throw std::bad_alloc();
}

FRAME void handler_throws()
{
	std::set_new_handler(handler);
	try {
		new_fails();
	} catch (...) {
		std::set_new_handler(nullptr);
		throw;
	}
}

FRAME void deep(void (*way)(), int depth)
{
	guard here;

	if (depth)
		deep(way, depth - 1);
	else
		way();
}

template <typename Expected> FRAME bool is_thrown_by(void (*way)())
{
	try {
		deep(way, DEPTH);
	} catch (const Expected &) {
		return true;
	}
	return false;
}

FRAME bool nothrow_gives_null()
{
	return !::operator new(too_much, std::nothrow) &&
	       !::operator new[](too_much, std::nothrow) &&
	       !::operator new(too_much, std::align_val_t(256), std::nothrow);
}

FRAME void maker()
{
	static volatile char *kept;

	kept = new char[1024];
	kept[0] = 1;
}

struct check {
	const char *name;
	bool (*holds)(void (*)());
	void (*way)();
};

const check checks[] = {
	{"new_fails", is_thrown_by<std::bad_alloc>, new_fails},
	{"new_one_fails", is_thrown_by<std::bad_alloc>, new_one_fails},
	{"aligned_new_fails", is_thrown_by<std::bad_alloc>, aligned_new_fails},
	{"aligned_array_fails", is_thrown_by<std::bad_alloc>, aligned_array_fails},
	{"constructor_throws", is_thrown_by<std::runtime_error>, constructor_throws},
	{"aligned_constructor_throws", is_thrown_by<std::runtime_error>,
         aligned_constructor_throws},
	{"array_constructor_throws", is_thrown_by<std::runtime_error>, array_constructor_throws},
	{"vector_grows_too_far", is_thrown_by<std::exception>, vector_grows_too_far},
	{"handler_throws", is_thrown_by<std::bad_alloc>, handler_throws},
};

FRAME bool one_round()
{
	for (const check &check : checks) {
		unwound = 0;
		if (!check.holds(check.way) || unwound != DEPTH + 1) {
			std::printf("%s: not caught, or %d of %d unwound\n", check.name, unwound,
			            DEPTH + 1);
			return false;
		}
	}
	if (!nothrow_gives_null()) {
		std::printf("nothrow: not null\n");
		return false;
	}
	maker();
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	const struct timespec pause = {0, 200 * 1000};
	long rounds = 0;

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (!one_round())
			return 1;
		rounds++;
		nanosleep(&pause, nullptr);
	}
	std::printf("rounds %ld\n", rounds);
	return 0;
}
