/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The weights of samples, the cost of watching, and how that cost is reported.
 */
#include "allocators/price.h"
#include "allocators/weights.h"
#include "tests/unit/suites.h"

static double next_uniform(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (double)(*random >> 11) * 0x1p-53;
}

START_TEST(test_weights)
{
	struct heap_weight weight = heap_weigh(1 << 30, 1 << 19);

	ck_assert_double_eq_tol(weight.bytes, 1 << 30, 1e-6);
	ck_assert_double_eq_tol(weight.objects, 1, 1e-9);
	/* A small allocation stands for about `rate` bytes. */
	weight = heap_weigh(16, 1 << 19);
	ck_assert_double_eq_tol(weight.bytes, (1 << 19) + 8, 1e-3);
	ck_assert_double_eq_tol(weight.objects, weight.bytes / 16, 1e-9);
	weight = heap_weigh(512, 512);
	ck_assert_double_eq_tol(weight.objects, 1 / (1 - exp(-1)), 1e-12);
	ck_assert_double_eq(heap_weigh(100, 0).bytes, 100);
	ck_assert_double_eq(heap_weigh(100, 0).objects, 1);
	ck_assert_double_eq(heap_weigh(0, 512).bytes, 0);
	ck_assert_double_eq(heap_weight_told(64, 640).objects, 10);
	ck_assert_double_eq(heap_weight_told(0, 640).objects, 0);
}
END_TEST

/* 300,000 allocations of three sizes, sampled as the header describes: the sums match those of all
 * allocations within four standard deviations. */
START_TEST(test_weights_are_unbiased)
{
	static const uint64_t sizes[] = {48, 3000, 70000};
	const uint64_t rate = 16384;
	uint64_t random = 88172645463325252;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double p = heap_probability(sizes[i], rate), objects = 0, bytes = 0;
		const double count = 100000;

		for (int n = 0; n < (int)count; n++) {
			if (next_uniform(&random) >= p)
				continue;
			objects += heap_weigh(sizes[i], rate).objects;
			bytes += heap_weigh(sizes[i], rate).bytes;
		}
		double sigma = sqrt(count * (1 - p) / p);
		ck_assert_double_eq_tol(objects, count, 4 * sigma);
		ck_assert_double_eq_tol(bytes, count * (double)sizes[i],
		                        4 * sigma * (double)sizes[i]);
	}
}
END_TEST

START_TEST(test_price)
{
	const struct heap_price price = {.emulated_ns = 500, .stepped_ns = 10000, .return_ns = 300};

	ck_assert_double_eq_tol(heap_price_cores(&price, &(struct heap_hits){1e6, 0, 0}), 0.5,
	                        1e-9);
	ck_assert_double_eq_tol(heap_price_cores(&price, &(struct heap_hits){1e6, 1e4, 5e5}), 0.75,
	                        1e-9);
	ck_assert_double_eq(heap_price_cores(&price, &(struct heap_hits){-1, NAN, INFINITY}), 0);
}
END_TEST

static void check_refusal(double hits, double cores, double budget, const char *wanted)
{
	struct buf buf = BUF_INIT;

	heap_price_refusal(&buf, 4711, hits, cores, budget);
	ck_assert_str_eq(buf_text(&buf), wanted);
	buf_release(&buf);
}

START_TEST(test_refusal)
{
	check_refusal(10400000, 5.2, 0.1,
	              "pid 4711 calls its allocator 10,400,000 times a second: probes would cost "
	              "5.2 cores, and the budget is 10 % of a core; force=1 attaches them anyway");
	check_refusal(999, 0.0123, 0.005,
	              "pid 4711 calls its allocator 999 times a second: probes would cost 1 % of a "
	              "core, and the budget is 0.5 % of a core; force=1 attaches them anyway");
	check_refusal(1000, NAN, 1,
	              "pid 4711 calls its allocator 1,000 times a second: probes would cost 0.0 % "
	              "of a core, and the budget is 1.0 cores; force=1 attaches them anyway");
}
END_TEST

Suite *heap_price_suite(void)
{
	Suite *suite = suite_create("heap_price");
	TCase *tcase = tcase_create("heap_price");

	tcase_add_test(tcase, test_weights);
	tcase_add_test(tcase, test_weights_are_unbiased);
	tcase_add_test(tcase, test_price);
	tcase_add_test(tcase, test_refusal);
	suite_add_tcase(suite, tcase);
	return suite;
}
