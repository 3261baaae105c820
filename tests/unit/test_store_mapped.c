/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct store with files that this process maps: deleted, replaced, under another name, or no
 * file.
 */
#include "object/kernel_file.h"
#include "object/store.h"
#include "tests/unit/store_files.h"
#include "tests/unit/lacks.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>

/* The addresses at which the kernel lists the mapping of a path. */
static void find_mapping(const char *path, uint64_t *ret_start, uint64_t *ret_end)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	*ret_start = *ret_end = 0;
	while (getline(&line, &size, maps) > 0) {
		if (strstr(line, path))
			sscanf(line, "%" SCNx64 "-%" SCNx64, ret_start, ret_end);
	}
	fclose(maps);
}

START_TEST(deleted_but_mapped)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key;
	uint64_t start, end;
	char deleted[160];

	/* map_files requires a capability. */
	if (host_lacks(geteuid() == 0, "root"))
		return;
	const char *path = make_file(0, 1, &key);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	unlink(path);
	find_mapping(path, &start, &end);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	const struct object *object = open_mapped(store, &key, start, end, deleted);
	ck_assert_ptr_nonnull(object);
	ck_assert_str_eq(object->path, path);
	/* Another mapping at the same address. */
	key.inode++;
	key.generation++;
	ck_assert_ptr_null(open_mapped(store, &key, start, end, "/usr/bin/other"));
	munmap(mapped, 4096);
}
END_TEST

/* An upgrade while a process runs the old file: both files exist under one name. */
START_TEST(replaced_but_mapped)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key old_key, new_key;
	uint64_t start, end;
	char name[128], other[128];

	if (host_lacks(geteuid() == 0, "root"))
		return;
	snprintf(name, sizeof(name), "%s", make_file(0, 1, &old_key));
	_cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	snprintf(other, sizeof(other), "%s", make_file(1, 50, &new_key));
	ck_assert_int_eq(rename(other, name), 0);
	find_mapping(name, &start, &end);

	const struct object *old = open_mapped(store, &old_key, start, end, name);
	ck_assert_ptr_nonnull(old);
	ck_assert_int_eq(strncmp(old->build_id, "0102", 4), 0);
	ck_assert_uint_eq(old->pid, (uint32_t)getpid());
	const struct object *new = open_path(store, &new_key, name);
	ck_assert_ptr_nonnull(new);
	ck_assert_int_eq(strncmp(new->build_id, "3233", 4), 0);
	ck_assert_str_eq(new->path, name);
	munmap(mapped, 4096);
}
END_TEST

/* A process that maps another file, under the name of a file that was seen elsewhere, gets the file
 * that it maps. All other processes still get the file that was seen first. */
START_TEST(a_file_of_that_name_in_another_place)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key, his_key;
	char theirs[128], his_folder[128], his[160];
	uint64_t start, end;

	if (host_lacks(geteuid() == 0, "root"))
		return;
	snprintf(theirs, sizeof(theirs), "%s", make_file(0, 1, &key));
	snprintf(his_folder, sizeof(his_folder), "%s/his", folder);
	snprintf(his, sizeof(his), "%s/0", his_folder);
	ck_assert_int_eq(mkdir(his_folder, 0700), 0);
	ck_assert_int_eq(rename(make_file(1, 50, &his_key), his), 0);
	_cleanup_close_ int fd = open(his, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	find_mapping(his, &start, &end);

	const struct object *object = open_mapped(store, &key, start, end, theirs);
	ck_assert_ptr_nonnull(object);
	ck_assert_int_eq(strncmp(object->build_id, "3233", 4), 0);
	object = open_path(store, &key, theirs);
	ck_assert_ptr_nonnull(object);
	ck_assert_int_eq(strncmp(object->build_id, "0102", 4), 0);
	ck_assert_str_eq(object->path, theirs);
	munmap(mapped, 4096);
	unlink(his);
	rmdir(his_folder);
}
END_TEST

START_TEST(what_is_no_file_says_nothing_of_others)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key;
	uint64_t start, end;
	char path[128];

	if (host_lacks(geteuid() == 0, "root"))
		return;
	snprintf(path, sizeof(path), "%s", make_file(0, 1, &key));
	_cleanup_close_ int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	find_mapping("/dev/zero", &start, &end);
	ck_assert_ptr_null(open_mapped(store, &key, start, end, path));
	ck_assert_ptr_nonnull(open_path(store, &key, path));
	munmap(mapped, 4096);
}
END_TEST

/* Another device number makes it another file. */
START_TEST(the_same_inode_of_another_device)
{
	_cleanup_(store_freep) struct store *store = store_new(10);
	struct file_key key, other;
	const char *path = make_file(0, 1, &key);

	other = key;
	other.minor++;
	ck_assert_ptr_nonnull(open_path(store, &other, path));
	unlink(path);
	ck_assert_ptr_null(open_path(store, &other, path));
}
END_TEST

/* The other file may be one that the user cannot read, reached through a symbolic link. */
START_TEST(another_file_only_for_who_may_read_it)
{
	struct file_key key;
	const char *path = make_file(0, 1, &key);
	struct place place = {.pid = (uint32_t)getpid(), .user = geteuid() + 1, .path = path};
	bool is_it;

	place.file = (struct kernel_file){
		.major = key.major, .minor = key.minor + 1, .inode = key.inode};
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_int_eq(reach_open(&place, &is_it), -ESTALE);
	place.user = geteuid();
	_cleanup_close_ int own = reach_open(&place, &is_it);
	ck_assert_int_ge(own, 0);
	place.user = geteuid() + 1;
	ck_assert_int_eq(chmod(path, 0755), 0);
	_cleanup_close_ int readable = reach_open(&place, &is_it);
	ck_assert_int_ge(readable, 0);
	ck_assert(!is_it);
}
END_TEST

START_TEST(the_kernel_s_numbers)
{
	static const char maps[] =
		"1000-2000 r-xp 00000000 08:01 77   /bin/x\n"
		"2000-3000 ---p 00003000 00:2a 78\n"
		"broken\n3000-4000 r-xp\n"
		"7f00000000-7f00001000 rw-p 00000000 103:1f 1234567890123 /y z\n";
	struct kernel_file file;

	ck_assert(kernel_file_find(maps, sizeof(maps) - 1, 0x1fff, &file));
	ck_assert_uint_eq(file.inode, 77);
	ck_assert(kernel_file_find(maps, sizeof(maps) - 1, 0x2000, &file));
	ck_assert(file.major == 0 && file.minor == 0x2a && file.inode == 78);
	ck_assert(!kernel_file_find(maps, sizeof(maps) - 1, 0x3000, &file));
	ck_assert(kernel_file_find(maps, sizeof(maps) - 1, 0x7f00000123, &file));
	ck_assert(file.major == 0x103 && file.minor == 0x1f && file.inode == 1234567890123);
	ck_assert(!kernel_file_find(maps, 40, 0x2000, &file));
	ck_assert(!kernel_file_find(maps, 0, 0x2000, &file));
}
END_TEST

/* Code in memory without a file system: a memfd, and unlinked shared memory. */
START_TEST(memory_files)
{
	static const char *const names[] = {"/memfd:profd-test", "/dev/shm/profd-test"};

	if (host_lacks(geteuid() == 0, "root"))
		return;
	for (int i = 0; i < 2; i++) {
		_cleanup_(store_freep) struct store *store = store_new(10);
		struct file_key key = {.generation = 1};
		struct elf_image image;
		uint64_t start, end;
		struct stat st;
		char path[64];

		_cleanup_close_ int fd =
			i ? shm_open("/profd-test", O_RDWR | O_CREAT | O_EXCL, 0600)
			  : memfd_create("profd-test", MFD_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		if (i)
			shm_unlink("/profd-test");
		elf_image_init(&image, 1);
		ck_assert_int_eq(write(fd, &image, sizeof(image)), sizeof(image));
		ck_assert_int_eq(fstat(fd, &st), 0);
		key.inode = st.st_ino;
		void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		ck_assert_ptr_ne(mapped, MAP_FAILED);
		find_mapping(names[i], &start, &end);
		snprintf(path, sizeof(path), "%s (deleted)", names[i]);
		const struct object *object = open_mapped(store, &key, start, end, path);
		ck_assert_ptr_nonnull(object);
		ck_assert_str_eq(object->path, names[i]);
		munmap(mapped, 4096);
	}
}
END_TEST

Suite *store_mapped_suite(void)
{
	Suite *suite = suite_create("store_mapped");
	TCase *tcase = tcase_create("store_mapped");

	tcase_add_checked_fixture(tcase, make_folder, remove_folder);
	tcase_add_test(tcase, deleted_but_mapped);
	tcase_add_test(tcase, replaced_but_mapped);
	tcase_add_test(tcase, a_file_of_that_name_in_another_place);
	tcase_add_test(tcase, what_is_no_file_says_nothing_of_others);
	tcase_add_test(tcase, the_same_inode_of_another_device);
	tcase_add_test(tcase, another_file_only_for_who_may_read_it);
	tcase_add_test(tcase, the_kernel_s_numbers);
	tcase_add_test(tcase, memory_files);
	suite_add_tcase(suite, tcase);
	return suite;
}
