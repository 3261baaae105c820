/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The library in a program whose GPU is a stand-in. Argument 1 is the stand-in for CUPTI, argument
 * 2 that for a driver of CUDA 12. Each test is a process of its own.
 */
#include "cuda_helper/counters.h"
#include "tests/cuda_helper/heard.h"
#include "tests/cuda_helper/program.h"
#include "tests/cuda_helper/suites.h"

#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Some hundred of 140000 launches are reported, and stand for all of them. */
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
	/* Off by a few steps of each kernel: where the doubling starts, and where the launches
	 * end. */
	ASSERT_NEAR(heard_name(small_one)->kernels, cycles * 10, 0.1);
	ASSERT_NEAR(heard_name(middle)->kernels, cycles * 3, 0.2);
	ASSERT_NEAR(heard_name(long_one)->kernels, cycles, 0.5);
	ASSERT_NEAR(heard_name(long_one)->ns, cycles * 60000, 0.5);
}
END_TEST

/* When the listener is gone, the library releases CUPTI; it subscribes again for the next
 * listener. */
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

/* A storm of launches has no effect on the next recording. Its launches are reported one by one,
 * with correlations that occur again, and late records of the storm are not taken for theirs. */
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

/* A launch whose kernel ends before the call returns is reported like any other. */
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

/* The moment in which the listener is gone and the library has not noticed yet. */
START_TEST(test_no_buffer_unheard)
{
	struct fake_counts counts;

	heard_listen(true);
	InitializeInjection();
	heard_listen(false);
	launch_cycles(1);
	counts = counts_now();
	ck_assert_uint_eq(counts.requests, counts.empty);
	ck_assert(counts.empty || counts.unsubscribed); /* the library may have noticed just now */
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

/* A launch counts once, by whichever functions it is made; a failed launch has no kernel. */
START_TEST(test_layers)
{
	heard_listen(true);
	InitializeInjection();
	launch_by(211, 307, 0, 0);
	launch_by(430, 652, 1, 0);
	launch_by(0, 307, 0, 0);
	launch_by(505, 307, 0, 0); /* a new function of the runtime */
	ck_assert_uint_eq(profd_cuda_counters.launches, 4);
	launch_by(211, 307, 0, 700);
	launch_by(0, 652, 1, 700);
	settle();
	ck_assert_uint_eq(heard_name(middle)->kernels, 4);
	ck_assert_uint_eq(heard_name(middle)->ns, 20);
}
END_TEST

/* The kernels of a graph are added up by name, and belong to one launch. */
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

/* The child's launches are not reported, and it ends. */
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

int main(int argc, char **argv)
{
	Suite *suite = suite_create("cuda_helper");
	TCase *tcase = tcase_create("cuda_helper");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (argc != 3)
		return 2;
	cupti_path = argv[1];
	driver_path = argv[2];
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, program_begin, NULL);
	tcase_add_test(tcase, test_nobody_listens);
	tcase_add_test(tcase, test_sums);
	tcase_add_test(tcase, test_stops);
	tcase_add_test(tcase, test_begins_anew);
	tcase_add_test(tcase, test_runs_at_once);
	tcase_add_test(tcase, test_no_buffer_unheard);
	tcase_add_test(tcase, test_time_is_up);
	tcase_add_test(tcase, test_layers);
	tcase_add_test(tcase, test_graph);
	tcase_add_test(tcase, test_fork);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, guest_case());
	suite_add_tcase(suite, parts_case());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
