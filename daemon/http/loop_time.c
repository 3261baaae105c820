/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The time is known afterwards, so a client may exceed its share once a second.
 */
#include "http/loop_time.h"

#include "base/clock.h"

#include <errno.h>

/* Of a second, for all clients together; one alone gets half. */
static const uint64_t whole_ns = 200 * NSEC_PER_MSEC;

int loop_time_begin(struct request *request, uint64_t *ret_begun_ns)
{
	uint64_t account = client_account(request->client), now_ns = clock_mono_ns();
	struct shares *shares = shares_now(&request->parking->loop_time, whole_ns, now_ns);

	if (account && shares_exceeded(shares, account))
		return -EBUSY;
	*ret_begun_ns = now_ns;
	return 0;
}

void loop_time_end(struct request *request, uint64_t begun_ns)
{
	shares_add(&request->parking->loop_time.shares, client_account(request->client),
	           clock_mono_ns() - begun_ns);
}
