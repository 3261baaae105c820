/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct store with files that the test makes: which files are one object, what is remembered, what
 * is dropped, and that another file of the same name never passes for one.
 */
#include "base/clock.h"
#include "elf/elf_symtab.h"
#include "object/store.h"
#include "tests/unit/lacks.h"
#include "tests/unit/store_files.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The time of the file advances by a second, because a coarse clock might not show the change. */
static void write_over(const char *path, int seed)
{
	struct elf_image image;
	struct stat st;

	elf_image_init(&image, (uint8_t)seed);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &image, sizeof(image)), sizeof(image));
	ck_assert_int_eq(fstat(fd, &st), 0);
	st.st_mtim.tv_sec++;
	ck_assert_int_eq(futimens(fd, (struct timespec[]){st.st_mtim, st.st_mtim}), 0);
}

START_TEST(one_object_per_file)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key, other_key;
	struct store_stats stats;

	const char *path = make_file(0, 1, &key);
	const struct object *object = open_path(store, &key, path);
	ck_assert_ptr_nonnull(object);
	ck_assert_str_eq(object->path, path);
	ck_assert_uint_ne(object->id, 0);
	/* Found by key, although the file is deleted. */
	unlink(path);
	ck_assert_ptr_eq(open_path(store, &key, path), object);
	/* Found by build ID. */
	path = make_file(1, 1, &other_key);
	ck_assert_ptr_eq(open_path(store, &other_key, path), object);
	/* Found by fstat(), without a generation. */
	other_key.generation = 0;
	ck_assert_ptr_eq(open_path(store, &other_key, path), object);
	path = make_file(2, 2, &other_key);
	ck_assert_ptr_ne(open_path(store, &other_key, path), object);
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.objects, 2);
	ck_assert_uint_eq(stats.opened, 2);
	ck_assert_uint_eq(stats.open_failed, 0);
}
END_TEST

/* As with cp: the inode is the same, and so is the key. */
START_TEST(a_file_that_was_written_into_is_another_one)
{
	struct file_key key;

	for (uint64_t generation = 0; generation < 2; generation++) {
		_cleanup_(store_freep) struct store *store = store_new(10);
		const char *path = make_file(0, 1, &key);

		key.generation = generation;
		const struct object *object = open_path(store, &key, path);
		ck_assert_ptr_nonnull(object);
		ck_assert_ptr_eq(open_path(store, &key, path), object);
		uint32_t id = object->id;
		write_over(path, 2);
		/* A file that was looked at a moment ago is not looked at again. */
		usleep(2000);
		object = open_path(store, &key, path);
		ck_assert_ptr_nonnull(object);
		ck_assert_uint_ne(object->id, id);
		unlink(path);
	}
}
END_TEST

/* Changes of links and permissions do not matter, and a file that can no longer be opened counts as
 * unchanged. */
START_TEST(a_file_that_was_touched_otherwise_is_the_same)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key;
	struct store_stats stats;

	const char *path = make_file(0, 1, &key);
	key.generation = 0;
	const struct object *object = open_path(store, &key, path);
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_ptr_eq(open_path(store, &key, path), object);
	unlink(path);
	ck_assert_ptr_eq(open_path(store, &key, path), object);
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.opened, 1);
	ck_assert_uint_eq(stats.open_failed, 0);
}
END_TEST

/* A user that maps a file with the C library's build ID first cannot replace the C library. */
START_TEST(the_same_build_id_of_another_owner)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key forged_key, key, copy_key;

	if (host_lacks(geteuid() == 0, "root"))
		return;
	const char *path = make_file(0, 1, &forged_key);
	ck_assert_int_eq(chown(path, 65534, 65534), 0);
	const struct object *forged = open_path(store, &forged_key, path);
	ck_assert_ptr_nonnull(forged);
	const struct object *object = open_path(store, &key, make_file(1, 1, &key));
	ck_assert_ptr_nonnull(object);
	ck_assert_ptr_ne(object, forged);
	ck_assert_uint_ne(object->id, forged->id);
	ck_assert_str_eq(object->build_id, forged->build_id);
	ck_assert_ptr_ne(open_path(store, &copy_key, make_file(2, 1, &copy_key)), forged);
}
END_TEST

/* One of three files is mapped, and one has samples. */
START_TEST(what_nobody_maps_is_closed)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct store_stats stats;
	struct file_key key;
	uint32_t ids[3];

	for (int i = 0; i < 3; i++) {
		const char *path = make_file(i, i, &key);

		ids[i] = open_path(store, &key, path)->id;
	}
	object_unref(store_get_sampled(store, ids[1]));
	/* All files were used a moment ago. */
	store_sweep_begin(store);
	store_sweep_end(store, 60 * NSEC_PER_SEC);
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.objects, 3);
	usleep(1000);
	store_sweep_begin(store);
	store_is_mapped(store, ids[0]);
	store_is_mapped(store, 12345);
	store_sweep_end(store, 1);
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.objects, 2);
	ck_assert_uint_eq(stats.unmapped, 1);
	ck_assert_ptr_null(store_get(store, ids[2]));
	/* This file was mapped only in the round before. */
	usleep(1000);
	store_sweep_begin(store);
	store_sweep_end(store, 1);
	ck_assert_ptr_null(store_get(store, ids[0]));
	struct object *sampled = store_get(store, ids[1]);
	ck_assert_ptr_nonnull(sampled);
	object_unref(sampled);
}
END_TEST

START_TEST(failures_are_remembered)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct store_stats stats;
	struct file_key key;

	const char *path = make_file(0, -1, &key);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_null(open_path(store, &key, path));
	key.generation = 99;
	ck_assert_ptr_null(open_path(store, &key, path));
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.open_failed, 1);
	ck_assert_uint_eq(stats.objects, 0);
}
END_TEST

START_TEST(another_file_of_that_name)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key;

	const char *path = make_file(0, 1, &key);
	key.inode++;
	ck_assert_ptr_null(open_path(store, &key, path));
	/* Not remembered, because the failure is not the file's fault. */
	key.inode--;
	ck_assert_ptr_nonnull(open_path(store, &key, path));
	ck_assert_ptr_null(open_named(store, "/nonexistent/x"));
	ck_assert_ptr_null(open_named(store, "/tmp"));
	ck_assert_ptr_null(open_named(store, "relative"));
}
END_TEST

START_TEST(no_files)
{
	static const char *const paths[] = {"",           "//anon",
	                                    "[heap]",     "[stack]",
	                                    "/dev/zero",  "/dev/zero (deleted)",
	                                    "/SYSV00000", "anon_inode:[perf_event]"};
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct store_stats stats;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_ptr_null(open_path(store, &(struct file_key){0}, paths[i]));
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.open_failed, 0);
}
END_TEST

START_TEST(evicts_what_was_used_longest_ago)
{
	/* One user may have half of the store. */
	_cleanup_(store_freep) struct store *store = store_new(4);
	struct store_stats stats;
	struct file_key keys[3];
	uint32_t ids[3];

	for (int i = 0; i < 2; i++)
		ids[i] = open_path(store, &keys[i], make_file(i, i, &keys[i]))->id;
	struct object *held = store_get(store, ids[1]);
	object_unref(store_get(store, ids[0]));
	ids[2] = open_path(store, &keys[2], make_file(2, 2, &keys[2]))->id;

	ck_assert_ptr_null(store_get(store, ids[1]));
	struct object *kept = store_get(store, ids[0]);
	ck_assert_ptr_nonnull(kept);
	object_unref(kept);
	/* A reference keeps the object alive. */
	ck_assert_uint_eq(held->id, ids[1]);
	object_unref(held);
	/* The file gets a new id when it comes back. */
	const struct object *again = open_path(store, &keys[1], make_file(1, 1, &keys[1]));
	ck_assert_uint_gt(again->id, ids[2]);
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.objects, 2);
	ck_assert_uint_eq(stats.evicted, 2);
	ck_assert_ptr_null(store_get(store, 0));
	ck_assert_ptr_null(store_get(store, UINT32_MAX));
}
END_TEST

START_TEST(many_files)
{
	_cleanup_(store_freep) struct store *store = store_new(6); /* one user may have half of
	                                                            * it */
	struct store_stats stats;
	struct file_key key;

	for (int i = 0; i < 200; i++) {
		const char *path = make_file(i % 8, i % 3 ? i : -1, &key);
		key.generation = (uint64_t)i + 1;
		ck_assert((open_path(store, &key, path) != NULL) == (i % 3 != 0));
	}
	store_get_stats(store, &stats);
	ck_assert_uint_eq(stats.objects, 3);
}
END_TEST

START_TEST(vdso)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	const struct object *object = open_path(store, &(struct file_key){0}, "[vdso]");
	struct symbol symbol;
	bool found = false;

	ck_assert_ptr_nonnull(object);
	ck_assert_str_eq(object->path, "[vdso]");
	ck_assert_ptr_eq(open_path(store, &(struct file_key){0}, "[vdso]"), object);
	_cleanup_(object_unrefp) struct object *held = store_get(store, object->id);
	const struct elf *const files[] = {held->elf};
	for (uint64_t at = 0; at < held->text.memory_bytes; at += 16) {
		_cleanup_(symtab_freep) struct symtab *symtab = NULL;
		uint64_t address = held->text.address + at;
		ck_assert_int_eq(elf_symtab_at(files, 1, &address, 1, &symtab), 0);
		found |= symtab_find(symtab, address, &symbol) &&
		         strstr(symbol.name, "clock_gettime");
	}
	ck_assert(found);
}
END_TEST

Suite *store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("store");

	tcase_add_checked_fixture(tcase, make_folder, remove_folder);
	tcase_add_test(tcase, one_object_per_file);
	tcase_add_test(tcase, the_same_build_id_of_another_owner);
	tcase_add_test(tcase, a_file_that_was_written_into_is_another_one);
	tcase_add_test(tcase, a_file_that_was_touched_otherwise_is_the_same);
	tcase_add_test(tcase, what_nobody_maps_is_closed);
	tcase_add_test(tcase, failures_are_remembered);
	tcase_add_test(tcase, another_file_of_that_name);
	tcase_add_test(tcase, no_files);
	tcase_add_test(tcase, evicts_what_was_used_longest_ago);
	tcase_add_test(tcase, many_files);
	tcase_add_test(tcase, vdso);
	suite_add_tcase(suite, tcase);
	return suite;
}
