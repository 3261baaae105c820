/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The library in a program whose GPU is a stand-in, argument 1 being that of CUPTI. Each test is a
 * process of its own.
 */
#include "cuda_helper/chooser.h"
#include "cuda_helper/correlations.h"
#include "cuda_helper/counters.h"
#include "tests/cuda_helper/fake_cupti.h"
#include "tests/cuda_helper/heard.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int InitializeInjection(void);

static const char *cupti_path;
static void (*launch_fake)(const struct fake_launch *);
static void (*get_counts)(struct fake_counts *);
static void (*hold)(int);

static void set_up(void)
{
	void *library = dlopen(cupti_path, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(library, "%s", dlerror());
	*(void **)&launch_fake = dlsym(library, "fake_launch");
	*(void **)&get_counts = dlsym(library, "fake_get_counts");
	*(void **)&hold = dlsym(library, "fake_hold");
	ck_assert(launch_fake && get_counts && hold);
}

static void pause_ms(long ms)
{
	const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static struct fake_counts counts_now(void)
{
	struct fake_counts counts;

	get_counts(&counts);
	return counts;
}

/* By cudaLaunchKernel(), which calls cuLaunchKernel(). */
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

static const char long_one[] = "long one", middle[] = "middle", small_one[] = "small one";

/* 1, 3 and 10 launches: 60, 30 and 10 % of the time. */
static void launch_cycles(int cycles)
{
	for (int cycle = 0; cycle < cycles; cycle++) {
		launch_one(long_one, 60000);
		for (int i = 0; i < 13; i++)
			launch_one(i % 4 == 1 ? middle : small_one, i % 4 == 1 ? 10000 : 1000);
	}
}

/* Until what is under way was told: two looks of the library's thread. */
static void settle(void)
{
	pause_ms(1300);
}

#define ASSERT_NEAR(value, truth, share)                                                    \
	ck_assert_msg((double)(value) > (double)(truth) * (1 - (share)) &&                  \
	                      (double)(value) < (double)(truth) * (1 + (share)),            \
	              "%lu is not within %.0f %% of %lu", (uint64_t)(value), 100 * (share), \
	              (uint64_t)(truth))

START_TEST(test_nobody_listens)
{
	struct fake_counts counts;

	ck_assert_int_eq(InitializeInjection(), 1);
	launch_cycles(100);
	settle();
	counts = counts_now();
	ck_assert_uint_eq(counts.subscribed, 0);
	ck_assert_uint_eq(counts.requests, 0);
	ck_assert_uint_eq(counts.calls, 0);
	ck_assert_uint_eq(profd_cuda_counters.launches, 0);
}
END_TEST

/* Of 140000 launches some hundred are told, and stand for all of them. */
START_TEST(test_sums)
{
	const uint64_t cycles = 10000;
	uint64_t launches;

	heard_listen(true);
	InitializeInjection();
	for (int i = 0; i < 20; i++) {
		launch_cycles((int)cycles / 20);
		pause_ms(200);
	}
	settle();
	launches = profd_cuda_counters.launches;
	ck_assert_uint_eq(launches, cycles * 14);
	ck_assert_uint_eq(profd_cuda_counters.chosen, heard.launched);
	ck_assert_uint_gt(heard.launched, 150);
	ck_assert_uint_lt(heard.launched, 2000);
	ck_assert_uint_eq(heard.unknown, 0);
	ck_assert_uint_eq(profd_cuda_counters.no_buffer, 0);
	/* Off by a few steps of each: where they began to double, and where they end. */
	ASSERT_NEAR(heard_name(small_one)->kernels, cycles * 10, 0.1);
	ASSERT_NEAR(heard_name(middle)->kernels, cycles * 3, 0.2);
	ASSERT_NEAR(heard_name(long_one)->kernels, cycles, 0.5);
	ASSERT_NEAR(heard_name(long_one)->ns, cycles * 60000, 0.5);
}
END_TEST

/* When nobody listens any more, CUPTI is given back; and taken again. */
START_TEST(test_stops)
{
	struct fake_counts before, after;

	heard_listen(true);
	InitializeInjection();
	launch_cycles(10);
	settle();
	ck_assert_uint_gt(heard_name(long_one)->told, 0);
	heard_listen(false);
	settle();
	before = counts_now();
	ck_assert_uint_eq(before.subscribed, 1);
	ck_assert_uint_eq(before.unsubscribed, 1);
	launch_cycles(10);
	after = counts_now();
	ck_assert_uint_eq(after.calls, before.calls);
	ck_assert_uint_eq(after.requests, before.requests);
	heard_listen(true);
	settle();
	ck_assert_uint_eq(counts_now().subscribed, 2);
}
END_TEST

static struct heard heard_now(void)
{
	settle();
	return heard;
}

/* What a storm left behind is no matter of the next recording: its launches are told one by one,
 * whose numbers come again, and those of the storm's that come late are none of them. */
START_TEST(test_begins_anew)
{
	heard_listen(true);
	InitializeInjection();
	launch_cycles(1000);
	ck_assert_uint_gt(heard_now().launched, 100);
	ck_assert_uint_lt(heard.launched, 1000);
	heard_listen(false);
	settle();
	heard_forget();
	heard_listen(true);
	settle();
	launch_cycles(3);
	ck_assert_uint_eq(heard_now().launched, 42);
	ck_assert_uint_eq(heard_name(small_one)->kernels, 30);
	ck_assert_uint_eq(heard_name(middle)->kernels, 9);
	ck_assert_uint_eq(heard_name(long_one)->kernels, 3);
	ck_assert_uint_eq(heard.unknown, 0);
}
END_TEST

/* One whose kernel is over before the call returns is told as any other. */
START_TEST(test_runs_at_once)
{
	const struct fake_kernel kernel = {middle, 7};

	heard_listen(true);
	InitializeInjection();
	for (int i = 0; i < 10; i++)
		launch_fake(&(struct fake_launch){
			.runtime = 211,
			.driver = 307,
			.handle = 77,
			.at_once = 1,
			.kernels = &kernel,
			.count = 1,
		});
	ck_assert_uint_eq(heard_now().launched, 10);
	ck_assert_uint_eq(heard_name(middle)->kernels, 10);
	ck_assert_uint_eq(heard.unknown, 0);
	ck_assert_uint_eq(profd_cuda_counters.not_chosen, 0);
}
END_TEST

/* The moment between: the listener is gone, the library has not looked yet. */
START_TEST(test_no_buffer_unheard)
{
	struct fake_counts counts;

	heard_listen(true);
	InitializeInjection();
	heard_listen(false);
	launch_cycles(1);
	counts = counts_now();
	ck_assert_uint_eq(counts.requests, counts.empty);
	ck_assert(counts.empty || counts.unsubscribed); /* it may have looked just now */
	ck_assert_uint_eq(profd_cuda_counters.launches, 0);
}
END_TEST

START_TEST(test_time_is_up)
{
	setenv("PROFD_CUDA_SECONDS", "1", 1);
	heard_listen(true);
	InitializeInjection();
	pause_ms(3200);
	ck_assert_uint_eq(counts_now().subscribed, 1);
	ck_assert_uint_eq(counts_now().unsubscribed, 1);
}
END_TEST

/* One line, however often it looks, and the program goes on. */
START_TEST(test_held_by_another)
{
	char said[1024] = "", *newline;
	int ends[2];
	ssize_t len;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
	hold(1);
	heard_listen(true);
	ck_assert_int_eq(InitializeInjection(), 1);
	settle();
	launch_cycles(10);
	len = read(ends[0], said, sizeof(said) - 1);
	ck_assert_int_gt(len, 0);
	newline = strchr(said, '\n');
	ck_assert_ptr_nonnull(newline);
	ck_assert_str_eq(newline, "\n");
	ck_assert_ptr_nonnull(strstr(said, "another profiler"));
	ck_assert(!strstr(cupti_path, ".13") || strstr(said, "the other one"));
	ck_assert_uint_eq(counts_now().refused, 1);
	ck_assert_uint_eq(counts_now().calls, 0);
}
END_TEST

static void launch_by(uint32_t runtime, uint32_t driver, size_t word, int result)
{
	const struct fake_kernel kernel = {middle, 5};

	launch_fake(&(struct fake_launch){
		.runtime = runtime,
		.driver = driver,
		.handle = 77,
		.word = word,
		.result = result,
		.kernels = &kernel,
		.count = 1,
	});
}

/* However a launch is made it is one; a failed one has no kernel. */
START_TEST(test_layers)
{
	heard_listen(true);
	InitializeInjection();
	launch_by(211, 307, 0, 0);
	launch_by(430, 652, 1, 0);
	launch_by(0, 307, 0, 0);
	launch_by(505, 307, 0, 0); /* the runtime's new function */
	ck_assert_uint_eq(profd_cuda_counters.launches, 4);
	launch_by(211, 307, 0, 700);
	launch_by(0, 652, 1, 700);
	settle();
	ck_assert_uint_eq(heard_name(middle)->kernels, 4);
	ck_assert_uint_eq(heard_name(middle)->ns, 20);
}
END_TEST

/* Its kernels are added up; both are of one launch. */
START_TEST(test_graph)
{
	struct fake_kernel kernels[300];

	for (size_t i = 0; i < 300; i++)
		kernels[i] = (struct fake_kernel){i % 3 ? small_one : long_one, i % 3 ? 1 : 10};
	heard_listen(true);
	InitializeInjection();
	launch_fake(&(struct fake_launch){
		.runtime = 311,
		.driver = 514,
		.handle = 5,
		.kernels = kernels,
		.count = 300,
	});
	settle();
	ck_assert_uint_eq(heard.launched, 1);
	ck_assert_uint_eq(heard_name(long_one)->kernels, 100);
	ck_assert_uint_eq(heard_name(long_one)->ns, 1000);
	ck_assert_uint_eq(heard_name(small_one)->kernels, 200);
	ck_assert_uint_eq(heard_name(small_one)->told, 1);
}
END_TEST

/* The child launches nothing that anybody would hear, and ends. */
START_TEST(test_fork)
{
	uint64_t launched;
	int status;
	pid_t child;

	heard_listen(true);
	InitializeInjection();
	launch_cycles(1);
	launched = heard.launched;
	ck_assert_uint_gt(launched, 0);
	child = fork();
	if (!child) {
		launch_cycles(1);
		exit(heard.launched == launched ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- its parts ----------------------------------------------------------------------------- */

/* A storm in step with any fixed distance: every kernel's share is right, and the rate is kept. */
START_TEST(test_chooser)
{
	enum { LAUNCHES = 4000000, PERIOD = 64 };
	static struct chooser chooser;
	uint64_t chosen = 0, sums[3] = {0}, truth[3] = {0}, now = 1;

	chooser_init(&chooser, 100, 20, 12345);
	for (uint64_t i = 0; i < LAUNCHES; i++, now += 10000) { /* 40 seconds of 100000 a second */
		uint64_t at = i % PERIOD, kernel = at < 4 ? 0 : at < 24 ? 1 : 2;
		uint32_t weight = chooser_take(&chooser, 0x1000 + kernel * 64, false, now);

		truth[kernel]++;
		sums[kernel] += weight;
		chosen += weight != 0;
	}
	ck_assert_uint_le(chosen, 400 + 40 * 100);
	ck_assert_uint_gt(chosen, 40 * 40);
	ASSERT_NEAR(sums[0], truth[0], 0.01);
	ASSERT_NEAR(sums[1], truth[1], 0.01);
	ASSERT_NEAR(sums[2], truth[2], 0.01);
}
END_TEST

/* Slower than the rate: all of them. More kernels than there are places: none is lost. */
START_TEST(test_chooser_all)
{
	static struct chooser chooser;
	uint64_t sum = 0;

	chooser_init(&chooser, 100, 20, 1);
	for (uint64_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(chooser_take(&chooser, i % 5 + 1, false, 1 + i * 20000000), 1);
	for (uint64_t i = 0; i < 100000; i++)
		sum += chooser_take(&chooser, i * 4096, i & 1, 3000000000000 + i * 100000000);
	ck_assert_uint_eq(sum, 100000);
}
END_TEST

enum { PHASES = 5, STREAM_KERNELS = 3 };

/* Seconds, launches a second. */
static const struct {
	uint64_t seconds, rate;
} phases[PHASES] = {{3, 50000}, {6, 40}, {3, 20000}, {1, 0}, {3, 300}};

struct phase_told {
	double sum[STREAM_KERNELS], truth[STREAM_KERNELS];
	double variance[STREAM_KERNELS]; /* of the sum, were each launch drawn by itself */
	uint64_t chosen;
	double first_s; /* from its beginning to the first that is told */
};

/* Kernels of 1, 9 and 90 % of all launches in turn, at times that differ by up to a half. */
static void run_stream(uint64_t seed, bool graphs, struct phase_told told[PHASES])
{
	struct chooser chooser;
	uint64_t now = 5000000000, turn = seed * 7919;
	const struct chooser_pace *pace = graphs ? &chooser.graphs : &chooser.kernels;
	unsigned random = (unsigned)seed;

	chooser_init(&chooser, 100, 20, seed);
	memset(told, 0, PHASES * sizeof(*told));
	for (int phase = 0; phase < PHASES; phase++) {
		uint64_t begin = now, end = now + phases[phase].seconds * 1000000000;
		uint64_t gap = phases[phase].rate ? 1000000000 / phases[phase].rate : 0;

		told[phase].first_s = -1;
		for (; gap && now < end; now += gap / 2 + (uint64_t)rand_r(&random) % gap) {
			uint64_t at = turn++ % 100, kernel = at < 1 ? 0 : at < 10 ? 1 : 2;
			uint32_t weight = chooser_take(&chooser, 64 + kernel, graphs, now);

			told[phase].truth[kernel]++;
			told[phase].sum[kernel] += weight;
			told[phase].variance[kernel] += (double)(1U << pace->doublings) - 1;
			told[phase].chosen += weight != 0;
			if (weight && told[phase].first_s < 0)
				told[phase].first_s = (double)(now - begin) / 1e9;
		}
		now = end;
	}
}

/* Storms and what is between them, many times over: the mean of what is told of each kernel in each
 * phase is how often it was launched, within four standard errors; and none of them is blind. */
static void check_streams(bool graphs, uint64_t a_second)
{
	enum { STREAMS = 400 };
	static struct phase_told told[PHASES];
	struct phase_told all[PHASES] = {0};

	for (uint64_t seed = 1; seed <= STREAMS; seed++) {
		run_stream(seed, graphs, told);
		for (int phase = 0; phase < PHASES; phase++) {
			for (int of = 0; of < STREAM_KERNELS; of++) {
				all[phase].sum[of] += told[phase].sum[of];
				all[phase].truth[of] += told[phase].truth[of];
				all[phase].variance[of] += told[phase].variance[of];
			}
			ck_assert_uint_le(told[phase].chosen,
			                  (4 + phases[phase].seconds) * a_second);
			ck_assert(!phases[phase].rate || told[phase].first_s >= 0);
			ck_assert_double_lt(told[phase].first_s, 1.5);
		}
	}
	for (int phase = 0; phase < PHASES; phase++) {
		for (int of = 0; of < STREAM_KERNELS; of++) {
			double off = all[phase].sum[of] - all[phase].truth[of];

			ck_assert_msg(off * off <= 16 * all[phase].variance[of],
			              "phase %d, kernel %d: %.0f of %.0f, variance %.0f", phase, of,
			              all[phase].sum[of], all[phase].truth[of],
			              all[phase].variance[of]);
			/* Where there are many steps of a kernel, it is as good as exact. */
			ck_assert(all[phase].truth[of] < STREAMS * 50000.0 ||
			          fabs(off) < all[phase].truth[of] / 200);
		}
	}
}

START_TEST(test_chooser_phases)
{
	check_streams(false, 100);
	check_streams(true, 20);
}
END_TEST

START_TEST(test_correlations)
{
	static struct correlations all;
	uint32_t found = 0;

	for (uint32_t i = 1; i <= CORRELATION_SETS * CORRELATION_WAYS + 10; i++)
		correlations_add(&all, i * 3, i);
	for (uint32_t i = 1; i <= CORRELATION_SETS * CORRELATION_WAYS + 10; i++) {
		uint32_t weight = correlations_find(&all, i * 3);

		ck_assert(weight == 0 || weight == i);
		ck_assert(weight || i <= 10);
		found += weight != 0;
	}
	ck_assert_uint_eq(found, CORRELATION_SETS * CORRELATION_WAYS);
	ck_assert_uint_eq(correlations_find(&all, 4), 0);
	correlations_add(&all, UINT32_MAX, 1);
	correlations_add(&all, 5, 9); /* past the end of numbers */
	ck_assert_uint_eq(correlations_find(&all, 5), 9);
	correlations_clear(&all);
	ck_assert_uint_eq(correlations_find(&all, 5), 0);
	/* A thread that was held up has an old number: what is newer stays. */
	for (uint32_t i = 2; i <= 6; i++)
		if (i != 5)
			correlations_add(&all, i * CORRELATION_SETS, 1);
	correlations_add(&all, 5 * CORRELATION_SETS, 1);
	ck_assert_uint_eq(correlations_find(&all, 2 * CORRELATION_SETS), 0);
	ck_assert_uint_eq(correlations_find(&all, 5 * CORRELATION_SETS), 1);
	ck_assert_uint_eq(correlations_find(&all, 6 * CORRELATION_SETS), 1);
}
END_TEST

/* Two threads that add to one set at the same time: what one has added is there after its next,
 * unless the other has added two since, and is about to add one more. Numbers are but half of
 * all in a round, however long a thread is held up. */
enum { ROUNDS = 40, ADDED_A_ROUND = 200000 };
_Static_assert(2ULL * ADDED_A_ROUND * CORRELATION_SETS < 1ULL << 31, "half of all numbers");

static struct correlations shared;
static struct {
	pthread_barrier_t begin, end;
	uint32_t last, added[2];
} adders;

static uintptr_t add_round(const uint32_t *others, uint32_t *mine)
{
	uint32_t before = 0, number = 0;
	uintptr_t lost = 0;

	for (int i = 0; i < ADDED_A_ROUND; i++) {
		uint32_t now = __atomic_load_n(others, __ATOMIC_SEQ_CST);
		uint32_t next = __atomic_add_fetch(&adders.last, 1, __ATOMIC_SEQ_CST);

		correlations_add(&shared, next * CORRELATION_SETS, 1);
		__atomic_add_fetch(mine, 1, __ATOMIC_SEQ_CST);
		if (number && !correlations_find(&shared, number * CORRELATION_SETS))
			lost += __atomic_load_n(others, __ATOMIC_SEQ_CST) - before < 2;
		number = next;
		before = now;
	}
	return lost;
}

static void *add_rounds(void *is_second)
{
	uintptr_t lost = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (!is_second) {
			correlations_clear(&shared);
			adders.last = 0;
		}
		pthread_barrier_wait(&adders.begin);
		lost += add_round(&adders.added[!is_second], &adders.added[is_second != NULL]);
		pthread_barrier_wait(&adders.end);
	}
	return (void *)lost;
}

START_TEST(test_correlations_threads)
{
	pthread_t second;
	void *lost;

	pthread_barrier_init(&adders.begin, NULL, 2);
	pthread_barrier_init(&adders.end, NULL, 2);
	ck_assert_int_eq(pthread_create(&second, NULL, add_rounds, &adders), 0);
	ck_assert_ptr_null(add_rounds(NULL));
	pthread_join(second, &lost);
	ck_assert_ptr_null(lost);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("cuda_helper");
	TCase *tcase = tcase_create("cuda_helper");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (argc != 2)
		return 2;
	cupti_path = argv[1];
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_nobody_listens);
	tcase_add_test(tcase, test_sums);
	tcase_add_test(tcase, test_stops);
	tcase_add_test(tcase, test_begins_anew);
	tcase_add_test(tcase, test_runs_at_once);
	tcase_add_test(tcase, test_no_buffer_unheard);
	tcase_add_test(tcase, test_time_is_up);
	tcase_add_test(tcase, test_held_by_another);
	tcase_add_test(tcase, test_layers);
	tcase_add_test(tcase, test_graph);
	tcase_add_test(tcase, test_fork);
	tcase_add_test(tcase, test_chooser);
	tcase_add_test(tcase, test_chooser_all);
	tcase_add_test(tcase, test_chooser_phases);
	tcase_add_test(tcase, test_correlations);
	tcase_add_test(tcase, test_correlations_threads);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
