/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a reader process reports about files with allocators, which of its answers are accepted, and
 * how the files of a process are searched: this process's own.
 */
#include "heap/heap_search.h"

#include "heap/heap_ask.h"
#include "reader/filter.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FILE_BYTES = 10000 };

static const struct reader_program program = {READER_SELF, "test", 256 << 20, 0};

/* Applies a change to a correct answer, which must then be refused. */
#define REFUSED(change)                                                                \
	do {                                                                           \
		struct heap_allocator answer = good;                                   \
		struct heap_site *site = &answer.sites[1];                             \
		change;                                                                \
		ck_assert_msg(heap_allocator_check((uint8_t *)&answer, sizeof(answer), \
		                                   FILE_BYTES) == -EBADMSG,            \
		              #change);                                                \
		(void)site;                                                            \
	} while (0)

START_TEST(test_answers)
{
	static const struct heap_allocator good = {
		.name = HEAP_JEMALLOC,
		.site_count = 3,
		.sites = {{.function = 100, .entry = 104, .call = HEAP_CALL_MALLOC, .emulated = 1},
	                  {.function = 200,
	                   .entry = 264,
	                   .call = HEAP_CALL_NEW,
	                   .pushed = 8,
	                   .all_returns = 1,
	                   .return_count = 2,
	                   .returns = {250, FILE_BYTES - 1}},
	                  {.function = 300, .entry = 308, .call = HEAP_CALL_FREE, .pushed = 248}},
	};
	const uint8_t *bytes = (const uint8_t *)&good;

	ck_assert_int_eq(heap_allocator_check(bytes, sizeof(good), FILE_BYTES), 0);
	ck_assert_int_eq(heap_allocator_check(bytes, sizeof(good), FILE_BYTES - 1), -EBADMSG);
	ck_assert_int_eq(heap_allocator_check(bytes, sizeof(good) - 1, FILE_BYTES), -EBADMSG);
	ck_assert_int_eq(heap_allocator_check(bytes, 0, FILE_BYTES), -EBADMSG);
	REFUSED(answer.name = HEAP_ALLOCATOR_COUNT);
	REFUSED(answer.name = UINT32_MAX);
	REFUSED(answer.site_count = MAX_HEAP_SITES + 1);
	REFUSED(answer.site_count = UINT32_MAX);
	REFUSED(site->call = HEAP_CALL_COUNT);
	REFUSED(site->call = UINT8_MAX);
	REFUSED(site->call = HEAP_CALL_MALLOC); /* which must have no returns */
	REFUSED(site->return_count = 0);
	REFUSED(site->return_count = MAX_HEAP_RETURNS + 1);
	REFUSED(site->return_count = UINT32_MAX);
	REFUSED(site->returns[0] = FILE_BYTES);
	REFUSED(site->returns[1] = UINT64_MAX);
	REFUSED(site->function = FILE_BYTES; site->entry = FILE_BYTES);
	REFUSED(site->entry = 199);
	REFUSED(site->entry = 265);
	REFUSED(site->function = FILE_BYTES - 1; site->entry = FILE_BYTES);
	REFUSED(site->emulated = 2);
	REFUSED(site->all_returns = 2);
	REFUSED(answer.sites[0].pushed = 8); /* its return address would be elsewhere */
}
END_TEST

START_TEST(test_surveys)
{
	struct heap_survey survey = {.machine = EM_X86_64};
	const uint8_t *bytes = (const uint8_t *)&survey;

	ck_assert_int_eq(heap_survey_check(bytes, sizeof(survey)), 0);
	ck_assert_int_eq(heap_survey_check(bytes, sizeof(survey) - 1), -EBADMSG);
	survey.machine = 1 << 16;
	ck_assert_int_eq(heap_survey_check(bytes, sizeof(survey)), -EBADMSG);
	survey = (struct heap_survey){.marks = 1U << 31};
	ck_assert_int_eq(heap_survey_check(bytes, sizeof(survey)), -EBADMSG);
}
END_TEST

/* malloc begins with a push. The frame of free is too large for `pushed`. */
static struct elf *open_image(struct python_image *image)
{
	static const uint8_t text[0x80] = {[0x00] = 0x55,
	                                   0xc3,
	                                   /* sub $0x188,%rsp; je; ret */
	                                   [0x40] = 0x48,
	                                   0x81,
	                                   0xec,
	                                   0x88,
	                                   0x01,
	                                   0,
	                                   0,
	                                   0x74,
	                                   1,
	                                   0xc3,
	                                   0xc3};

	python_image_init(image);
	python_image_symbol(image, "malloc", STT_FUNC, PYTHON_TEXT, 0x40);
	python_image_symbol(image, "free", STT_FUNC, PYTHON_TEXT + 0x40, 0x40);
	section_image_add(&image->file, ".text", PYTHON_TEXT, text, sizeof(text));
	return python_image_open(image);
}

START_TEST(test_by_a_reader)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct heap_allocator answer, wanted;
	struct heap_survey survey, said;
	struct python_image image;
	_cleanup_(elf_freep) struct elf *elf = open_image(&image);
	_cleanup_close_ int fd = elf_image_fd(image.file.out.data, image.file.out.len);
	_cleanup_close_ int none = elf_image_fd("PK\3\4", 4);
	const struct heap_question question = {fd, 1, image.file.out.len};

	ck_assert_int_eq(heap_survey_read(elf, &survey), 0);
	ck_assert_int_eq(heap_ask_survey(reader, &question, &said), 0);
	ck_assert_mem_eq(&said, &survey, sizeof(said));
	ck_assert_int_eq(heap_allocator_read(elf, &wanted), 0);
	ck_assert_int_eq(heap_ask_sites(reader, &question, &answer), 0);
	ck_assert_mem_eq(&answer, &wanted, sizeof(answer));
	ck_assert_uint_eq(answer.site_count, 2);
	/* 0x188 does not fit into `pushed`, so free is probed at its first byte. */
	ck_assert_uint_eq(answer.sites[1].entry, answer.sites[1].function);
	ck_assert_uint_eq(answer.sites[1].pushed, 0);
	ck_assert_int_eq(heap_ask_survey(reader, &(struct heap_question){none, 2, 4}, &said),
	                 -ENOEXEC);
	/* Sites beyond the end of the file are not accepted: the question is given up. */
	ck_assert_int_eq(heap_ask_sites(reader, &(struct heap_question){fd, 3, 4}, &answer), -EIO);
	python_image_release(&image);
}
END_TEST

/* If there is no memory for all symbols, one of the others may be an allocator's, so the question
 * fails. */
START_TEST(test_too_many_symbols)
{
	enum { SYMBOLS = 2 << 20, BYTES = SYMBOLS * sizeof(Elf64_Sym) };
	static const struct reader_program small = {READER_SELF, "test", BYTES / 2, 0};
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	_cleanup_(reader_freep) struct reader *small_reader = reader_new(&small);
	struct heap_survey said;
	struct elf_image image;

	elf_image_init(&image, 1);
	image.sections[1].sh_offset = sizeof(image);
	image.sections[1].sh_size = BYTES;
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(ftruncate(fd, sizeof(image) + BYTES), 0);
	const struct heap_question question = {fd, 1, sizeof(image) + BYTES};
	ck_assert_int_eq(heap_ask_survey(reader, &question, &said), 0);
	ck_assert_uint_eq(said.marks, 0);
	/* With sanitizers, memory is not limited like that. */
	if (filter_works())
		ck_assert_int_eq(heap_ask_survey(small_reader, &question, &said), -EIO);
}
END_TEST

START_TEST(test_this_process)
{
	_cleanup_(aside_freep) struct aside *aside = aside_new();
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	_cleanup_(heap_search_freep) struct heap_search *search = NULL;
	struct reader_stats stats = {0};
	bool has_libc = false;

	ck_assert_int_eq(heap_search_process(aside, reader, (uint32_t)getpid(), &search), 0);
	ck_assert_uint_ge(search->count, 1);
	ck_assert_uint_eq(search->unread, 0);
	for (size_t i = 0; i < search->count; i++) {
		const struct heap_found *found = &search->found[i];
		struct stat by_fd, by_path;

		has_libc |=
			found->allocator.name == HEAP_GLIBC || found->allocator.name == HEAP_MUSL;
		ck_assert_int_eq(fstat(found->fd, &by_fd), 0);
		ck_assert_int_eq(stat(found->path, &by_path), 0);
		ck_assert_uint_eq(by_fd.st_ino, by_path.st_ino);
	}
	ck_assert(has_libc);
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.crashes, 0);
	ck_assert_uint_ge(stats.requests, search->count + 2);
}
END_TEST

/* Makes this process map an executable ELF file for that machine, with a malloc(). */
static void map_image_of(uint16_t machine)
{
	struct python_image image;

	elf_free(open_image(&image));
	memcpy(image.file.out.data + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
	_cleanup_close_ int fd = elf_image_fd(image.file.out.data, image.file.out.len);
	ck_assert_ptr_ne(mmap(NULL, image.file.out.len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
	                 MAP_FAILED);
	python_image_release(&image);
}

/* Files for other machines are left out, however many are mapped, and do not count as unread. A
 * file for this machine is found among them. */
START_TEST(test_files_of_other_machines)
{
	_cleanup_(aside_freep) struct aside *aside = aside_new();
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	_cleanup_(heap_search_freep) struct heap_search *search = NULL;
	_cleanup_(heap_search_freep) struct heap_search *with_ours = NULL;

	for (uint16_t machine = EM_386; machine < EM_386 + 5; machine++)
		map_image_of(machine);
	ck_assert_int_eq(heap_search_process(aside, reader, (uint32_t)getpid(), &search), 0);
	ck_assert_uint_eq(search->unread, 0);
	for (size_t i = 0; i < search->count; i++)
		ck_assert_ptr_null(strstr(search->found[i].path, "memfd:image"));
	map_image_of(EM_X86_64);
	ck_assert_int_eq(heap_search_process(aside, reader, (uint32_t)getpid(), &with_ours), 0);
	ck_assert_uint_eq(with_ours->count, search->count + 1);
}
END_TEST

START_TEST(test_nobody)
{
	_cleanup_(aside_freep) struct aside *aside = aside_new();
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	_cleanup_(reader_freep) struct reader *none =
		reader_new(&(struct reader_program){"/nonexistent", "test", 1 << 20, 0});
	struct heap_search *search;
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(gone, NULL, 0), gone);
	ck_assert_int_eq(heap_search_process(aside, reader, (uint32_t)gone, &search), -ESRCH);
	heap_search_free(search);
	ck_assert_int_eq(heap_search_process(aside, none, (uint32_t)getpid(), &search), -ECHILD);
	heap_search_free(search);
	reader_cancel(reader);
	ck_assert_int_eq(heap_search_process(aside, reader, (uint32_t)getpid(), &search),
	                 -ECANCELED);
	heap_search_free(search);
}
END_TEST

Suite *heap_search_suite(void)
{
	Suite *suite = suite_create("heap_search");
	TCase *tcase = tcase_create("heap_search");

	tcase_add_test(tcase, test_answers);
	tcase_add_test(tcase, test_surveys);
	tcase_add_test(tcase, test_by_a_reader);
	tcase_add_test(tcase, test_too_many_symbols);
	tcase_add_test(tcase, test_this_process);
	tcase_add_test(tcase, test_files_of_other_machines);
	tcase_add_test(tcase, test_nobody);
	suite_add_tcase(suite, tcase);
	return suite;
}
