/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who has which seat. What is compared is so without branches where the verifier would try every
 * course.
 */
#include "bpf/growth_seats.bpf.h"

#include "bpf/slots.bpf.h"
#include "bpf/user.bpf.h"

enum { SEATS_PER_BUCKET = 8, SEAT_BUCKETS = GROWTH_SEATS / SEATS_PER_BUCKET };

struct seat_bucket {
	u64 who[SEATS_PER_BUCKET];
	u64 place[SEATS_PER_BUCKET]; /* of its account, bpf/user.bpf.h */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct seat_bucket);
	__uint(max_entries, SEAT_BUCKETS);
} seats SEC(".maps");

static __always_inline u32 pid_of(u64 who)
{
	return who >> SEAT_PID_SHIFT;
}

static __always_inline u32 number_of(u32 bucket, u32 seat)
{
	return bucket * SEATS_PER_BUCKET + seat;
}

/* Nobody's, an earlier program's of the same process, or of a process that is not known any more.
 */
static __noinline u32 is_free(u64 whose, u64 who)
{
	u64 slot;

	return !whose || pid_of(whose) == pid_of(who) || !slot_of(pid_of(whose), &slot);
}

static __always_inline u64 is_equal(u64 a, u64 b)
{
	return ((a ^ b) - 1) >> 63;
}

/* The first seat of the account that has most of them; places are small. */
static __always_inline u32 seat_of_most(const struct seat_bucket *bucket)
{
	u64 most = 0, found = 0;

#pragma clang loop unroll(full)
	for (u64 i = 0; i < SEATS_PER_BUCKET; i++) {
		u64 count = 0, more;

#pragma clang loop unroll(full)
		for (u64 j = 0; j < SEATS_PER_BUCKET; j++)
			count += is_equal(bucket->place[i], bucket->place[j]);
		more = -((most - count) >> 63);
		most ^= (most ^ count) & more;
		found ^= (found ^ i) & more;
	}
	return found & (SEATS_PER_BUCKET - 1);
}

static __always_inline int take(struct seat_bucket *bucket, u32 seat, u64 whose, u64 who)
{
	if (__sync_val_compare_and_swap(&bucket->who[seat], whose, who) != whose)
		return 0;
	bucket->place[seat] = user_place();
	return 1;
}

static __always_inline void count_forgotten(void)
{
	u64 now;
	u32 at = shared_enter(&now);

	count_shared(at, COUNTER_growth_forgotten);
	shared_leave();
}

/* For who has none. */
static __noinline u32 seat_claim(u32 number, u64 who)
{
	struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);
	u64 whose;
	u32 most;

	if (!bucket)
		return SEAT_NONE;
	for (u32 i = 0; i < SEATS_PER_BUCKET; i++) {
		whose = *(volatile u64 *)&bucket->who[i];
		if (is_free(whose, who))
			return take(bucket, i, whose, who) ? number_of(number, i) : SEAT_NONE;
	}
	most = seat_of_most(bucket);
	barrier_var(most); /* or the compiler sees what the verifier does not */
	most &= SEATS_PER_BUCKET - 1;
	whose = *(volatile u64 *)&bucket->who[most];
	if (!take(bucket, most, whose, who))
		return SEAT_NONE;
	count_forgotten();
	return number_of(number, most);
}

__noinline u32 seat_of(u64 who)
{
	u32 number = pid_of(who) & (SEAT_BUCKETS - 1);
	const struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);

	for (u32 i = 0; bucket && i < SEATS_PER_BUCKET; i++)
		if (seat_is_of(&bucket->who[i], who))
			return number_of(number, i);
	return seat_claim(number, who);
}
