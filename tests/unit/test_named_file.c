/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct named_file: which source is used when several have an answer, and answers come in order
 * whatever the sources do. The files are made here, or are this program.
 */
#include "names/named_file.h"

#include "base/buf.h"
#include "elf/elf.h"
#include "elf/symtab.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/go_image.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The symbols look like those of methods, and of code that the compiler moved. Nothing else about
 * these functions is unusual. */
static int unqualified(int value) __asm__("_ZN4fake5classEv");
int qualified(int value) __asm__("_ZN4fake5otherEv");

__attribute__((noinline, used)) static int unqualified(int value)
{
	return value * 3;
}

__attribute__((noinline)) int qualified(int value)
{
	return unqualified(value) + 1;
}

static struct named_file *open_files(int itself, int debug)
{
	const int fds[FILE_COUNT] = {itself, debug, -1};
	struct named_file *file;

	ck_assert_int_eq(named_file_open(fds, &file), 0);
	return file;
}

/* "INDEX FUNCTION@ADDRESS;" for each frame. */
static const char *describe(struct named_file *file, const uint64_t *addresses, size_t count)
{
	static char text[4096];
	struct told_frames told = {0};
	size_t len = 0;

	ck_assert_int_eq(named_file_find(file, addresses, count, true, tell_frame, &told), 0);
	text[0] = '\0';
	for (size_t i = 0; i < told.count; i++) {
		const struct told_frame *frame = &told.items[i];
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%zu %s@%" PRIx64 ";",
		                        frame->index, frame->function ? frame->function : "?",
		                        frame->function_address);
		ck_assert_uint_lt(len, sizeof(text));
	}
	told_frames_release(&told);
	return text;
}

/* A file without symbols, but with frames for three functions. */
static int frames_fd(void)
{
	struct frame_image image;

	frame_image_init(&image);
	size_t cie = put_eh_cie(&image.eh, "zR");
	put_eh_fde(&image.eh, cie, 0x1000, 0x100, "", 0);
	put_eh_fde(&image.eh, cie, 0x1100, 0x80, "", 0);
	put_eh_fde(&image.eh, cie, 0x1200, 0x40, "", 0);
	frame_image_seal(&image);
	return elf_image_fd(&image, sizeof(image));
}

/* The symbols of that file, in a separate file; the second symbol has no size. */
static int symbols_fd(void)
{
	struct elf_image image;

	elf_image_init(&image, 1);
	image.symbols[1].st_value = 0x1000;
	image.symbols[1].st_size = 0x100;
	image.symbols[2].st_value = 0x1100;
	image.symbols[2].st_size = 0;
	image.symbols[3].st_value = 0x1400;
	return elf_image_fd(&image, sizeof(image));
}

static const uint64_t places[] = {0x800,  0x1010, 0x1110, 0x1190, 0x1210,
                                  0x1230, 0x1300, 0x1408, 0x1500};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

START_TEST(symbols_and_bounds)
{
	_cleanup_(named_file_freep) struct named_file *neither = open_files(frames_fd(), -1);
	_cleanup_(named_file_freep) struct named_file *both = open_files(frames_fd(), symbols_fd());
	_cleanup_(named_file_freep) struct named_file *symbols = open_files(symbols_fd(), -1);

	ck_assert_str_eq(describe(neither, places, PLACES), "1 ?@1000;2 ?@1100;4 ?@1200;5 ?@1200;");
	/* Without frames the symbol without size extends to the next symbol. */
	ck_assert_str_eq(describe(symbols, places, PLACES),
	                 "1 plain@1000;2 _ZN3foo3barEi@1100;3 _ZN3foo3barEi@1100;"
	                 "4 _ZN3foo3barEi@1100;5 _ZN3foo3barEi@1100;6 _ZN3foo3barEi@1100;"
	                 "7 local@1400;");
	ck_assert_str_eq(describe(both, places, PLACES),
	                 "1 plain@1000;2 _ZN3foo3barEi@1100;3 _ZN3foo3barEi@1100;"
	                 "4 ?@1200;5 ?@1200;6 _ZN3foo3barEi@1100;7 local@1400;");
	/* The answer for one address alone is the same. */
	ck_assert_str_eq(describe(both, &places[4], 1), "0 ?@1200;");
	ck_assert_str_eq(describe(both, places, 0), "");
	ck_assert_uint_gt(named_file_memory(both), 0);
}
END_TEST

/* The symbols, of which there are thousands here, are not kept, and named_file_forget() releases
 * what libdw has read. */
START_TEST(little_is_kept)
{
	_cleanup_(named_file_freep) struct named_file *file = open_files(open_own_file(), -1);
	uint64_t address = own_address((uintptr_t)qualified);
	struct told_frames told = {0};

	ck_assert_int_eq(named_file_find(file, &address, 1, false, tell_frame, &told), 0);
	ck_assert_uint_eq(told.count, 1);
	ck_assert_uint_lt(named_file_memory(file), 4096);
	named_file_forget(file);
	ck_assert_int_eq(named_file_find(file, &address, 1, true, tell_frame, &told), 0);
	size_t with_lines = named_file_memory(file);
	named_file_forget(file);
	ck_assert_uint_lt(named_file_memory(file), with_lines);
	told_frames_release(&told);
}
END_TEST

START_TEST(debug_file_that_is_none)
{
	_cleanup_(named_file_freep) struct named_file *file =
		open_files(frames_fd(), elf_image_fd("#!/bin/sh\n", 10));

	ck_assert_str_eq(describe(file, places, 2), "1 ?@1000;");
}
END_TEST

/* Where Go's table has an answer, it is used, even when DWARF covers the same address. */
START_TEST(go_first)
{
	static const uint64_t addresses[] = {GO_TEXT + 8, GO_TEXT + 0x1a, GO_TEXT + 0x40};
	struct go_image image;

	go_image_init(&image);
	go_image_make(&image);
	elf_free(go_image_open(&image));
	_cleanup_(named_file_freep) struct named_file *file =
		open_files(elf_image_fd(image.file.out.data, image.file.out.len), open_own_file());
	ck_assert_str_eq(describe(file, addresses, 3),
	                 "0 main.main@10000;1 main.deeper@0;1 main.inlined@0;1 main.main@10000;"
	                 "2 main.other@10040;");
	go_image_release(&image);
}
END_TEST

START_TEST(whose_name)
{
	const uint64_t outer = known_outer();
	const uint64_t moved[] = {own_address((uintptr_t)unqualified),
	                          own_address((uintptr_t)qualified)};
	_cleanup_(named_file_freep) struct named_file *file = open_files(open_own_file(), -1);
	char expected[128];

	/* Only the symbol contains the class. */
	snprintf(expected, sizeof(expected), "0 _ZN4fake5classEv@%" PRIx64 ";", moved[0]);
	ck_assert_str_eq(describe(file, &moved[0], 1), expected);
	snprintf(expected, sizeof(expected), "0 _ZN4fake5otherEv@%" PRIx64 ";", moved[1]);
	ck_assert_str_eq(describe(file, &moved[1], 1), expected);
	snprintf(expected, sizeof(expected), "0 known_inlined@0;0 known_outer@%" PRIx64 ";",
	         own_address((uintptr_t)known_outer));
	ck_assert_str_eq(describe(file, &outer, 1), expected);
}
END_TEST

/* The functions of this program, in the order of their addresses. */
struct function {
	uint64_t address, size;
	char *name;
};

struct functions {
	struct function *items;
	size_t count;
};

static int take_function(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct functions *functions = ctx;

	(void)global;
	if (!size)
		return 0;
	functions->items =
		realloc(functions->items, (functions->count + 1) * sizeof(*functions->items));
	ck_assert_ptr_nonnull(functions->items);
	functions->items[functions->count++] = (struct function){address, size, strdup(name)};
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static struct functions own_functions(void)
{
	_cleanup_close_ int fd = open_own_file();
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct functions functions = {0};

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(elf_each_symbol(elf, take_function, &functions), 0);
	ck_assert_uint_gt(functions.count, 100);
	qsort(functions.items, functions.count, sizeof(*functions.items), by_address);
	return functions;
}

static void functions_release(struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free(functions->items[i].name);
	free(functions->items);
}

/* The start of each function, an address before all of them, and one behind. */
static uint64_t *beginnings(const struct functions *functions)
{
	uint64_t *addresses = calloc(functions->count + 2, sizeof(*addresses));

	for (size_t i = 0; i < functions->count; i++)
		addresses[i + 1] = functions->items[i].address;
	addresses[functions->count + 1] = UINT64_MAX;
	return addresses;
}

/* Checks that the frames of one address come together, and finds the last frame of each address. */
static void last_frames(const struct told_frames *told, size_t count,
                        const struct told_frame **ret_last)
{
	for (size_t i = 0; i < told->count; i++) {
		ck_assert_uint_lt(told->items[i].index, count);
		ck_assert(i == 0 || told->items[i].index >= told->items[i - 1].index);
		ret_last[told->items[i].index] = &told->items[i];
	}
}

START_TEST(every_function_of_this_program)
{
	struct functions functions = own_functions();
	size_t count = functions.count + 2, with_lines = 0;
	_cleanup_free_ uint64_t *addresses = beginnings(&functions);
	_cleanup_free_ const struct told_frame **last = calloc(count, sizeof(*last));
	_cleanup_(named_file_freep) struct named_file *file = open_files(open_own_file(), -1);
	struct told_frames told = {0};

	ck_assert_int_eq(named_file_find(file, addresses, count, true, tell_frame, &told), 0);
	last_frames(&told, count, last);
	ck_assert_ptr_null(last[0]);
	ck_assert_ptr_null(last[count - 1]);
	for (size_t i = 0; i < functions.count; i++) {
		const struct function *function = &functions.items[i];
		const char *dot = strstr(function->name, ".cold");
		ck_assert_ptr_nonnull(last[i + 1]);
		ck_assert_ptr_nonnull(last[i + 1]->function);
		with_lines += last[i + 1]->file != NULL;
		/* The function's name in the source. */
		if (dot && last[i + 1]->file)
			ck_assert(!strncmp(last[i + 1]->function, function->name,
			                   (size_t)(dot - function->name)) &&
			          !strchr(last[i + 1]->function, '.'));
		else
			ck_assert_uint_eq(last[i + 1]->function_address, function->address);
	}
	ck_assert_uint_gt(with_lines, functions.count / 2);
	told_frames_release(&told);
	functions_release(&functions);
}
END_TEST

/* The answer for an address does not depend on the other addresses. Only some are asked one by one,
 * because symbols and lines are read again for each question. */
START_TEST(one_by_one)
{
	enum { EACH = 16 };
	struct functions functions = own_functions();
	size_t count = functions.count + 2, at = 0;
	_cleanup_free_ uint64_t *addresses = beginnings(&functions);
	_cleanup_(named_file_freep) struct named_file *file = open_files(open_own_file(), -1);
	struct told_frames all = {0};

	ck_assert_int_eq(named_file_find(file, addresses, count, true, tell_frame, &all), 0);
	for (size_t i = 0; i < count; i += EACH) {
		struct told_frames one = {0};
		while (at < all.count && all.items[at].index < i)
			at++;
		ck_assert_int_eq(named_file_find(file, &addresses[i], 1, true, tell_frame, &one),
		                 0);
		for (size_t k = 0; k < one.count; k++, at++) {
			ck_assert_uint_lt(at, all.count);
			ck_assert_uint_eq(all.items[at].index, i);
			ck_assert_pstr_eq(all.items[at].function, one.items[k].function);
			ck_assert_pstr_eq(all.items[at].file, one.items[k].file);
			ck_assert_uint_eq(all.items[at].line, one.items[k].line);
		}
		ck_assert(at == all.count || all.items[at].index > i);
		told_frames_release(&one);
	}
	told_frames_release(&all);
	functions_release(&functions);
}
END_TEST

static int stop_at_third(size_t index, const struct source_frame *frame, void *ctx)
{
	(void)index, (void)frame;
	return ++*(int *)ctx == 3 ? -ECANCELED : 0;
}

START_TEST(stops_when_told)
{
	struct functions functions = own_functions();
	_cleanup_free_ uint64_t *addresses = beginnings(&functions);
	_cleanup_(named_file_freep) struct named_file *file = open_files(open_own_file(), -1);

	for (int lines = 0; lines < 2; lines++) {
		int told = 0;
		ck_assert_int_eq(named_file_find(file, addresses, functions.count, lines,
		                                 stop_at_third, &told),
		                 -ECANCELED);
		ck_assert_int_eq(told, 3);
	}
	functions_release(&functions);
}
END_TEST

START_TEST(no_file)
{
	int before = count_fds(getpid());
	struct elf_image image;

	elf_image_init(&image, 1);
	for (size_t len = 0; len < sizeof(image.header); len += 7) {
		int fds[FILE_COUNT] = {elf_image_fd(&image, len), elf_image_fd(&image, 10),
		                       elf_image_fd("", 0)};
		struct named_file *file;
		ck_assert_int_eq(named_file_open(fds, &file), -ENOEXEC);
	}
	ck_assert_int_eq(named_file_open((const int[]){-1, -1, -1}, &(struct named_file *){NULL}),
	                 -ENOEXEC);
	ck_assert_int_eq(count_fds(getpid()), before);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* it needs more address space than is left here */

static uint64_t address_space(void)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&text, "/proc/self/statm", 256), 0);
	return strtoull(buf_text(&text), NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int has_name(size_t index, const struct source_frame *frame, void *ctx)
{
	(void)index;
	*(bool *)ctx |= frame->function != NULL;
	return 0;
}

/* In a process of its own, with so much memory. */
enum { IT_LACKS_MEMORY, IT_HAS_NAMES, IT_IS_NAMELESS };

static int find_within(uint64_t bytes, uint64_t address)
{
	const struct rlimit limit = {bytes, bytes};
	const int fds[FILE_COUNT] = {open_own_file(), -1, -1};
	bool is_named = false;
	struct named_file *file;

	setrlimit(RLIMIT_AS, &limit);
	int err = named_file_open(fds, &file);
	if (!err)
		err = named_file_find(file, &address, 1, true, has_name, &is_named);
	if (err)
		return err == -ENOMEM ? IT_LACKS_MEMORY : IT_IS_NAMELESS;
	return is_named ? IT_HAS_NAMES : IT_IS_NAMELESS;
}

/* A file whose symbols are not read for want of memory is not one without symbols. libdw ends the
 * process itself. */
START_TEST(memory_is_short)
{
	const uint64_t address = own_address((uintptr_t)qualified), begin = address_space();
	size_t lacks = 0;
	int found = IT_LACKS_MEMORY;

	for (uint64_t more = 0; found != IT_HAS_NAMES; more += 64 << 10) {
		pid_t pid = fork();
		int status;

		ck_assert_uint_lt(more, 256 << 20);
		if (!pid)
			_exit(find_within(begin + more, address));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		found = WIFEXITED(status) ? WEXITSTATUS(status) : IT_LACKS_MEMORY;
		ck_assert_msg(found != IT_IS_NAMELESS, "%" PRIu64 " KiB", more >> 10);
		lacks += found == IT_LACKS_MEMORY;
	}
	ck_assert_uint_gt(lacks, 10);
}
END_TEST

#endif

Suite *named_file_suite(void)
{
	Suite *suite = suite_create("named_file");
	TCase *made = tcase_create("made"), *own = tcase_create("own");

	tcase_add_test(made, symbols_and_bounds);
	tcase_add_test(made, little_is_kept);
	tcase_add_test(made, debug_file_that_is_none);
	tcase_add_test(made, go_first);
	tcase_add_test(made, no_file);
	tcase_add_test(own, whose_name);
	tcase_add_test(own, every_function_of_this_program);
	tcase_add_test(own, one_by_one);
	tcase_add_test(own, stops_when_told);
#ifndef __SANITIZE_ADDRESS__
	tcase_add_test(own, memory_is_short);
#endif
	tcase_set_timeout(own, 120);
	suite_add_tcase(suite, made);
	suite_add_tcase(suite, own);
	return suite;
}
