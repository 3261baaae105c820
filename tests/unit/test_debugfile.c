/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Separate debug files found by the name in .gnu_debuglink, in a temporary folder: where they are
 * searched for, and which files are rejected.
 */
#include "tests/unit/debug_of.h"

#include "base/clock.h"
#include "object/debugfile.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { SEED = 0x51, OTHER_SEED = 0x52, LINK_BYTES = 40 };

/* An executable with the sections null, .gnu_debuglink, names. */
struct linked_image {
	struct elf_image elf;
	char link[LINK_BYTES];
	char names[32];
	Elf64_Shdr sections[3];
};

/* The test's folder, which contains a folder .debug. */
static char folder[] = "/tmp/profd-debugfile-XXXXXX";

static void set_up(void)
{
	char path[PATH_MAX];

	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/.debug", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void tear_down(void)
{
	static const char *const names[] = {".debug/x.debug", "x.debug", ".debug", ""};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
}

static void write_file(const char *name, const struct elf_image *image)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, image, sizeof(*image)), sizeof(*image));
}

static void put_debug_file(const char *name, uint8_t seed)
{
	struct elf_image image;

	elf_image_init(&image, seed);
	write_file(name, &image);
}

static void linked_image_init(struct linked_image *image, const void *link, size_t link_len)
{
	static const char names[] = "\0.gnu_debuglink\0.names";

	*image = (struct linked_image){0};
	elf_image_init(&image->elf, SEED);
	memcpy(image->link, link, link_len);
	memcpy(image->names, names, sizeof(names));
	image->elf.header.e_shoff = offsetof(struct linked_image, sections);
	image->elf.header.e_shstrndx = 2;
	image->sections[1] = (Elf64_Shdr){.sh_name = 1,
	                                  .sh_type = SHT_PROGBITS,
	                                  .sh_offset = offsetof(struct linked_image, link),
	                                  .sh_size = link_len};
	image->sections[2] = (Elf64_Shdr){.sh_name = 16,
	                                  .sh_type = SHT_STRTAB,
	                                  .sh_offset = offsetof(struct linked_image, names),
	                                  .sh_size = sizeof(image->names)};
}

/* The file found for a program with that image in the folder: "", or a path relative to the
 * folder. */
static const char *search_image(const struct linked_image *image, int *ret_err)
{
	static char found[PATH_MAX];
	_cleanup_(object_unrefp) struct object *object = NULL, *debug = NULL;
	char path[PATH_MAX];

	found[0] = '\0';
	snprintf(path, sizeof(path), "%s/program", folder);
	ck_assert_int_eq(object_open_bytes(image, sizeof(*image), path, &object), 0);
	*ret_err = debug_of(object, &debug);
	if (*ret_err) {
		ck_assert_ptr_null(debug);
		return found;
	}
	ck_assert_str_eq(debug->build_id, object->build_id);
	ck_assert_int_eq(strncmp(debug->path, folder, strlen(folder)), 0);
	snprintf(found, sizeof(found), "%s", debug->path + strlen(folder));
	return found;
}

static void check(const char *name, const char *wanted)
{
	struct linked_image image;
	int err;

	linked_image_init(&image, name, strlen(name) + 1);
	ck_assert_str_eq(search_image(&image, &err), wanted);
	ck_assert_int_eq(err, *wanted ? 0 : -ENOENT);
}

START_TEST(beside_the_file_and_below)
{
	check("x.debug", "");
	put_debug_file(".debug/x.debug", SEED);
	check("x.debug", "/.debug/x.debug");
	put_debug_file("x.debug", SEED);
	check("x.debug", "/x.debug");
	check("y.debug", "");
}
END_TEST

START_TEST(another_build)
{
	put_debug_file("x.debug", OTHER_SEED);
	check("x.debug", "");
	put_debug_file(".debug/x.debug", SEED);
	check("x.debug", "/.debug/x.debug");
	put_debug_file(".debug/x.debug", OTHER_SEED);
	check("x.debug", "");
}
END_TEST

START_TEST(names_that_are_none)
{
	struct linked_image image;
	char most[LINK_BYTES];
	int err;

	put_debug_file("x.debug", SEED);
	put_debug_file(".debug/x.debug", SEED);
	check(".debug/x.debug", "");
	check("./x.debug", "");
	check("/x.debug", "");
	check("", "");
	check(".", "");
	check("..", "");
	/* The name is not terminated. In real files the checksum follows the name. */
	linked_image_init(&image, "x.debug", strlen("x.debug"));
	ck_assert_str_eq(search_image(&image, &err), "");
	ck_assert_int_eq(err, -ENOENT);
	linked_image_init(&image, "x.debug\0\1\2\3\4", strlen("x.debug") + 5);
	ck_assert_str_eq(search_image(&image, &err), "/x.debug");
	memset(most, 'x', sizeof(most));
	linked_image_init(&image, most, sizeof(most));
	ck_assert_str_eq(search_image(&image, &err), "");
	/* The section ends beyond the end of the file. */
	linked_image_init(&image, "x.debug", strlen("x.debug") + 1);
	image.sections[1].sh_size = UINT64_MAX;
	ck_assert_str_eq(search_image(&image, &err), "");
	ck_assert_int_eq(err, -ENOENT);
}
END_TEST

START_TEST(not_files)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/x.debug", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* never written to */
	check("x.debug", "");
	put_debug_file(".debug/x.debug", SEED);
	check("x.debug", "/.debug/x.debug");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	check("x.debug", "/.debug/x.debug");
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(symlink("x.debug", path), 0);
	check("x.debug", "/.debug/x.debug");
}
END_TEST

/* There is nothing to identify the right file by, so none is accepted, not even one that has no
 * build ID either. */
START_TEST(without_a_build_id)
{
	struct linked_image image;
	struct elf_image debug;
	int err;

	linked_image_init(&image, "x.debug", strlen("x.debug") + 1);
	image.elf.header.e_phnum = 2;
	put_debug_file("x.debug", SEED);
	ck_assert_str_eq(search_image(&image, &err), "");
	ck_assert_int_eq(err, -ENOENT);
	elf_image_init(&debug, SEED);
	debug.header.e_phnum = 2;
	write_file("x.debug", &debug);
	ck_assert_str_eq(search_image(&image, &err), "");
	ck_assert_int_eq(err, -ENOENT);
	check("x.debug", "");
	/* A build ID of a single byte cannot be divided into a folder and a file name. */
	linked_image_init(&image, "x.debug", strlen("x.debug") + 1);
	image.elf.note.header.n_descsz = debug.note.header.n_descsz = 1;
	debug.header.e_phnum = 3;
	write_file("x.debug", &debug);
	ck_assert_str_eq(search_image(&image, &err), "");
	ck_assert_int_eq(err, -ENOENT);
}
END_TEST

/* A checksum that takes long is computed piece by piece, and from the beginning if the file has
 * changed in the meantime. */
START_TEST(a_large_file_is_believed_by_and_by)
{
	enum { LARGE = 64 << 20 };
	_cleanup_free_ uint8_t *bytes = calloc(1, LARGE);
	struct links links = {.debug_name = "x.debug", .has_checksum = true};
	struct debug_checks checks = {0};
	_cleanup_(object_unrefp) struct object *object = NULL, *debug = NULL;
	struct elf_image image;
	char path[PATH_MAX];
	int err, tries = 0;

	elf_image_init(&image, SEED);
	image.header.e_phnum = 2;
	snprintf(path, sizeof(path), "%s/program", folder);
	ck_assert_int_eq(object_open_bytes(&image, sizeof(image), path, &object), 0);
	write_file("x.debug", &image);
	snprintf(path, sizeof(path), "%s/x.debug", folder);
	ck_assert_int_eq(truncate(path, LARGE), 0);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, &image, sizeof(image));
	links.checksum = (uint32_t)crc32(0, bytes, LARGE);
	do {
		checks.left_ns = NSEC_PER_MSEC;
		err = debugfile_open_some(object, &links, &checks, &debug);
		ck_assert_int_lt(++tries, 10000);
	} while (err == -EAGAIN);
	ck_assert_int_eq(err, 0);
	ck_assert_int_gt(tries, 2);
	ck_assert_uint_eq(debug->size, LARGE);
	/* With no time left there is no answer yet. After that the changed file has a different
	 * checksum. */
	checks.left_ns = 0;
	ck_assert_int_eq(truncate(path, LARGE - 1), 0);
	object_unref(TAKE_PTR(debug));
	ck_assert_int_eq(debugfile_open_some(object, &links, &checks, &debug), -EAGAIN);
	checks.left_ns = 60 * NSEC_PER_SEC;
	ck_assert_int_eq(debugfile_open_some(object, &links, &checks, &debug), -ENOENT);
}
END_TEST

Suite *debugfile_suite(void)
{
	Suite *suite = suite_create("debugfile");
	TCase *tcase = tcase_create("debugfile");

	tcase_set_timeout(tcase, 10);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, beside_the_file_and_below);
	tcase_add_test(tcase, another_build);
	tcase_add_test(tcase, names_that_are_none);
	tcase_add_test(tcase, not_files);
	tcase_add_test(tcase, without_a_build_id);
	tcase_add_test(tcase, a_large_file_is_believed_by_and_by);
	suite_add_tcase(suite, tcase);
	return suite;
}
