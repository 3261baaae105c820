/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares of the room for stacks: a user with deep stacks that are new at each tick leaves room for
 * other users, as with a ring buffer.
 */
#include "tests/bpf/suites.h"
#include "tests/bpf/walker.h"

enum { ROOM = 1000, OTHERS_ROOM = 200, DEEP = 32 * NODE_FRAMES, HIM = 1000, HER = 1001 };

/* Stores a stack of `len` frames that was never stored before. */
static u64 store_new(struct walker_nodes *nodes, u32 uid, bool is_tick, u32 len)
{
	static u64 next = 0x400000;
	u64 frames[DEEP];

	for (u32 i = 0; i < len; i++)
		frames[i] = next++;
	return walker_store_x86(nodes, uid, is_tick, frames, len);
}

/* Stores stacks until one is lost; returns the number of nodes added. */
static u32 fill(struct walker_nodes *nodes, u32 uid, bool is_tick, u32 len)
{
	u32 before = nodes->count, at_most = ROOM;

	while (store_new(nodes, uid, is_tick, len) != STACK_LOST)
		ck_assert_uint_gt(at_most--, 0);
	return nodes->count - before;
}

START_TEST(one_user_leaves_room)
{
	struct walker_nodes nodes = {.room = ROOM, .others_room = OTHERS_ROOM};
	u32 his = fill(&nodes, HIM, true, DEEP), hers, roots;

	/* A quarter of the map, and half of the rest without root's eighth. */
	ck_assert_uint_ge(his, ROOM / 2);
	ck_assert_uint_le(his, ROOM * 9 / 16 + 1);
	ck_assert_uint_eq(nodes.over_share, 1);
	ck_assert_uint_eq(fill(&nodes, HIM, true, NODE_FRAMES), 0);
	hers = fill(&nodes, HER, true, NODE_FRAMES);
	ck_assert_uint_ge(hers, ROOM / 7);
	for (u32 uid = HER + 1; uid < HER + 40; uid++)
		fill(&nodes, uid, true, DEEP);
	roots = fill(&nodes, 0, true, NODE_FRAMES);
	ck_assert_uint_ge(roots, ROOM / 16);
	ck_assert_uint_lt(nodes.count, ROOM);
}
END_TEST

START_TEST(what_is_there_is_found_by_all)
{
	struct walker_nodes nodes = {.room = ROOM, .others_room = OTHERS_ROOM};
	static const u64 frames[] = {0x1000, 0x2000, 0x3000};
	u64 id = walker_store_x86(&nodes, HIM, true, frames, 3);

	fill(&nodes, HIM, true, DEEP);
	ck_assert_uint_eq(walker_store_x86(&nodes, HIM, true, frames, 3), id);
	ck_assert_uint_eq(walker_store_arm64(&nodes, HER, true, frames, 3), id);
}
END_TEST

/* While less than a quarter of the room is taken, nodes are not counted by account, and ticks may
 * also use the part of the other samples. */
START_TEST(counts_nobody_while_there_is_much)
{
	struct walker_nodes nodes = {.room = ROOM, .others_room = OTHERS_ROOM};

	while (nodes.count < ROOM / 4)
		ck_assert_uint_ne(store_new(&nodes, HIM, true, NODE_FRAMES), STACK_LOST);
	for (u32 i = 0; i < ACCOUNT_PLACES; i++)
		ck_assert_uint_eq(nodes.taken.of[i], 0);
	ck_assert_uint_eq(nodes.taken.all, nodes.count);
}
END_TEST

/* Samples that are not the timer's have a bounded part of the room. Once a quarter of that part is
 * taken, an account may have half of the rest, without root's eighth. */
START_TEST(others_have_their_part)
{
	struct walker_nodes nodes = {.room = ROOM, .others_room = OTHERS_ROOM};
	u32 his = fill(&nodes, HIM, false, DEEP), before;

	ck_assert_uint_ge(his, OTHERS_ROOM / 2);
	ck_assert_uint_le(his, OTHERS_ROOM * 9 / 16 + 1);
	ck_assert_uint_eq(nodes.over_share, 1);
	ck_assert_uint_eq(fill(&nodes, HIM, false, NODE_FRAMES), 0);
	ck_assert_uint_ge(fill(&nodes, HER, false, NODE_FRAMES), OTHERS_ROOM / 7);
	for (u32 uid = HER + 1; uid < HER + 40; uid++)
		fill(&nodes, uid, false, DEEP);
	ck_assert_uint_ge(fill(&nodes, 0, false, NODE_FRAMES), OTHERS_ROOM / 16);
	ck_assert_uint_eq(nodes.others_taken.all, nodes.count);
	ck_assert_uint_lt(nodes.count, OTHERS_ROOM);
	/* Ticks lose no room by that. */
	before = nodes.count;
	ck_assert_uint_ge(fill(&nodes, HIM, true, DEEP), (ROOM - before) / 3);
	/* But an account that has used up its share with ticks gets nothing here either. */
	nodes = (struct walker_nodes){.room = ROOM, .others_room = OTHERS_ROOM};
	fill(&nodes, HIM, true, DEEP);
	ck_assert_uint_eq(fill(&nodes, HIM, false, NODE_FRAMES), 0);
	ck_assert_uint_ge(fill(&nodes, HER, false, NODE_FRAMES), OTHERS_ROOM / 7);
}
END_TEST

Suite *stack_shares_suite(void)
{
	Suite *suite = suite_create("stack_shares");
	TCase *tcase = tcase_create("stack_shares");

	tcase_add_test(tcase, one_user_leaves_room);
	tcase_add_test(tcase, what_is_there_is_found_by_all);
	tcase_add_test(tcase, counts_nobody_while_there_is_much);
	tcase_add_test(tcase, others_have_their_part);
	suite_add_tcase(suite, tcase);
	return suite;
}
