/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which allocator is chosen, and which of its functions are probed, in files made here and in this
 * host's libraries.
 */
#include "allocators/allocators.h"
#include "tests/unit/lacks.h"
#include "tests/unit/libraries.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { CODE_BYTES = 0x800, FUNCTION_BYTES = 0x40, MOST_FILES = 6 };

/* A file with these functions one after the other. Each is "test rdi, rdi; je; push; ret" except
 * for the code that a test puts there. */
struct file {
	struct python_image image;
	struct elf *elf;
	uint64_t text; /* file offset of the first function */
};

static void make_file(struct file *file, const char *const *names, const char *code, size_t at)
{
	uint8_t text[CODE_BYTES] = {0};

	python_image_init(&file->image);
	for (size_t i = 0; names[i]; i++) {
		memcpy(text + i * FUNCTION_BYTES, "\x48\x85\xff\x74\x01\x55\xc3", 7);
		python_image_symbol(&file->image, names[i], STT_FUNC,
		                    PYTHON_TEXT + i * FUNCTION_BYTES, FUNCTION_BYTES);
	}
	if (code)
		memcpy(text + at * FUNCTION_BYTES, code, strlen(code));
	section_image_add(&file->image.file, ".text", PYTHON_TEXT, text, sizeof(text));
	file->text = file->image.file.sections[file->image.file.section_count - 1].sh_offset;
	file->elf = python_image_open(&file->image);
}

static void free_file(struct file *file)
{
	elf_free(file->elf);
	python_image_release(&file->image);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The files are in the order of their mappings, and the first is the program. The allocators must
 * be found in the files whose places in the list are in `wanted`, which ends with -1. */
static struct heap_allocator *find(struct file *files, size_t count, const int *wanted)
{
	struct heap_ranking ranking = {0};
	struct heap_survey survey;

	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(heap_survey_read(files[i].elf, &survey), 0);
		ck_assert_int_eq(heap_survey_check((const uint8_t *)&survey, sizeof(survey)), 0);
		ck_assert_uint_eq(survey.machine, EM_X86_64);
		heap_ranking_add(&ranking, i, &survey, i == 0);
	}
	struct heap_allocator *allocators = calloc(MAX_ALLOCATORS, sizeof(*allocators));
	for (size_t i = 0; i < ranking.count; i++) {
		size_t file = ranking.best[i].file;

		ck_assert_int_eq((int)file, wanted[i]);
		ck_assert_int_eq(heap_allocator_read(files[file].elf, &allocators[i]), 0);
		ck_assert_int_eq(heap_allocator_check((const uint8_t *)&allocators[i],
		                                      sizeof(*allocators),
		                                      files[file].image.file.out.len),
		                 0);
	}
	ck_assert_int_eq(wanted[ranking.count], -1);
	return allocators;
}

START_TEST(test_order)
{
	struct file files[MOST_FILES];

	make_file(&files[0], NAMES("main"), NULL, 0);
	make_file(&files[1], NAMES("malloc", "free", "__tls_get_addr"), NULL, 0);
	make_file(&files[2], NAMES("malloc", "free", "__libc_start_main", "_int_malloc"), NULL, 0);
	make_file(&files[3], NAMES("malloc", "free"), NULL, 0);
	make_file(&files[4], NAMES("malloc", "free", "mallctl"), NULL, 0);
	make_file(&files[5], NAMES("_rjem_malloc", "_rjem_sdallocx", "_rjem_mallctl"), NULL, 0);
	_cleanup_free_ struct heap_allocator *all = find(files, 6, (const int[]){4, 3, 2, 5, -1});
	ck_assert_int_eq(all[0].name, HEAP_JEMALLOC);
	ck_assert_int_eq(all[1].name, HEAP_OTHER);
	ck_assert_int_eq(all[2].name, HEAP_GLIBC);
	ck_assert_int_eq(all[3].name, HEAP_JEMALLOC);
	_cleanup_free_ struct heap_allocator *plain = find(files, 3, (const int[]){2, -1});
	ck_assert_uint_eq(plain[0].site_count, 2);
	/* The program's own allocator takes precedence over all others. */
	free_file(&files[0]);
	make_file(&files[0], NAMES("malloc", "free", "mi_malloc"), NULL, 0);
	_cleanup_free_ struct heap_allocator *own = find(files, 6, (const int[]){0, 4, 3, 2, -1});
	ck_assert_int_eq(own[0].name, HEAP_MIMALLOC);
	for (size_t i = 0; i < MOST_FILES; i++)
		free_file(&files[i]);
}
END_TEST

START_TEST(test_none)
{
	struct file files[2];

	make_file(&files[0], NAMES("main", "malloc"), NULL, 0); /* without free */
	make_file(&files[1], NAMES("_Znwm", "_ZdlPv", "__cxa_throw"), NULL, 0);
	free(find(files, 2, (const int[]){-1}));
	free_file(&files[0]);
	free_file(&files[1]);
}
END_TEST

static const struct heap_site *site_of(const struct heap_allocator *allocator, uint64_t function)
{
	for (size_t i = 0; i < allocator->site_count; i++) {
		if (allocator->sites[i].function == function)
			return &allocator->sites[i];
	}
	return NULL;
}

START_TEST(test_sites)
{
	struct file file;

	make_file(&file, NAMES("malloc", "free", "_Znwm", "mallctl", "calloc"),
	          "\x48\x83\xec\x08\x74\x01\xc3\xc3", 1);
	_cleanup_free_ struct heap_allocator *found = find(&file, 1, (const int[]){0, -1});
	ck_assert_uint_eq(found->site_count, 4);
	ck_assert_uint_eq(found->unprobed, 0);

	const struct heap_site *site = site_of(found, file.text);
	ck_assert_int_eq(site->call, HEAP_CALL_MALLOC);
	ck_assert_uint_eq(site->entry, file.text + 3);
	ck_assert(site->emulated);
	ck_assert_uint_eq(site->return_count, 0);
	/* The argument of free is read after the stack pointer has changed, because no return is
	 * probed. */
	site = site_of(found, file.text + FUNCTION_BYTES);
	ck_assert_int_eq(site->call, HEAP_CALL_FREE);
	ck_assert_uint_eq(site->entry, site->function + 4);
	ck_assert_uint_eq(site->pushed, 8);
	site = site_of(found, file.text + 2 * FUNCTION_BYTES);
	ck_assert_int_eq(site->call, HEAP_CALL_NEW);
	ck_assert_uint_eq(site->return_count, 1);
	ck_assert_uint_eq(site->returns[0], site->function + 6);
	ck_assert(site->all_returns);
	site = site_of(found, file.text + 4 * FUNCTION_BYTES);
	ck_assert_int_eq(site->call, HEAP_CALL_CALLOC);
	free_file(&file);
}
END_TEST

/* Only libc's mmap() is probed. */
START_TEST(test_pages)
{
	struct file files[2];

	make_file(&files[0], NAMES("malloc", "free", "mmap", "munmap", "__libc_start_main"), NULL,
	          0);
	make_file(&files[1], NAMES("malloc", "mmap", "free", "munmap"), NULL, 0);
	_cleanup_free_ struct heap_allocator *libc = find(&files[0], 1, (const int[]){0, -1});
	_cleanup_free_ struct heap_allocator *other = find(&files[1], 1, (const int[]){0, -1});
	ck_assert_uint_eq(libc->site_count, 4);
	ck_assert_int_eq(site_of(libc, files[0].text + 2 * FUNCTION_BYTES)->call, HEAP_CALL_MMAP);
	ck_assert_uint_eq(other->site_count, 2);
	ck_assert_ptr_null(site_of(other, files[1].text + FUNCTION_BYTES));
	ck_assert_ptr_null(site_of(other, files[1].text + 3 * FUNCTION_BYTES));
	free_file(&files[0]);
	free_file(&files[1]);
}
END_TEST

/* The C++ library's operator calls malloc, which is probed. Without that library, the operator is
 * probed. */
START_TEST(test_operators)
{
	static const char call_malloc[] =
		"\xe8\x7b\xff\xff\xff\xc3"; /* from the third function to the first */
	struct file file;

	make_file(&file, NAMES("malloc", "free", "_Znwm", "__cxa_throw"), call_malloc, 2);
	_cleanup_free_ struct heap_allocator *linked = find(&file, 1, (const int[]){0, -1});
	ck_assert_uint_eq(linked->site_count, 2);
	ck_assert_uint_eq(linked->unprobed, 0);
	free_file(&file);
	make_file(&file, NAMES("malloc", "free", "_Znwm", "mallctl"), call_malloc, 2);
	_cleanup_free_ struct heap_allocator *own = find(&file, 1, (const int[]){0, -1});
	ck_assert_uint_eq(own->site_count, 3);
	free_file(&file);
	/* jmp rax: an operator whose returns are not known is left out, and counted. */
	make_file(&file, NAMES("malloc", "free", "_Znwm", "mallctl"), "\xff\xe0", 2);
	_cleanup_free_ struct heap_allocator *lost = find(&file, 1, (const int[]){0, -1});
	ck_assert_uint_eq(lost->site_count, 2);
	ck_assert_uint_eq(lost->unprobed, 1);
	free_file(&file);
}
END_TEST

/* If a function jumps to another one, only that one is probed, once. */
START_TEST(test_aliases)
{
	static const char jump_to_free[] =
		"\xe9\xbb\xff\xff\xff"; /* from the third function to the second */
	struct file file;

	make_file(&file, NAMES("malloc", "free", "free_sized"), jump_to_free, 2);
	_cleanup_free_ struct heap_allocator *found = find(&file, 1, (const int[]){0, -1});
	ck_assert_uint_eq(found->site_count, 2);
	ck_assert_uint_eq(found->unprobed, 0);
	ck_assert_ptr_null(site_of(found, file.text + 2 * FUNCTION_BYTES));
	free_file(&file);
}
END_TEST

static void check_call(const char *name, int wanted, bool wanted_prefixed)
{
	enum heap_call call = HEAP_CALL_MALLOC;
	bool prefixed = false, found = heap_call_named(name, &call, &prefixed);

	ck_assert_msg(found ? (int)call == wanted && prefixed == wanted_prefixed : wanted < 0, "%s",
	              name);
}

START_TEST(test_names)
{
	check_call("malloc", HEAP_CALL_MALLOC, false);
	check_call("valloc", HEAP_CALL_MALLOC, false);
	check_call("_ZdaPv", HEAP_CALL_DELETE, false);
	check_call("_ZnwmSt11align_val_t", HEAP_CALL_NEW, false);
	check_call("_rjem_sdallocx", HEAP_CALL_FREE, true);
	check_call("je_malloc", HEAP_CALL_MALLOC, true);
	check_call("tc_newarray_nothrow", HEAP_CALL_NEW_NOTHROW, true);
	check_call("mi_zalloc", HEAP_CALL_MALLOC, true);
	check_call("mi_posix_memalign", HEAP_CALL_POSIX_MEMALIGN, true);
	check_call("mmap64", HEAP_CALL_MMAP, false);
	check_call("munmap", HEAP_CALL_MUNMAP, false);
	check_call("je_mmap", -1, false);
	check_call("malloc_usable_size", -1, false);
	check_call("je__Znwm", -1, false);
	check_call("je_", -1, false);
	check_call("", -1, false);
	ck_assert(heap_call_info(HEAP_CALL_NEW)->throws);
	ck_assert_uint_eq(heap_call_info(HEAP_CALL_POSIX_MEMALIGN)->size, 2);
}
END_TEST

/* The libraries of this host. */
static size_t count_of(const struct heap_allocator *allocator, enum heap_role role, bool throws)
{
	size_t count = 0;

	for (size_t i = 0; i < allocator->site_count; i++) {
		const struct heap_site *site = &allocator->sites[i];
		const struct heap_call_info *info = heap_call_info(site->call);

		count += info->role == role && info->throws == throws;
		ck_assert_int_eq(site->return_count > 0, info->throws);
		ck_assert_uint_ge(site->entry, site->function);
	}
	return count;
}

/* Beside libc and the C++ library, the third one is chosen, with its own operators. */
static void check_library(const char *name, enum heap_allocator_name wanted)
{
	_cleanup_(elf_freep) struct elf *library = library_open(name);
	_cleanup_(elf_freep) struct elf *libc = library_open("libc.so.6");
	_cleanup_(elf_freep) struct elf *cxx = library_open("libstdc++.so.6");
	struct heap_ranking ranking = {0};
	struct heap_allocator found, behind;

	if (host_lacks(library && libc && cxx, "the allocator, or libstdc++"))
		return;
	const struct elf *const files[] = {libc, cxx, library};
	for (size_t i = 0; i < 3; i++) {
		struct heap_survey survey;

		ck_assert_int_eq(heap_survey_read(files[i], &survey), 0);
		ck_assert_int_eq(heap_ranking_add(&ranking, i, &survey, false), i != 1);
	}
	ck_assert_uint_eq(ranking.count, 2);
	ck_assert_uint_eq(ranking.best[0].file, 2);
	ck_assert_uint_eq(ranking.best[1].file, 0);
	ck_assert_int_eq(heap_allocator_read(library, &found), 0);
	ck_assert_int_eq(found.name, wanted);
	ck_assert_uint_ge(count_of(&found, HEAP_ALLOCATES, false), 3);
	ck_assert_uint_ge(count_of(&found, HEAP_FREES, false), 1);
	ck_assert_uint_ge(count_of(&found, HEAP_REALLOCATES, false), 1);
	if (elf_machine(library) == EM_X86_64) {
		ck_assert_uint_ge(count_of(&found, HEAP_ALLOCATES, true), 1);
		ck_assert_uint_eq(found.unprobed, 0);
	}
	ck_assert_int_eq(heap_allocator_read(libc, &behind), 0);
	ck_assert_int_eq(behind.name, HEAP_GLIBC);
	ck_assert_uint_eq(count_of(&behind, HEAP_ALLOCATES, true), 0);
}

START_TEST(test_libraries)
{
	check_library("libjemalloc.so.2", HEAP_JEMALLOC);
	check_library("libtcmalloc_minimal.so.4", HEAP_TCMALLOC);
	check_library("libmimalloc.so.2", HEAP_MIMALLOC);
	ck_assert_str_eq(heap_allocator_text(HEAP_MIMALLOC), "mimalloc");
}
END_TEST

Suite *heap_allocators_suite(void)
{
	Suite *suite = suite_create("heap_allocators");
	TCase *tcase = tcase_create("heap_allocators");

	tcase_add_test(tcase, test_order);
	tcase_add_test(tcase, test_none);
	tcase_add_test(tcase, test_sites);
	tcase_add_test(tcase, test_pages);
	tcase_add_test(tcase, test_operators);
	tcase_add_test(tcase, test_aliases);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_libraries);
	suite_add_tcase(suite, tcase);
	return suite;
}
