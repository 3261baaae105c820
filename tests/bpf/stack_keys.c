/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stacks that a program constructs to collide under a hash key that it knows do not collide under a
 * key that it does not know.
 */
#include "bpf/hash.h"
#include "tests/bpf/suites.h"

#include <stdlib.h>

enum { FRAMES = 3, KEYS = 1000, ADDRESS_BITS = 47 };

/* The constants that were in use before the hash had a key. */
static const struct hash_key known = {0, 0x9e3779b97f4a7c15};

static u64 key_of(const struct hash_key *key, const u64 frames[FRAMES])
{
	u64 hash = hash_mix(key, hash_begin(key, 0), FRAMES);

	for (int i = 0; i < FRAMES; i++)
		hash = hash_mix(key, hash, frames[i]);
	return hash;
}

static u64 next_random(u64 *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* The second frame undoes the difference that the first one makes to the hash. Tries again until
 * the second frame is a possible address. */
static void make_collide(u64 *random, u64 one[FRAMES], u64 other[FRAMES])
{
	const u64 addresses = (1ULL << ADDRESS_BITS) - 1;
	u64 begin = hash_mix(&known, hash_begin(&known, 0), FRAMES), change;

	do {
		one[0] = next_random(random) & addresses;
		other[0] = next_random(random) & addresses;
		change = hash_mix(&known, begin, one[0]) ^ hash_mix(&known, begin, other[0]);
	} while (change & ~addresses || one[0] == other[0]);
	one[1] = next_random(random) & addresses;
	other[1] = one[1] ^ change;
	one[2] = other[2] = next_random(random) & addresses;
}

START_TEST(made_to_collide)
{
	u64 random = 88172645463325252, one[FRAMES], other[FRAMES];

	make_collide(&random, one, other);
	ck_assert_uint_eq(key_of(&known, one), key_of(&known, other));
	for (int i = 0; i < KEYS; i++) {
		const struct hash_key key = {next_random(&random), next_random(&random) | 1};

		ck_assert_uint_ne(key_of(&key, one), key_of(&key, other));
	}
}
END_TEST

/* The key of one start of the daemon says nothing about the key of the next start. */
START_TEST(each_start_has_keys_of_its_own)
{
	static const u64 frames[FRAMES] = {0x401000, 0x402000, 0x7f0000001000};
	const struct hash_key a = {1, 0x9e3779b97f4a7c15}, b = {2, 0x9e3779b97f4a7c15},
			      c = {1, 0x9e3779b97f4a7c17};

	ck_assert_uint_ne(key_of(&a, frames), key_of(&b, frames));
	ck_assert_uint_ne(key_of(&a, frames), key_of(&c, frames));
}
END_TEST

Suite *stack_keys_suite(void)
{
	Suite *suite = suite_create("stack_keys");
	TCase *tcase = tcase_create("stack_keys");

	tcase_add_test(tcase, made_to_collide);
	tcase_add_test(tcase, each_start_has_keys_of_its_own);
	suite_add_tcase(suite, tcase);
	return suite;
}
