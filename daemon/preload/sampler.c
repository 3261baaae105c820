/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The slow part of sampling: seeding, drawing distances, weights. It runs once in some hundred
 * kilobytes. It has a logarithm and an exponential of its own, because a library that goes into
 * every process must not bring libm along.
 */
#include "preload/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "preload/counters.h"

#define DEFAULT_RATE (UINT64_C(512) << 10)
#define MAX_RATE     (UINT64_C(1) << 40)

__thread struct sampler sampler_mine __attribute__((tls_model("initial-exec")));

/* ---- the rate ------------------------------------------------------------------------------ */

/* The number of bytes given by a text such as "512KiB", or 0. */
static uint64_t read_rate(const char *text)
{
	static const char units[][4] = {"", "KiB", "MiB", "GiB"};
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9' && value <= MAX_RATE; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(text, units[i]) == 0 && value <= MAX_RATE >> (10 * i))
			return value << (10 * i);
	return 0;
}

/* 0 while there is no environment yet: at the dynamic linker's own first allocations. */
static uint64_t find_rate(void)
{
	static const char refused[] =
		"libprofd-heap: PROFD_HEAP_RATE must be 1 to 1024GiB; 512KiB is used\n";
	uint64_t rate = __atomic_load_n(&profd_heap_counters.rate, __ATOMIC_RELAXED);
	const char *text;

	if (rate || !environ)
		return rate;
	text = getenv("PROFD_HEAP_RATE");
	rate = text ? read_rate(text) : DEFAULT_RATE;
	if (!rate) {
		int error = errno;

		rate = DEFAULT_RATE;
		if (write(STDERR_FILENO, refused, sizeof(refused) - 1) < 0)
			errno = error; /* the message cannot be written */
	}
	__atomic_store_n(&profd_heap_counters.rate, rate, __ATOMIC_RELAXED);
	return rate;
}

/* ---- chance -------------------------------------------------------------------------------- */

/* SplitMix64: any state is good, and neighbouring states give unrelated numbers. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Above 0, at most 1. */
static double next_share(uint64_t *state)
{
	return (double)((next_random(state) >> 11) + 1) * 0x1p-53;
}

/*
 * The seed differs between processes by the kernel's random bytes for each program that it starts,
 * between threads by the address of their variables, and for a child of fork() and a thread in the
 * place of an ended one by the clock.
 */
static uint64_t seed(void)
{
	const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);
	uint64_t state = (uint64_t)(uintptr_t)&sampler_mine;
	struct timespec now = {0};
	uint64_t clock, started = random ? random[1] : 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return state ^ next_random(&clock) ^ next_random(&started);
}

/*
 * The natural logarithm of 0 < x <= 1. x = m * 2^e with m around 1, and ln m = 2 artanh((m - 1) /
 * (m + 1)), whose series is off by less than 1e-9 after five terms.
 */
static double logarithm(double x)
{
	union {
		double value;
		uint64_t bits;
	} m = {.value = x};
	int e = (int)(m.bits >> 52) - 1022;
	double s, q;

	m.bits = (m.bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
	if (m.value < 0.70710678118654752) {
		m.value *= 2;
		e--;
	}
	s = (m.value - 1) / (m.value + 1);
	q = s * s;
	return e * 0.69314718055994531 +
	       2 * s * (1 + q * (1. / 3 + q * (1. / 5 + q * (1. / 7 + q * (1. / 9)))));
}

bool sampler_reached(size_t size)
{
	struct sampler *mine = &sampler_mine;
	uint64_t rate = find_rate();
	bool seeded = mine->left != 0;

	if (!rate)
		return false;
	if (!seeded)
		mine->random = seed();
	/* The next distance counts from the end of these bytes, wherever in them the point was: an
	 * exponential distribution has no memory. */
	mine->left = (uint64_t)(-logarithm(next_share(&mine->random)) * (double)rate) + 1;
	return seeded || sampler_due(size);
}

void sampler_forked(void)
{
	sampler_mine.left = 0;
}

/* ---- weights ------------------------------------------------------------------------------- */

/*
 * x / (1 - exp(-x)) for x >= 0. Its series at 0 (the Bernoulli numbers) is off by less than 1e-7 up
 * to x = 1; beyond that, exp(-x) is the 2^n'th power of the series' value for x / 2^n.
 */
static double over_probability(double x)
{
	double y = x, q, ratio, power;
	int squares = 0;

	if (x > 40)
		return x; /* exp(-40) is below the precision of 1 */
	for (; y > 1; squares++)
		y /= 2;
	q = y * y;
	ratio = 1 + y / 2 + q * (1. / 12 - q * (1. / 720 - q * (1. / 30240 - q * (1. / 1209600))));
	if (!squares)
		return ratio;
	power = 1 - y / ratio;
	for (; squares; squares--)
		power *= power;
	return x / (1 - power);
}

uint64_t sampler_weight(size_t size)
{
	double rate = (double)profd_heap_counters.rate;
	double weight = rate * over_probability((double)size / rate);

	return (uint64_t)(weight + 1 - next_share(&sampler_mine.random));
}
