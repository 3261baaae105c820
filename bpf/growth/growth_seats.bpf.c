/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Assigns seats to processes. Comparisons have no branches where the verifier would check each
 * path.
 */
#include "bpf/growth/growth_seats.bpf.h"

#include "bpf/slots.bpf.h"
#include "bpf/user.bpf.h"

enum { SEATS_PER_BUCKET = 8, SEAT_BUCKETS = GROWTH_SEATS / SEATS_PER_BUCKET };

struct seat_bucket {
	u64 who[SEATS_PER_BUCKET];
	u64 place[SEATS_PER_BUCKET]; /* place of the seat's account, bpf/user.bpf.h */
	u64 forgot_ns;               /* when a seat that was not free was last taken */
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

/* A seat is free if it has no owner, or if its owner is an earlier program of the same process or a
 * process that is not known any more. Global like the next function, or the verifier would follow
 * each seat to the end of the program. */
__noinline u32 seat_is_free(u64 whose, u64 who)
{
	u64 slot;

	return !whose || pid_of(whose) == pid_of(who) || !slot_of(pid_of(whose), &slot);
}

/* SEATS_PER_BUCKET: none. */
__noinline u32 seat_first_free(u32 number, u64 who)
{
	struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);
	u32 seat;

	for (seat = 0; bucket && seat < SEATS_PER_BUCKET; seat++)
		if (seat_is_free(*(volatile u64 *)&bucket->who[seat], who))
			break;
	return seat;
}

static __always_inline u64 is_equal(u64 a, u64 b)
{
	return ((a ^ b) - 1) >> 63;
}

static __always_inline u64 seats_of(const struct seat_bucket *bucket, u64 place)
{
	u64 count = 0;

#pragma clang loop unroll(full)
	for (u64 i = 0; i < SEATS_PER_BUCKET; i++)
		count += is_equal(bucket->place[i], place);
	return count;
}

/* The first seat of the account that has the most seats of the bucket. It must have more of them
 * than the account at `place` would have with one more. SEATS_PER_BUCKET: there is no such
 * account. */
__noinline u32 seat_of_most(u32 number, u64 place)
{
	const struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);
	u64 most, found = SEATS_PER_BUCKET;

	if (!bucket)
		return SEATS_PER_BUCKET;
	most = seats_of(bucket, place) + 1;

#pragma clang loop unroll(disable) /* else the compiler keeps all of them on the stack */
	for (u64 i = 0; i < SEATS_PER_BUCKET; i++) {
		u64 count = seats_of(bucket, bucket->place[i]), more = -((most - count) >> 63);

		most ^= (most ^ count) & more;
		found ^= (found ^ i) & more;
	}
	return found;
}

static __always_inline int take(struct seat_bucket *bucket, u32 seat, u64 who, u64 place)
{
	u64 whose = *(volatile u64 *)&bucket->who[seat];

	if (__sync_val_compare_and_swap(&bucket->who[seat], whose, who) != whose)
		return 0;
	bucket->place[seat] = place;
	return 1;
}

static __always_inline void count_crowded(enum counter counter)
{
	u64 now;
	u32 at = shared_enter(&now);

	count_shared(at, counter);
	shared_leave();
}

__noinline u32 seat_forgot_since(u64 who, u64 since_ns)
{
	u32 number = pid_of(who) & (SEAT_BUCKETS - 1);
	const struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);

	return !bucket || *(volatile u64 *)&bucket->forgot_ns >= since_ns;
}

/* Takes a seat for a program that has none. */
static __noinline u32 seat_claim(u32 number, u64 who)
{
	struct seat_bucket *bucket = bpf_map_lookup_elem(&seats, &number);
	u32 seat = seat_first_free(number, who);
	int is_free = seat < SEATS_PER_BUCKET;
	u64 place = user_place();

	if (!bucket)
		return SEAT_NONE;
	if (!is_free)
		seat = seat_of_most(number, place);
	if (seat >= SEATS_PER_BUCKET) {
		count_crowded(COUNTER_growth_refused);
		return SEAT_NONE;
	}
	barrier_var(seat); /* or the compiler leaves out the mask, which the verifier needs */
	seat &= SEATS_PER_BUCKET - 1;
	if (!take(bucket, seat, who, place))
		return SEAT_NONE;
	if (!is_free) {
		bucket->forgot_ns = bpf_ktime_get_boot_ns();
		count_crowded(COUNTER_growth_forgotten);
	}
	return number_of(number, seat);
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
