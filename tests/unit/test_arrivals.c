/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long a request is awaited, and how many handshakes a client may begin.
 */
#include "access/arrivals.h"

#include "access/handshakes.h"
#include "base/clock.h"
#include "tests/unit/suites.h"
#include "views/process_list.h"

static const uint64_t start_ns = 1000 * NSEC_PER_SEC;

START_TEST(who_began_first_is_late_first)
{
	struct arrivals arrivals = {0};
	struct arrival first = {0}, second = {0}, third = {0};

	arrivals_await(&arrivals, &first, start_ns);
	arrivals_await(&arrivals, &second, start_ns + NSEC_PER_SEC);
	arrivals_await(&arrivals, &third, start_ns + 2 * NSEC_PER_SEC);
	ck_assert_ptr_null(arrivals_take_late(&arrivals, start_ns + 15 * NSEC_PER_SEC - 1));
	ck_assert_ptr_eq(arrivals_take_late(&arrivals, start_ns + 15 * NSEC_PER_SEC), &first);
	ck_assert_ptr_null(arrivals_take_late(&arrivals, start_ns + 15 * NSEC_PER_SEC));
	/* A request that has arrived is not late. */
	arrivals_end(&arrivals, &second);
	arrivals_end(&arrivals, &second);
	ck_assert_ptr_eq(arrivals_take_late(&arrivals, UINT64_MAX), &third);
	ck_assert_ptr_null(arrivals.first);
	ck_assert_ptr_null(arrivals.last);
}
END_TEST

START_TEST(the_next_request_has_its_own_time)
{
	struct arrivals arrivals = {0};
	struct arrival one = {0}, other = {0};

	arrivals_await(&arrivals, &one, start_ns);
	arrivals_await(&arrivals, &other, start_ns + NSEC_PER_SEC);
	arrivals_end(&arrivals, &one);
	arrivals_await(&arrivals, &one, start_ns + 10 * NSEC_PER_SEC);
	ck_assert_ptr_eq(arrivals_take_late(&arrivals, start_ns + 20 * NSEC_PER_SEC), &other);
	ck_assert_ptr_null(arrivals_take_late(&arrivals, start_ns + 20 * NSEC_PER_SEC));
	ck_assert_ptr_eq(arrivals_take_late(&arrivals, start_ns + 26 * NSEC_PER_SEC), &one);
}
END_TEST

static struct in6_addr client(uint8_t number)
{
	return (struct in6_addr){.s6_addr = {[15] = number}};
}

START_TEST(a_client_begins_so_many_handshakes)
{
	struct handshakes handshakes = {0};
	struct handshake *begun[MAX_CLIENT_HANDSHAKES];
	struct in6_addr one = client(1), other = client(2);

	for (int i = 0; i < MAX_CLIENT_HANDSHAKES; i++) {
		begun[i] = handshakes_begin(&handshakes, &one, start_ns);
		ck_assert_ptr_nonnull(begun[i]);
	}
	ck_assert_ptr_null(handshakes_begin(&handshakes, &one, start_ns));
	ck_assert_ptr_nonnull(handshakes_begin(&handshakes, &other, start_ns));
	/* A handshake that is done counts until its second is over; one that is not done counts
	 * until it ends. */
	handshake_end(begun[0]);
	ck_assert_ptr_null(handshakes_begin(&handshakes, &one, start_ns + NSEC_PER_SEC / 2));
	ck_assert_ptr_nonnull(handshakes_begin(&handshakes, &one, start_ns + NSEC_PER_SEC));
	ck_assert_ptr_null(handshakes_begin(&handshakes, &one, start_ns + 9 * NSEC_PER_SEC));
}
END_TEST

START_TEST(all_together_begin_so_many)
{
	struct handshakes handshakes = {0};
	struct in6_addr last = client(255);

	for (int i = 0; i < MAX_HANDSHAKES; i++) {
		struct in6_addr one = client((uint8_t)(i / 4));

		ck_assert_ptr_nonnull(handshakes_begin(&handshakes, &one, start_ns));
	}
	ck_assert_ptr_null(handshakes_begin(&handshakes, &last, start_ns + NSEC_PER_SEC));
	for (int i = 0; i < MAX_HANDSHAKES; i++)
		handshake_end(&handshakes.at[i]);
	handshake_end(NULL);
	ck_assert_ptr_nonnull(handshakes_begin(&handshakes, &last, start_ns + NSEC_PER_SEC));
}
END_TEST

START_TEST(command_lines_share_a_bound)
{
	ck_assert_uint_eq(process_list_cmdline_bytes(0), 4096);
	ck_assert_uint_eq(process_list_cmdline_bytes(4096), 4096);
	ck_assert_uint_eq(process_list_cmdline_bytes(8192), 2048);
	ck_assert_uint_eq(process_list_cmdline_bytes(65536), 256);
	ck_assert_uint_eq(process_list_cmdline_bytes(1000 * 1000), 256);
}
END_TEST

Suite *arrivals_suite(void)
{
	Suite *suite = suite_create("arrivals");
	TCase *tests = tcase_create("arrivals");

	tcase_add_test(tests, who_began_first_is_late_first);
	tcase_add_test(tests, the_next_request_has_its_own_time);
	tcase_add_test(tests, a_client_begins_so_many_handshakes);
	tcase_add_test(tests, all_together_begin_so_many);
	tcase_add_test(tests, command_lines_share_a_bound);
	suite_add_tcase(suite, tests);
	return suite;
}
