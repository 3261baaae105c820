/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct object: what it knows, the ownership of its descriptor, and its symbols as a table.
 */
#include "elf/elf_symtab.h"
#include "object/object.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The symbol that covers the address; "-" when none does. */
static const char *find(const struct object *object, uint64_t address)
{
	const struct elf *const files[] = {object->elf};
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	static char name[64];
	struct symbol symbol;

	ck_assert_int_eq(elf_symtab_at(files, 1, &address, 1, &symtab), 0);
	snprintf(name, sizeof(name), "%s",
	         symtab_find(symtab, address, &symbol) ? symbol.name : "-");
	return name;
}

START_TEST(from_a_descriptor)
{
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct elf_image image;
	uint64_t address = 1;

	elf_image_init(&image, 0xa0);
	int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(object_open_fd(fd, "/opt/program", &object), 0);
	ck_assert_str_eq(object->path, "/opt/program");
	ck_assert_str_eq(object->build_id, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
	ck_assert_uint_eq(object->text.address, 0x401000);
	/* Both segments hold this byte; the executable one counts. */
	ck_assert(object_address(object, 0x1010, &address) && address == 0x401010);
	ck_assert(object_address(object, 0x17ff, &address) && address == 0x4017ff);
	ck_assert(object_address(object, 0x10, &address) && address == 0x400010);
	ck_assert(!object_address(object, 0x1800, &address));
	ck_assert(!object_address(object, UINT64_MAX, &address));

	ck_assert_str_eq(find(object, 0x401010), "plain");
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0); /* frame information is read from it later, also
	                                          * repeatedly */
	ck_assert_str_eq(find(object, 0x40105f), "_ZN3foo3barEi");
	ck_assert_str_eq(find(object, 0x401100), "local");
	ck_assert_str_eq(find(object, 0x401060), "-");
	object_unref(TAKE_PTR(object));
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(from_bytes)
{
	struct object *object = NULL;
	struct elf_image image;

	elf_image_init(&image, 1);
	ck_assert_int_eq(object_open_bytes(&image, sizeof(image), "[vdso]", &object), 0);
	memset(&image, 0xff, sizeof(image)); /* it has its own copy */
	struct object *other = object_ref(object);
	object_unref(object);
	ck_assert_str_eq(find(other, 0x401000), "plain");
	object_unref(other);
	object_unref(NULL);
}
END_TEST

START_TEST(not_elf)
{
	struct object *object = NULL;

	int fd = elf_image_fd("#!/bin/sh", 9);
	ck_assert_int_eq(object_open_fd(fd, "/x", &object), -ENOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1); /* the descriptor is taken over on failure too */
	ck_assert_int_eq(object_open_bytes(NULL, 0, "/x", &object), -ENOEXEC);
	ck_assert_ptr_null(object);
}
END_TEST

START_TEST(cut_after_it_was_opened)
{
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct elf_image image;

	elf_image_init(&image, 1);
	int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(object_open_fd(fd, "/x", &object), 0);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_str_eq(find(object, 0x401010), "-");
}
END_TEST

START_TEST(without_anything)
{
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct elf_image image;
	uint64_t address;

	elf_image_init(&image, 1);
	image.header.e_phnum = 0;
	image.header.e_shnum = 0;
	image.header.e_shoff = 0;
	ck_assert_int_eq(object_open_bytes(&image, sizeof(image), "/x", &object), 0);
	ck_assert_str_eq(object->build_id, "");
	ck_assert_uint_eq(object->text.memory_bytes, 0);
	ck_assert(!object_address(object, 0, &address));
	ck_assert_str_eq(find(object, 0), "-");
}
END_TEST

Suite *object_suite(void)
{
	Suite *suite = suite_create("object");
	TCase *tcase = tcase_create("object");

	tcase_add_test(tcase, from_a_descriptor);
	tcase_add_test(tcase, from_bytes);
	tcase_add_test(tcase, not_elf);
	tcase_add_test(tcase, cut_after_it_was_opened);
	tcase_add_test(tcase, without_anything);
	suite_add_tcase(suite, tcase);
	return suite;
}
