/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct elf on correct files, and on the same files damaged field by field.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct seen {
	int count, stop_at;
	char names[256];
};

static int see(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct seen *seen = ctx;
	size_t len = strlen(seen->names);

	snprintf(seen->names + len, sizeof(seen->names) - len, "%.60s@%lx+%lx%s;", name,
	         (unsigned long)address, (unsigned long)size, global ? "g" : "");
	return ++seen->count == seen->stop_at ? 7 : 0;
}

static void check_good(const struct elf *elf)
{
	struct seen seen = {0}, stopped = {.stop_at = 2};
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	ck_assert_uint_eq(count, 2);
	ck_assert(!segments[0].executable && segments[1].executable);
	ck_assert_uint_eq(segments[1].address, 0x401000);
	ck_assert_uint_eq(segments[1].file_bytes, 0x800);
	const uint8_t *build_id = elf_build_id(elf, &count);
	ck_assert_uint_eq(count, 20);
	ck_assert_uint_eq(build_id[0], 5);
	ck_assert_uint_eq(build_id[19], 24);
	/* Reads twice: the first time changes nothing. */
	for (int i = 0; i < 2; i++) {
		seen = (struct seen){0};
		ck_assert_int_eq(elf_each_symbol(elf, see, &seen), 0);
		ck_assert_str_eq(seen.names, "plain@401000+40g;_ZN3foo3barEi@401040+20g;"
		                             "local@401100+10;");
	}
	seen = (struct seen){0};
	ck_assert_int_eq(elf_each_variable(elf, see, &seen), 0);
	ck_assert_str_eq(seen.names, "data@401200+10g;");
	ck_assert_int_eq(elf_each_symbol(elf, see, &stopped), 7);
	ck_assert_int_eq(stopped.count, 2);
}

START_TEST(good)
{
	_cleanup_(elf_freep) struct elf *from_bytes = NULL;
	_cleanup_(elf_freep) struct elf *from_fd = NULL;
	struct elf_image image;

	elf_image_init(&image, 5);
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &from_bytes), 0);
	check_good(from_bytes);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(elf_open_fd(fd, &from_fd), 0);
	check_good(from_fd);
	elf_free(NULL);
}
END_TEST

START_TEST(not_elf)
{
	struct elf *elf = NULL;
	struct elf_image image;

	ck_assert_int_eq(elf_open_bytes("", 0, &elf), -ENOEXEC);
	ck_assert_int_eq(elf_open_bytes("#!/bin/sh\n", 10, &elf), -ENOEXEC);
	ck_assert_int_eq(elf_open_bytes("\177ELF", 4, &elf), -ENOEXEC);
	ck_assert_int_eq(elf_open_bytes("!<arch>\n", 8, &elf), -ENOEXEC);
	elf_image_init(&image, 0);
	image.header.e_ident[EI_CLASS] = 9;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &elf), -ENOEXEC);
	elf_image_init(&image, 0);
	image.header.e_phnum = PN_XNUM;
	image.sections[0].sh_info = 3;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &elf), -ENOEXEC);
	_cleanup_close_ int empty = elf_image_fd("", 0);
	ck_assert_int_eq(elf_open_fd(empty, &elf), -ENOEXEC);
	ck_assert_int_eq(elf_open_fd(-1, &elf), -EBADF);
	ck_assert_ptr_null(elf);
}
END_TEST

/* Opens the file and walks its symbols. Returns the number of symbols, or -1 when it does not
 * open. */
static int walk(const void *bytes, size_t len)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(elf_freep) struct elf *same = NULL;
	struct seen seen = {0}, seen_same = {0};
	size_t id_len;

	_cleanup_close_ int fd = elf_image_fd(bytes, len);
	int err = elf_open_bytes(bytes, len, &elf);
	ck_assert_int_eq(elf_open_fd(fd, &same), err);
	if (err < 0)
		return -1;
	elf_build_id(elf, &id_len);
	ck_assert_uint_le(id_len, MAX_BUILD_ID_BYTES);
	elf_each_symbol(elf, see, &seen);
	elf_each_symbol(same, see, &seen_same);
	ck_assert_str_eq(seen.names, seen_same.names);
	return seen.count;
}

/* The segments can be read, and nothing is found that only sections describe. */
static void expect_no_sections(const void *bytes, size_t len)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct elf_section section;
	struct seen seen = {0};
	size_t count;

	ck_assert_int_eq(elf_open_bytes(bytes, len, &elf), 0);
	ck_assert(!elf_has_sections(elf));
	elf_segments(elf, &count);
	ck_assert_uint_eq(count, 1);
	elf_build_id(elf, &count);
	ck_assert_uint_eq(count, 20);
	const struct segment *frames = elf_frame_header(elf);
	ck_assert_ptr_nonnull(frames);
	ck_assert_uint_eq(frames->address, 0x401000);
	ck_assert_int_eq(elf_each_symbol(elf, see, &seen), 0);
	ck_assert_int_eq(elf_each_variable(elf, see, &seen), 0);
	ck_assert_int_eq(elf_each_stub(elf, see, &seen), 0);
	ck_assert_int_eq(seen.count, 0);
	ck_assert(!elf_has_section(elf, ".text"));
	ck_assert_int_eq(elf_read_section(elf, ".text", MAX_SECTION_BYTES, &section), -ENOENT);
	ck_assert_int_eq(elf_each_relative(elf, NULL, NULL), 0);
}

enum { LONG_BYTES = (UINT16_MAX + 1) * sizeof(Elf64_Shdr) };

START_TEST(no_sections)
{
	_cleanup_(elf_freep) struct elf *whole = NULL;
	struct elf_image image;

	elf_image_init(&image, 0);
	image.segments[1].p_type = PT_GNU_EH_FRAME;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &whole), 0);
	ck_assert(elf_has_sections(whole));
	ck_assert_ptr_null(elf_frame_header(whole));
	/* The last header is truncated; all headers are missing; their offset is far behind the
	 * end. */
	expect_no_sections(&image, sizeof(image) - 1);
	expect_no_sections(&image, offsetof(struct elf_image, sections));
	image.header.e_shoff = UINT64_MAX - sizeof(Elf64_Shdr) + 1;
	expect_no_sections(&image, sizeof(image));
	/* The first header contains the number of headers. */
	image.header.e_shnum = 0;
	expect_no_sections(&image, sizeof(image));
	image.header.e_shoff = offsetof(struct elf_image, sections);
	expect_no_sections(&image, sizeof(image));
	image.sections[0].sh_size = UINT64_MAX / 64;
	expect_no_sections(&image, sizeof(image));
	/* More sections than any executable has, although the file is long enough for them. */
	_cleanup_free_ uint8_t *long_file = calloc(1, sizeof(image) + LONG_BYTES);
	image.sections[0].sh_size = UINT16_MAX + 1;
	memcpy(long_file, &image, sizeof(image));
	expect_no_sections(long_file, sizeof(image) + LONG_BYTES);
	/* No section headers at all. */
	image.header.e_shoff = 0;
	expect_no_sections(&image, sizeof(image));
}
END_TEST

enum { TABLES = 1000 };

/* Only the first table of each type is read. */
START_TEST(many_tables)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_free_ uint8_t *file =
		calloc(1, sizeof(struct elf_image) + TABLES * sizeof(Elf64_Shdr));
	struct elf_image image;
	struct seen seen = {0};

	elf_image_init(&image, 0);
	image.header.e_shoff = sizeof(image);
	image.header.e_shnum = TABLES;
	memcpy(file, &image, sizeof(image));
	memcpy(file + sizeof(image), image.sections, sizeof(image.sections));
	for (size_t at = sizeof(image.sections); at < TABLES * sizeof(Elf64_Shdr);
	     at += sizeof(Elf64_Shdr))
		memcpy(file + sizeof(image) + at, &image.sections[1], sizeof(Elf64_Shdr));
	ck_assert_int_eq(elf_open_bytes(file, sizeof(image) + TABLES * sizeof(Elf64_Shdr), &elf),
	                 0);
	ck_assert_int_eq(elf_each_symbol(elf, see, &seen), 0);
	ck_assert_int_eq(seen.count, 3);
	ck_assert(elf_symbols_fit(elf));
}
END_TEST

START_TEST(damaged_symbols)
{
#define DAMAGES(DAMAGE)                                        \
	DAMAGE(image.sections[1].sh_offset = UINT64_MAX - 8)   \
	DAMAGE(image.sections[1].sh_size = UINT64_MAX - 8)     \
	DAMAGE(image.sections[1].sh_size = sizeof(image) * 24) \
	DAMAGE(image.sections[1].sh_entsize = 0)               \
	DAMAGE(image.sections[1].sh_entsize = 1)               \
	DAMAGE(image.sections[1].sh_link = 0)                  \
	DAMAGE(image.sections[1].sh_link = 1)                  \
	DAMAGE(image.sections[1].sh_link = 0xffffff)           \
	DAMAGE(image.sections[1].sh_flags = SHF_COMPRESSED)    \
	DAMAGE(image.sections[1].sh_type = SHT_NOBITS)         \
	DAMAGE(image.sections[2].sh_offset = sizeof(image))    \
	DAMAGE(image.sections[2].sh_size = 1ULL << 40)         \
	DAMAGE(image.sections[2].sh_type = SHT_NOBITS)         \
	DAMAGE(image.sections[2].sh_flags = SHF_COMPRESSED)    \
	DAMAGE(memset(image.names, 'x', sizeof(image.names)))  \
	DAMAGE(image.header.e_shoff = 0)
#define DAMAGE(assignment)         \
	elf_image_init(&image, 0); \
	assignment;                \
	ck_assert_msg(walk(&image, sizeof(image)) <= 0, "%s", #assignment);
	struct elf_image image;

	DAMAGES(DAMAGE)
#undef DAMAGE
#undef DAMAGES
}
END_TEST

START_TEST(damaged_names)
{
	struct elf_image image;

	/* A name outside the table affects only its own symbol. */
	elf_image_init(&image, 0);
	image.symbols[1].st_name = sizeof(image.names);
	image.symbols[2].st_name = UINT32_MAX;
	ck_assert_int_eq(walk(&image, sizeof(image)), 1);
	/* The last name lacks its NUL. */
	elf_image_init(&image, 0);
	memset(image.names + 21, 'x', sizeof(image.names) - 21);
	ck_assert_int_eq(walk(&image, sizeof(image)), 2);
}
END_TEST

START_TEST(any_byte_and_any_length)
{
	struct elf_image image, damaged;
	const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};

	elf_image_init(&image, 0);
	for (size_t len = 0; len < sizeof(image); len += 3)
		walk(&image, len);
	for (size_t at = 0; at < sizeof(image); at++) {
		damaged = image;
		((uint8_t *)&damaged)[at] = values[at % sizeof(values)];
		walk(&damaged, sizeof(damaged));
		((uint8_t *)&damaged)[at] = values[(at + 1 + (size_t)_i) % sizeof(values)];
		walk(&damaged, sizeof(damaged));
	}
}
END_TEST

static size_t id_len_of(const struct elf_image *image)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	size_t len;

	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	elf_build_id(elf, &len);
	return len;
}

START_TEST(build_ids)
{
	struct elf_image image;

	/* The build ID is found by its section if no segment leads to it. */
	elf_image_init(&image, 0);
	image.segments[2].p_type = PT_NULL;
	ck_assert_uint_eq(id_len_of(&image), 0);
	image.sections[2] = (Elf64_Shdr){.sh_type = SHT_NOTE,
	                                 .sh_offset = image.segments[2].p_offset,
	                                 .sh_size = image.segments[2].p_filesz,
	                                 .sh_addralign = 4};
	ck_assert_uint_eq(id_len_of(&image), 20);
	/* Go's build ID. */
	elf_image_init(&image, 0);
	image.note.header = (Elf64_Nhdr){3, 20, 4};
	memcpy(image.note.owner, "Go\0", 4);
	ck_assert_uint_eq(id_len_of(&image), 20);
	/* Wrong sizes. */
	elf_image_init(&image, 0);
	image.note.header.n_descsz = UINT32_MAX;
	ck_assert_uint_eq(id_len_of(&image), 0);
	elf_image_init(&image, 0);
	image.note.header.n_namesz = UINT32_MAX;
	ck_assert_uint_eq(id_len_of(&image), 0);
	elf_image_init(&image, 0);
	image.note.header.n_descsz = 0;
	ck_assert_uint_eq(id_len_of(&image), 0);
	elf_image_init(&image, 0);
	image.segments[2].p_filesz = UINT64_MAX;
	ck_assert_uint_eq(id_len_of(&image), 0);
	image.segments[2].p_filesz = 4;
	ck_assert_uint_eq(id_len_of(&image), 0);
}
END_TEST

/* A build ID behind that many notes is not searched for. */
START_TEST(many_notes)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[MAX_NOTES + 1];
		struct {
			Elf64_Nhdr header;
			char owner[4];
			uint8_t id[20];
		} other, own;
	} file = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                               EV_CURRENT},
	                   .e_type = ET_DYN,
	                   .e_machine = EM_X86_64,
	                   .e_version = EV_CURRENT,
	                   .e_phoff = sizeof(Elf64_Ehdr),
	                   .e_ehsize = sizeof(Elf64_Ehdr),
	                   .e_phentsize = sizeof(Elf64_Phdr),
	                   .e_phnum = MAX_NOTES + 1},
		.other = {{4, 20, 1}, "GNU", {0}},
		.own = {{4, 20, NT_GNU_BUILD_ID}, "GNU", {0}},
	};
	size_t last, len;

	for (last = MAX_NOTES - 1; last <= MAX_NOTES; last++) {
		struct elf *elf;

		for (size_t i = 0; i <= MAX_NOTES; i++)
			file.segments[i] = (Elf64_Phdr){
				.p_type = PT_NOTE,
				.p_offset = (size_t)((i == last ? (char *)&file.own
			                                        : (char *)&file.other) -
			                             (char *)&file),
				.p_filesz = sizeof(file.own),
				.p_align = 4,
			};
		ck_assert_int_eq(elf_open_bytes(&file, sizeof(file), &elf), 0);
		elf_build_id(elf, &len);
		ck_assert_uint_eq(len, last < MAX_NOTES ? 20 : 0);
		elf_free(elf);
	}
}
END_TEST

Suite *elf_suite(void)
{
	Suite *suite = suite_create("elf");
	TCase *tcase = tcase_create("elf");

	tcase_add_test(tcase, good);
	tcase_add_test(tcase, not_elf);
	tcase_add_test(tcase, no_sections);
	tcase_add_test(tcase, many_tables);
	tcase_add_test(tcase, damaged_symbols);
	tcase_add_test(tcase, damaged_names);
	tcase_add_loop_test(tcase, any_byte_and_any_length, 0, 3);
	tcase_add_test(tcase, build_ids);
	tcase_add_test(tcase, many_notes);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
