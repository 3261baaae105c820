/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which of a kernel's types are kept: those that are named, whole, with the types that they
 * contain, but not the types that they point to.
 */
#include "base/cleanup.h"
#include "kernel/bpf_types.h"
#include "tests/unit/suites.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

DEFINE_CLEANUP(struct btf *, btf__free)

enum { TASK_BYTES = 40, RED = 7 };

static int add_struct(struct btf *btf, const char *name, uint32_t bytes)
{
	int number = btf__add_struct(btf, name, bytes);

	ck_assert_int_gt(number, 0);
	return number;
}

/* Adds a member to the struct that was added last. */
static void add_member(struct btf *btf, const char *name, int type, uint32_t byte)
{
	ck_assert_int_eq(btf__add_field(btf, name, type, byte * 8, 0), 0);
}

/* The types of a kernel whose struct task contains a list, an array of words, a pointer to a mind,
 * a colour and a pointer to a function. */
static struct btf *some_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int word = btf__add_typedef(btf, "word", number);
	int words = btf__add_array(btf, number, word, 3);
	int call = btf__add_ptr(btf, btf__add_func_proto(btf, number));
	int mind = add_struct(btf, "mind", 4);
	int to_mind = btf__add_const(btf, btf__add_ptr(btf, mind));
	int colour = btf__add_enum(btf, "colour", 4);
	int list;

	ck_assert_int_eq(btf__add_enum_value(btf, "RED", RED), 0);
	list = add_struct(btf, "list", 4);
	add_member(btf, "first", word, 0);
	add_struct(btf, "task", TASK_BYTES);
	add_member(btf, "list", list, 0);
	add_member(btf, "words", words, 4);
	add_member(btf, "mind", to_mind, 16);
	add_member(btf, "colour", colour, 24);
	add_member(btf, "call", call, 32);
	add_struct(btf, "unrelated", 4);
	add_member(btf, "number", number, 0);
	return btf;
}

/* Writes the raw BTF into a file in memory. */
static int write_raw(const struct btf *btf)
{
	int fd = memfd_create("test", 0);
	uint32_t bytes = 0;
	const void *raw = btf__raw_data(btf, &bytes);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, raw, bytes), bytes);
	return fd;
}

/* Writes and reads back the kernel's types for programs that name one type. */
static int keep(const struct btf *kernel, const char *name, struct btf **ret_kept)
{
	char from[64], to[64];
	_cleanup_(btf__freep) struct btf *ours = btf__new_empty();
	_cleanup_close_ int kernel_fd = write_raw(kernel);
	_cleanup_close_ int kept_fd = memfd_create("test", 0);
	int err;

	add_struct(ours, name, 1);
	snprintf(from, sizeof(from), "/proc/self/fd/%d", kernel_fd);
	err = bpf_types_write(ours, from, kept_fd);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", kept_fd);
	*ret_kept = err ? NULL : btf__parse(to, NULL);
	return err;
}

static const struct btf_type *type_of_member(const struct btf *btf, const char *name, uint16_t i)
{
	int number = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_member *members;

	ck_assert_int_gt(number, 0);
	members = btf_members(btf__type_by_id(btf, (uint32_t)number));
	return btf__type_by_id(btf, members[i].type);
}

START_TEST(test_named_types_are_whole)
{
	_cleanup_(btf__freep) struct btf *kernel = some_kernel(), *kept = NULL;
	const struct btf_type *task, *member;

	/* A variant of a type has the type's name with a suffix. */
	ck_assert_int_eq(keep(kernel, "task___before", &kept), 0);
	task = btf__type_by_id(kept,
	                       (uint32_t)btf__find_by_name_kind(kept, "task", BTF_KIND_STRUCT));
	ck_assert_uint_eq(task->size, TASK_BYTES);
	ck_assert_uint_eq(btf_vlen(task), 5);
	ck_assert_str_eq(btf__name_by_offset(kept, btf_members(task)[4].name_off), "call");
	ck_assert_uint_eq(btf_member_bit_offset(task, 4), 32 * 8);

	member = type_of_member(kept, "task", 0);
	ck_assert_str_eq(btf__name_by_offset(kept, member->name_off), "list");
	member = type_of_member(kept, "list", 0);
	ck_assert(btf_is_typedef(member));
	ck_assert(btf_is_int(btf__type_by_id(kept, member->type)));
	member = type_of_member(kept, "task", 1);
	ck_assert_uint_eq(btf_array(member)->nelems, 3);
	ck_assert(btf_is_typedef(btf__type_by_id(kept, btf_array(member)->type)));
	member = type_of_member(kept, "task", 3);
	ck_assert_int_eq(btf_enum(member)->val, RED);
}
END_TEST

START_TEST(test_pointers_are_of_void)
{
	_cleanup_(btf__freep) struct btf *kernel = some_kernel(), *kept = NULL;
	const struct btf_type *member;

	ck_assert_int_eq(keep(kernel, "task", &kept), 0);
	member = type_of_member(kept, "task", 2);
	ck_assert(btf_is_const(member));
	member = btf__type_by_id(kept, member->type);
	ck_assert(btf_is_ptr(member));
	ck_assert_uint_eq(member->type, 0);
	ck_assert_int_lt(btf__find_by_name(kept, "mind"), 0);
	ck_assert_uint_eq(type_of_member(kept, "task", 4)->type, 0);
}
END_TEST

START_TEST(test_what_nobody_names_is_left_out)
{
	_cleanup_(btf__freep) struct btf *kernel = some_kernel(), *kept = NULL, *nothing = NULL;

	ck_assert_int_eq(keep(kernel, "list", &kept), 0);
	ck_assert_int_gt(btf__find_by_name(kept, "list"), 0);
	ck_assert_int_lt(btf__find_by_name(kept, "task"), 0);
	ck_assert_int_lt(btf__find_by_name(kept, "unrelated"), 0);
	/* The kernel lacks this type: nothing is kept, and loading the programs reports what they
	 * lack. */
	ck_assert_int_eq(keep(kernel, "tas", &nothing), 0);
	ck_assert_uint_eq(btf__type_cnt(nothing), 1);
}
END_TEST

START_TEST(test_types_that_are_none)
{
	_cleanup_(btf__freep) struct btf *kernel = some_kernel(), *ours = btf__new_empty();
	struct btf *kept;

	add_struct(kernel, "torn", 4);
	add_member(kernel, "beyond", 99999, 0);
	ck_assert_int_eq(keep(kernel, "torn", &kept), -EINVAL);
	ck_assert_int_eq(bpf_types_write(ours, "/proc/self/none", 1), -ENOENT);
	ck_assert_int_eq(bpf_types_write(NULL, "/proc/self/none", 1), -EINVAL);
	ck_assert_int_lt(bpf_types_write(ours, "/proc/self/status", 1), 0);
}
END_TEST

Suite *bpf_types_suite(void)
{
	Suite *suite = suite_create("bpf_types");
	TCase *test = tcase_create("all");

	tcase_add_test(test, test_named_types_are_whole);
	tcase_add_test(test, test_pointers_are_of_void);
	tcase_add_test(test, test_what_nobody_names_is_left_out);
	tcase_add_test(test, test_types_that_are_none);
	suite_add_tcase(suite, test);
	return suite;
}
