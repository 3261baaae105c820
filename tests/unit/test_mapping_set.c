/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_set beside a plain list of pages, under random changes; what sets share; the
 * memory that they are charged, and to which user.
 */
#include "proc/mapping_set.h"
#include "base/bounds.h"
#include "proc/owner.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAGES = 3000, CHANGES = 20000, USER = 1000, PAGE = 4096 };

/* The object that is mapped at each page (0: none), and the file offset of the page. */
struct model {
	uint32_t object[PAGES];
	uint64_t offset[PAGES];
};

static void add(struct mapping_set **set, uint64_t first, uint64_t count, uint32_t object)
{
	const struct proc_mapping mapping = {.start = first * PAGE,
	                                     .end = (first + count) * PAGE,
	                                     .offset = (uint64_t)object << 32,
	                                     .object = object,
	                                     .path = "/bin/file"};

	ck_assert_int_eq(mapping_set_add(set, &mapping), 0);
}

static void add_to_model(struct model *model, uint64_t first, uint64_t count, uint32_t object)
{
	for (uint64_t page = first; page < first + count; page++) {
		model->object[page] = object;
		model->offset[page] = ((uint64_t)object << 32) + (page - first) * PAGE;
	}
}

static const struct proc_mapping *last_before(const struct mapping_set *set, uint64_t address)
{
	const struct proc_mapping *last = NULL, *mapping;

	for (size_t i = 0; (mapping = mapping_set_at(set, i)) && mapping->end <= address; i++)
		last = mapping;
	return last;
}

static void compare(const struct mapping_set *set, const struct model *model)
{
	const struct proc_mapping *before = NULL;
	uint64_t covered = 0, wanted = 0;

	for (uint64_t page = 0; page < PAGES; page++) {
		const struct proc_mapping *found = mapping_set_find(set, page * PAGE + 7);

		ck_assert_uint_eq(found ? found->object : 0, model->object[page]);
		if (found)
			ck_assert_uint_eq(found->offset + page * PAGE - found->start,
			                  model->offset[page]);
		wanted += model->object[page] != 0;
		found = mapping_set_before(set, page * PAGE);
		ck_assert_ptr_eq(found, last_before(set, page * PAGE));
	}
	for (size_t i = 0; i < mapping_set_count(set); i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);

		ck_assert_ptr_nonnull(mapping);
		ck_assert_uint_lt(mapping->start, mapping->end);
		if (before)
			ck_assert_uint_le(before->end, mapping->start);
		covered += (mapping->end - mapping->start) / PAGE;
		before = mapping;
	}
	ck_assert_uint_eq(covered, wanted);
	ck_assert_ptr_null(mapping_set_at(set, mapping_set_count(set)));
}

/* A second reference, taken halfway, shares the contents of that moment and does not change. */
START_TEST(like_a_list_of_pages)
{
	static struct model model, kept_model;
	struct mapping_room room = {.shares.whole = 64 << 20};
	struct mapping_set *set = mapping_set_new(&room), *kept = NULL;

	memset(&model, 0, sizeof(model));
	srandom((unsigned)_i + 1);
	mapping_set_own(set, USER);
	for (int i = 1; i <= CHANGES; i++) {
		uint64_t count =
			random() % 4 ? 1 + (uint64_t)random() % 3 : 1 + (uint64_t)random() % 200;
		uint64_t first = (uint64_t)random() % (PAGES - count);

		add(&set, first, count, (uint32_t)i);
		add_to_model(&model, first, count, (uint32_t)i);
		if (i == CHANGES / 2) {
			kept = mapping_set_ref(set);
			kept_model = model;
		}
	}
	compare(set, &model);
	compare(kept, &kept_model);
	ck_assert(!mapping_set_equal(set, kept));
	ck_assert_uint_ne(mapping_set_serial(set), mapping_set_serial(kept));
	mapping_set_unref(kept);
	mapping_set_unref(set);
	ck_assert_uint_eq(room.shares.taken, 0);
	shares_clear(&room.shares);
}
END_TEST

static struct mapping_set *set_of(struct mapping_room *room, uint32_t user, size_t count)
{
	struct mapping_set *set = mapping_set_new(room);

	mapping_set_own(set, user);
	for (size_t i = 0; i < count; i++)
		add(&set, 2 * i, 1, 1);
	return set;
}

/* 93 forks of a process with 50,000 mappings, each of which maps one more. */
START_TEST(forks_share_what_they_do_not_change)
{
	enum { FORKS = 93, MAPPINGS = 50000 };
	struct mapping_room room = {.shares.whole = MAX_MAPPING_BYTES};
	struct mapping_set *parent = set_of(&room, USER, MAPPINGS), *children[FORKS];
	uint64_t alone = room.shares.taken;

	ck_assert_uint_lt(alone, 5 << 20);
	for (int i = 0; i < FORKS; i++) {
		children[i] = mapping_set_ref(parent);
		add(&children[i], 2 * (uint64_t)i * 500 + 1, 1, 2);
	}
	/* Each fork has its own list of chunks, and one or two chunks. */
	ck_assert_uint_lt(room.shares.taken - alone, FORKS * 48 << 10);
	ck_assert_uint_eq(mapping_set_count(parent), MAPPINGS);
	for (int i = 0; i < FORKS; i++) {
		ck_assert_uint_eq(mapping_set_count(children[i]), MAPPINGS + 1);
		mapping_set_unref(children[i]);
	}
	ck_assert_uint_eq(room.shares.taken, alone);
	mapping_set_unref(parent);
	ck_assert_uint_eq(room.shares.taken, 0);
	shares_clear(&room.shares);
}
END_TEST

/* Adds mappings with long, different paths until one is refused. Returns the number added. */
static size_t fill(struct mapping_set **set, char first)
{
	char path[MAX_PATH_BYTES];
	size_t added = 0;

	memset(path, first, sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (;; added++) {
		const struct proc_mapping mapping = {
			.start = 2 * added * PAGE, .end = (2 * added + 1) * PAGE, .path = path};

		snprintf(path + 1, 16, "%014zu", added);
		path[15] = first;
		if (mapping_set_add(set, &mapping))
			return added;
	}
}

START_TEST(a_user_cannot_take_what_is_left_for_others)
{
	struct mapping_room room = {.shares.whole = 16 << 20};
	struct mapping_set *first = mapping_set_new(&room), *second = mapping_set_new(&room);
	size_t of_first, of_second;

	mapping_set_own(first, USER);
	mapping_set_own(second, USER + 1);
	of_first = fill(&first, 'a');
	ck_assert_uint_gt(of_first, 1500);
	ck_assert_uint_lt(room.shares.taken, 9 << 20);
	ck_assert_uint_eq(mapping_set_count(first), of_first);
	of_second = fill(&second, 'b');
	ck_assert_uint_gt(of_second, of_first / 3);
	ck_assert_uint_lt(room.shares.taken, 16 << 20);
	ck_assert_uint_ge(room.refused, 2);
	mapping_set_unref(first);
	mapping_set_unref(second);
	ck_assert_uint_eq(room.shares.taken, 0);
	shares_clear(&room.shares);
}
END_TEST

START_TEST(owners_are_asked_for_where_it_matters)
{
	struct mapping_room room = {.shares.whole = MAX_MAPPING_BYTES};
	struct mapping_set *set = mapping_set_new(&room);

	ck_assert(!mapping_set_wants_owner(set));
	for (uint64_t i = 0; i < 200; i++)
		add(&set, 2 * i, 1, 1);
	ck_assert(mapping_set_wants_owner(set));
	mapping_set_own(set, USER);
	ck_assert(!mapping_set_wants_owner(set));
	/* When room is short, even the smallest set wants an owner. */
	struct mapping_set *small = mapping_set_new(&room);
	ck_assert(!mapping_set_wants_owner(small));
	ck_assert(shares_take(&room.shares, USER + 1, MAX_MAPPING_BYTES / 3));
	ck_assert(mapping_set_wants_owner(small));
	mapping_set_unref(small);
	mapping_set_unref(set);
	shares_clear(&room.shares);
}
END_TEST

START_TEST(tickets_become_objects_in_all_that_share_them)
{
	const uint32_t ticket = 1U << 31 | 5, other = 1U << 31 | 6;
	const struct opened opened[] = {{ticket, 7}, {other + 1, 9}}, late[] = {{other, 8}};
	const struct opened_batch first = {opened, 2, 1}, second = {late, 1, 2};
	struct mapping_set *parent = mapping_set_new(NULL), *child;

	add(&parent, 0, 1, 1);
	add(&parent, 2, 1, ticket);
	child = mapping_set_ref(parent);
	add(&child, 4, 1, other);
	ck_assert(mapping_set_has_any_of(parent, &first));
	ck_assert(mapping_set_has_any_of(child, &first));
	uint64_t serial = mapping_set_serial(child);
	mapping_set_replace(parent, &first);
	mapping_set_replace(child, &first);
	ck_assert_uint_ne(mapping_set_serial(child), serial);
	/* The same set in another process: replacing again changes nothing. */
	serial = mapping_set_serial(child);
	mapping_set_replace(child, &first);
	ck_assert_uint_eq(mapping_set_serial(child), serial);
	ck_assert_uint_eq(mapping_set_at(parent, 1)->object, 7);
	ck_assert_uint_eq(mapping_set_at(child, 1)->object, 7);
	ck_assert_uint_eq(mapping_set_at(child, 2)->object, other);
	ck_assert(!mapping_set_has_tickets(parent));
	ck_assert(mapping_set_has_tickets(child));
	ck_assert(!mapping_set_has_any_of(parent, &second));
	ck_assert(mapping_set_has_any_of(child, &second));
	/* A ticket whose mapping is replaced is no longer waited for. */
	add(&child, 4, 1, 3);
	ck_assert(!mapping_set_has_tickets(child));
	mapping_set_unref(parent);
	mapping_set_unref(child);
}
END_TEST

Suite *mapping_set_suite(void)
{
	Suite *suite = suite_create("mapping_set");
	TCase *sets = tcase_create("sets");

	tcase_add_loop_test(sets, like_a_list_of_pages, 0, 3);
	tcase_add_test(sets, forks_share_what_they_do_not_change);
	tcase_add_test(sets, a_user_cannot_take_what_is_left_for_others);
	tcase_add_test(sets, owners_are_asked_for_where_it_matters);
	tcase_add_test(sets, tickets_become_objects_in_all_that_share_them);
	tcase_set_timeout(sets, 60);
	suite_add_tcase(suite, sets);
	return suite;
}
