/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How often various shapes of memory use are called a leak. Memory is read once a second and has
 * the noise of programs: memory that requests take for a moment, and now and then a large amount
 * for some seconds. Each shape is drawn many times, with different sizes, times and phases. Each
 * test states what is required of all drawings.
 */
#include "tests/unit/suites.h"

#include "memory/timeline.h"

#include <math.h>

#define MIB           (1024.0 * 1024.0)
#define KB_PER_SECOND (1000 / MIB)

enum { RUNS = 16, START_SECOND = 5000, LATER = 3 * 3600 };

/* One drawing of a shape. */
struct draw {
	double base, size;    /* MiB */
	double period, phase; /* seconds */
	double leak;          /* MiB a second */
	double drift, burst, burst_end;
	double tooth_begin, tooth_end, tooth_size;
};

typedef double shape_fn(struct draw *draw, double second);

static uint64_t state;

/* A random number in [0, 1), computed here so that every libc draws the same. */
static double uniform(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(state >> 11) / (double)(1ULL << 53);
}

static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

/* Noise with standard deviation `deviation` and a memory of 20 seconds, and once a minute up to
 * `burst` more. */
static double noise(struct draw *draw, double second, double deviation, double burst)
{
	double kept = exp(-1.0 / 20);

	draw->drift = kept * draw->drift + sqrt(1 - kept * kept) * deviation * normal();
	if (second >= draw->burst_end && uniform() < 1.0 / 60) {
		draw->burst = burst * uniform();
		draw->burst_end = second + 2 + 18 * uniform();
	}
	return draw->drift + (second < draw->burst_end ? draw->burst : 0);
}

static double log_uniform(double least, double most)
{
	return least * exp(uniform() * log(most / least));
}

static double steps(struct draw *draw, double s)
{
	return draw->base + 30 * floor((s + 60 * draw->phase) / 60);
}

static double large_and_slow(struct draw *draw, double s)
{
	return 1024 + draw->leak * s + noise(draw, s, 4, 64);
}

static double after_its_start(struct draw *draw, double s)
{
	double start = 10 + 50 * draw->phase;

	return (s < start ? 400 * s / start : 400) + 0.3 * s + noise(draw, s, 2, 20);
}

static double tooth(struct draw *draw, double s)
{
	return draw->size * fmod(s / draw->period + draw->phase, 1);
}

static double collector(struct draw *draw, double s)
{
	return 300 + tooth(draw, s) + noise(draw, s, 2, 10);
}

static double collector_leaks(struct draw *draw, double s)
{
	return 0.2 * s + collector(draw, s);
}

/* Teeth of half to one and a half times the size. */
static double uneven_collector(struct draw *draw, double s)
{
	if (s >= draw->tooth_end) {
		draw->tooth_size = 0.5 + uniform();
		draw->tooth_begin = s;
		draw->tooth_end = s + draw->period * draw->tooth_size;
	}
	return 300 + draw->size * (s - draw->tooth_begin) / draw->period + noise(draw, s, 2, 10);
}

static double cache(struct draw *draw, double s)
{
	return 100 + 4 * draw->size * (1 - exp(-s / draw->period)) + noise(draw, s, 2, 20);
}

static double one_off(struct draw *draw, double s)
{
	return 300 + (s > 600 * (1 + draw->phase) ? 3 * draw->size : 0) +
	       (s > 2000 ? draw->size : 0) + noise(draw, s, 3, 30);
}

static double program_start(struct draw *draw, double s)
{
	double start = 5 + 120 * draw->phase;

	return (s < start ? 10 + 800 * s / start : 810) + noise(draw, s, 3, 30);
}

static double busy(struct draw *draw, double s)
{
	return 1024 + noise(draw, s, 10, 100);
}

static double day(struct draw *draw, double s)
{
	return 1000 + 200 * sin(2 * M_PI * (s / 86400 + draw->phase)) + noise(draw, s, 8, 60);
}

/* The verdicts on all runs. */
struct verdicts {
	int called;  /* runs that were ever called a leak */
	int cleared; /* how often a run was no longer called a leak */
	unsigned int seconds_called;
	unsigned int latest_first; /* the latest second in which a run was first called a leak */
	unsigned int latest_last;
	double worst_pace; /* the largest error, relative to the leak's pace */
};

struct trial {
	shape_fn *shape;
	unsigned int seconds, step;
	double least_period, most_period;
	double leak;
	unsigned int judged_from; /* verdicts before this second do not count */
};

static void note(struct verdicts *verdicts, const struct trial *trial, unsigned int s, bool leaking,
                 bool *was, bool *ever)
{
	if (leaking) {
		verdicts->seconds_called += trial->step;
		if (!*ever && s > verdicts->latest_first)
			verdicts->latest_first = s;
		if (s > verdicts->latest_last)
			verdicts->latest_last = s;
		verdicts->called += !*ever;
		*ever = true;
	}
	verdicts->cleared += *was && !leaking;
	*was = leaking;
}

static void watch(const struct trial *trial, struct draw *draw, struct verdicts *verdicts)
{
	const struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 1 << 20, .max_processes = 10};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);
	struct timeline_process seen = {.pid = (uint32_t)(1 + 1000 * uniform()), .comm = "x"};
	const struct growth *growth = NULL;
	bool was = false, ever = false;

	seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	for (unsigned int s = 0; s < trial->seconds; s += trial->step) {
		double mib = fmax(trial->shape(draw, s), 1);

		seen.seen_ms = (START_SECOND + s) * 1000ULL;
		seen.figures.values[MEMORY_rss_anon] = (uint64_t)(mib * MIB) & ~4095ULL;
		timeline_process(timeline, &seen);
		timeline_settle(timeline, seen.seen_ms);
		growth = &timeline_find(timeline, seen.pid)->track.growth;
		if (s >= trial->judged_from)
			note(verdicts, trial, s, growth->leaking, &was, &ever);
	}
	if (growth && trial->leak > 0)
		verdicts->worst_pace =
			fmax(verdicts->worst_pace,
		             fabs((double)growth->bytes_per_second / MIB / trial->leak - 1));
}

static struct verdicts try_often(const struct trial *trial)
{
	struct verdicts verdicts = {0};

	for (int run = 0; run < RUNS; run++) {
		struct draw draw = {.leak = trial->leak};

		state = (uint64_t)run * 7919 + 17;
		draw.base = 100 + 1000 * uniform();
		draw.size = 20 + 480 * uniform();
		draw.phase = uniform();
		if (trial->most_period > 0)
			draw.period = log_uniform(trial->least_period, trial->most_period);
		watch(trial, &draw, &verdicts);
	}
	return verdicts;
}

/* Every drawing is called a leak by that second and stays one, except that verdicts are cleared at
 * most `cleared` times. The error of the pace is at most the part `pace` of it. */
static void assert_leaks(const struct trial *trial, unsigned int by_second, int cleared,
                         double pace)
{
	struct verdicts verdicts = try_often(trial);

	ck_assert_int_eq(verdicts.called, RUNS);
	ck_assert_int_le(verdicts.cleared, cleared);
	ck_assert_uint_le(verdicts.latest_first, by_second);
	ck_assert_double_le(verdicts.worst_pace, pace);
}

static void assert_never(const struct trial *trial)
{
	struct verdicts verdicts = try_often(trial);

	ck_assert_msg(!verdicts.called, "%d of %d were called a leak, until second %u",
	              verdicts.called, RUNS, verdicts.latest_last);
}

START_TEST(steps_of_30_mib_once_a_minute)
{
	assert_leaks(&(struct trial){steps, 3600, .step = 1, .leak = 0.5}, 600, 0, 0.02);
}
END_TEST

START_TEST(a_large_process_leaks_slowly)
{
	/* Kilobytes a second, and the second by which the leak is found. */
	static const unsigned int cases[][2] = {{50, 2400}, {100, 1200}, {175, 700}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_leaks(&(struct trial){large_and_slow, 2 * 3600, .step = 1,
		                             .leak = cases[i][0] * KB_PER_SECOND},
		             cases[i][1], 1, 0.1);
}
END_TEST

START_TEST(a_leak_that_follows_a_start)
{
	assert_leaks(&(struct trial){after_its_start, 3600, .step = 1, .leak = 0.3}, 400, 0, 0.1);
}
END_TEST

START_TEST(a_leak_under_a_collector)
{
	/* Once each part contains a whole tooth. */
	assert_leaks(&(struct trial){collector_leaks, LATER, .step = 1, .least_period = 4,
	                             .most_period = 60, .leak = 0.2},
	             2 * 3600, 1, 0.1);
}
END_TEST

START_TEST(collectors)
{
	/* A tooth that is longer than four minutes is called a leak the first time. */
	assert_never(&(struct trial){collector, LATER, .step = 1, .least_period = 4,
	                             .most_period = 200});
	assert_never(&(struct trial){collector, LATER, .step = 1, .least_period = 200,
	                             .most_period = 1200, .judged_from = 2400});
}
END_TEST

START_TEST(uneven_collectors)
{
	assert_never(&(struct trial){uneven_collector, LATER, .step = 1, .least_period = 4,
	                             .most_period = 120});
}
END_TEST

START_TEST(caches_that_fill)
{
	assert_never(
		&(struct trial){cache, LATER, .step = 1, .least_period = 10, .most_period = 180});
	/* A cache that fills more slowly looks like a line at first. */
	assert_never(&(struct trial){cache, LATER, .step = 1, .least_period = 180,
	                             .most_period = 1800, .judged_from = 3 * 1800});
}
END_TEST

START_TEST(one_off_allocations)
{
	assert_never(&(struct trial){one_off, 2 * 3600, .step = 1});
}
END_TEST

START_TEST(programs_that_start)
{
	assert_never(&(struct trial){program_start, 3600, .step = 1});
}
END_TEST

START_TEST(programs_that_are_busy)
{
	assert_never(&(struct trial){busy, LATER, .step = 1});
}
END_TEST

START_TEST(days)
{
	/* On the first day it is not known that the memory is held only by day. */
	assert_never(&(struct trial){day, 3 * 86400, .step = 10, .judged_from = 86400});
}
END_TEST

Suite *growth_shapes_suite(void)
{
	Suite *suite = suite_create("growth_shapes");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 240);
	tcase_add_test(tests, steps_of_30_mib_once_a_minute);
	tcase_add_test(tests, a_large_process_leaks_slowly);
	tcase_add_test(tests, a_leak_that_follows_a_start);
	tcase_add_test(tests, a_leak_under_a_collector);
	tcase_add_test(tests, collectors);
	tcase_add_test(tests, uneven_collectors);
	tcase_add_test(tests, caches_that_fill);
	tcase_add_test(tests, one_off_allocations);
	tcase_add_test(tests, programs_that_start);
	tcase_add_test(tests, programs_that_are_busy);
	tcase_add_test(tests, days);
	suite_add_tcase(suite, tests);
	return suite;
}
