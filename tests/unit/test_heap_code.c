/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where probes are cheap and where functions return: in code written here, and in every function of
 * real libraries, compared with a simple check of their bytes.
 */
#include "allocators/returns.h"
#include "code/decode.h"
#include "code/slide.h"
#include "tests/unit/frame_image.h"
#include "tests/unit/libraries.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

enum { TEXT = 0x1000 };

#define SLIDE(code, arguments, returns, result, ...)                              \
	check_slide(__LINE__, code, sizeof(code) - 1, arguments, returns, result, \
	            (struct slide){__VA_ARGS__})

static void check_slide(int line, const char *code, size_t len, uint32_t arguments, bool returns,
                        int result, struct slide wanted)
{
	struct slide slide;

	ck_assert_msg(slide_find(EM_X86_64, (const uint8_t *)code, len, arguments, returns,
	                         &slide) == result,
	              "line %d", line);
	ck_assert_msg(slide.offset == wanted.offset && slide.pushed == wanted.pushed &&
	                      slide.emulated == wanted.emulated,
	              "line %d: +%u, %u pushed, %d", line, slide.offset, slide.pushed,
	              slide.emulated);
}

START_TEST(test_slide)
{
	/* glibc's free: test rdi, rdi; je; push rbp */
	SLIDE("\x48\x85\xff\x74\x10\x55\xc3", 1, false, 0, 3, 0, true);
	/* endbr64; push rbx */
	SLIDE("\xf3\x0f\x1e\xfa\x53\xc3", 1, true, 0, 4, 0, true);
	SLIDE("\x55\xc3", 1, true, 0, 0, 0, true);
	SLIDE("\x41\x57\xc3", 1, true, 0, 0, 0, true);
	SLIDE("\xe9\x00\x00\x00\x00", 1, true, 0, 0, 0, true);
	SLIDE("\xe8\x00\x00\x00\x00\xc3", 1, true, 0, 0, 0, true);
	SLIDE("\x90\xc3", 1, true, 0, 0, 0, true);
	/* jemalloc's malloc: cmp rdi, 0x3fff; ja */
	SLIDE("\x48\x81\xff\xff\x3f\x00\x00\x0f\x87\x00\x00\x00\x00\xc3", 1, true, 0, 7, 0, true);
	/* mov rax, [rip]; mov rax, fs:[rax]; test rax, rax; je */
	SLIDE("\x48\x8b\x05\x00\x01\x00\x00\x64\x48\x8b\x00\x48\x85\xc0\x74\x01\xc3", 1, true, 0,
	      14, 0, true);
	/* a nop of five bytes, and then push rbx or ret */
	SLIDE("\x0f\x1f\x44\x00\x00\x53\xc3", 1, true, 0, 5, 0, true);
	SLIDE("\x0f\x1f\x44\x00\x00\xc3", 1, true, 0, 5, 0, false);
	/* and nothing, so that it is no function that can be called: not past its end */
	SLIDE("\x0f\x1f\x44\x00\x00", 1, true, -ENOTSUP, 0, 0, false);
}
END_TEST

START_TEST(test_slide_stays)
{
	/* ret; jmp rax; ud2: the code behind them may not belong to the function */
	SLIDE("\xc3\x55", 1, false, 0, 0, 0, false);
	SLIDE("\xff\xe0\x55", 1, false, 0, 0, 0, false);
	SLIDE("\x0f\x0b\x55", 1, false, 0, 0, 0, false);
	/* mov rdi, rax; push: an argument is overwritten, unless there is none */
	SLIDE("\x48\x89\xc7\x55\xc3", 1, false, 0, 0, 0, false);
	SLIDE("\x48\x89\xc7\x55\xc3", 0, false, 0, 3, 0, true);
	/* mov rsi, rax overwrites the second argument; so does writing a byte of it */
	SLIDE("\x48\x89\xc6\x55\xc3", 1, false, 0, 3, 0, true);
	SLIDE("\x48\x89\xc6\x55\xc3", 2, false, 0, 0, 0, false);
	SLIDE("\x40\xb6\x01\x55\xc3", 2, false, 0, 0, 0, false);
	/* mul rsi writes rdx without naming it */
	SLIDE("\x48\xf7\xe6\x55\xc3", 3, false, 0, 0, 0, false);
	/* mov rbx, rdi: the caller's rbx is overwritten */
	SLIDE("\x48\x89\xfb\x55\xc3", 1, false, 0, 0, 0, false);
	/* more instructions mov eax, 0 than the bound */
	SLIDE("\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0"
	      "\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\xb8\0\0\0\0\x55\xc3",
	      1, false, 0, 0, 0, false);
}
END_TEST

START_TEST(test_slide_and_the_stack)
{
	/* sub rsp, 0x18; je: the return address is known, but not on top of the stack any more */
	SLIDE("\x48\x83\xec\x18\x74\x01\xc3", 1, false, 0, 4, 0x18, true);
	SLIDE("\x48\x83\xec\x18\x74\x01\xc3", 1, true, 0, 0, 0, false);
	/* push of a constant, 8 bytes; this is not emulated */
	SLIDE("\x6a\x01\x74\x01\xc3", 1, false, 0, 2, 8, true);
	/* add rsp; and rsp; pop rax; mov rsp, rax */
	SLIDE("\x48\x83\xc4\x18\x74\x01\xc3", 1, false, 0, 0, 0, false);
	SLIDE("\x48\x83\xe4\xf0\x74\x01\xc3", 1, false, 0, 0, 0, false);
	SLIDE("\x58\x74\x01\xc3", 1, false, 0, 0, 0, false);
	SLIDE("\x48\x89\xc4\x74\x01\xc3", 1, false, 0, 0, 0, false);
}
END_TEST

START_TEST(test_slide_is_not_jumped_to)
{
	/* test rdi, rdi; je +2; nop; jmp back to +3, or behind it, or to the first byte */
	SLIDE("\x48\x85\xff\x74\x01\x90\xeb\xfb\xc3", 1, false, 0, 0, 0, false);
	SLIDE("\x48\x85\xff\x74\x01\x90\xeb\xfd\xc3", 1, false, 0, 3, 0, true);
	SLIDE("\x48\x85\xff\x74\x01\x90\xeb\xf8\xc3", 1, false, 0, 3, 0, true);
}
END_TEST

START_TEST(test_slide_not_understood)
{
	struct slide slide;

	SLIDE("\x06\x55", 1, false, -ENOTSUP, 0, 0, false); /* no instruction */
	SLIDE("\x48\x85", 1, false, -ENOTSUP, 0, 0, false); /* truncated */
	SLIDE("", 1, false, -ENOTSUP, 0, 0, false);
	ck_assert_int_eq(slide_find(EM_AARCH64, (const uint8_t *)"\x55", 1, 1, false, &slide),
	                 -ENOTSUP);
	ck_assert_uint_eq(slide.offset, 0);
}
END_TEST

/* Finds the returns of the function at TEXT, as own addresses. All of the code is the function
 * unless call frame information says otherwise. */
static int find_returns(const char *code, size_t len, uint64_t size, struct returns *returns)
{
	const struct stubs stubs = {0};
	struct section_image image;

	section_image_init(&image);
	section_image_add(&image, ".text", TEXT, code, len);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&image);
	int result = returns_find(elf, &stubs, TEXT, size, returns);
	section_image_release(&image);
	return result;
}

#define RETURNS(code, returns) find_returns(code, sizeof(code) - 1, sizeof(code) - 1, returns)

START_TEST(test_returns)
{
	uint64_t at[4];
	struct returns returns = {.at = at, .max = 4, .lookups = 4};

	/* je +2; nop; ret; jmp -4 (to the ret) ... and a ret that is never reached */
	ck_assert_int_eq(RETURNS("\x74\x02\x90\xc3\xeb\xfd\xc3", &returns), 0);
	ck_assert(returns.complete);
	ck_assert_uint_eq(returns.count, 1);
	ck_assert_uint_eq(at[0], TEXT + 3);
	/* call (which comes back); je +1; ret; repz ret */
	ck_assert_int_eq(RETURNS("\xe8\x00\x10\x00\x00\x74\x01\xc3\xf3\xc3", &returns), 0);
	ck_assert_uint_eq(returns.count, 2);
	ck_assert_uint_eq(at[0], TEXT + 7);
	ck_assert_uint_eq(at[1], TEXT + 8);
	ck_assert_uint_eq(returns.call_count, 1);
	ck_assert_uint_eq(returns.calls[0], TEXT + 0x1005);
	/* je +1; ret; jmp rax: one way out is unknown */
	ck_assert_int_eq(RETURNS("\x74\x01\xc3\xff\xe0", &returns), 0);
	ck_assert(!returns.complete);
	ck_assert_uint_eq(returns.count, 1);
	/* je +1; ret; jmp to an address without code */
	ck_assert_int_eq(RETURNS("\x74\x01\xc3\xe9\x00\x00\x10\x00", &returns), 0);
	ck_assert(!returns.complete);
	ck_assert_uint_eq(returns.call_count, 1);
	/* there is room for four, not for five */
	ck_assert_int_eq(RETURNS("\x74\x01\xc3\x74\x01\xc3\x74\x01\xc3\x74\x01\xc3\xc3", &returns),
	                 0);
	ck_assert(!returns.complete);
	ck_assert_uint_eq(returns.count, 4);
}
END_TEST

START_TEST(test_no_returns)
{
	uint64_t at[4];
	struct returns returns = {.at = at, .max = 4, .lookups = 4};

	ck_assert_int_eq(RETURNS("\xff\xe0\xc3", &returns), -ENOTSUP); /* jmp rax */
	ck_assert_int_eq(RETURNS("\x06\xc3", &returns), -ENOTSUP);     /* no instruction */
	ck_assert_int_eq(RETURNS("\x0f\x0b\xc3", &returns), -ENOTSUP); /* ud2 */
	ck_assert_int_eq(RETURNS("\xeb\xfe\xc3", &returns), -ENOTSUP); /* an endless loop */
	/* the size is not known, or exceeds the code */
	ck_assert_int_eq(find_returns("\xc3", 1, 0, &returns), -ENOTSUP);
	ck_assert_int_eq(find_returns("\xc3", 1, 1000, &returns), -ENOTSUP);
}
END_TEST

/* Every function of a library. */
struct tally {
	const struct elf *elf;
	struct stubs stubs;
	size_t functions, emulated, returning, complete;
};

/* Judges by the bytes, according to the kernel's list. */
static bool looks_emulated(const uint8_t *code)
{
	return (code[0] >= 0x50 && code[0] <= 0x57) || (code[0] >= 0x70 && code[0] <= 0x7f) ||
	       code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb || code[0] == 0x90 ||
	       (code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57) ||
	       (code[0] == 0x66 && code[1] == 0x90) ||
	       (code[0] == 0x0f && code[1] >= 0x80 && code[1] <= 0x8f);
}

static bool looks_like_return(const struct elf *elf, uint64_t address)
{
	uint8_t code[2] = {0};

	ck_assert_int_eq(elf_read_address(elf, address, code, sizeof(code)), 0);
	return code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3) ||
	       (code[0] == 0xf2 && code[1] == 0xc3);
}

static int judge(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct tally *tally = ctx;
	_cleanup_free_ uint8_t *code = malloc(size + 1);
	uint64_t at[24];
	struct returns returns = {.at = at, .max = 24, .lookups = 8};
	struct slide slide;

	(void)global;
	if (!size || size > 4096 || elf_read_address(tally->elf, address, code, size))
		return 0;
	code[size] = 0;
	tally->functions++;
	int result = slide_find(EM_X86_64, code, size, 3, true, &slide);
	ck_assert_uint_eq(slide.pushed, 0);
	ck_assert_msg(slide.emulated ? looks_emulated(code + slide.offset) : !slide.offset, "%s",
	              name);
	ck_assert_uint_lt(slide.offset, size);
	tally->emulated += !result && slide.emulated;
	/* Only every 16th, because each may search for the bounds of others. */
	if (tally->functions % 16)
		return 0;
	tally->returning++;
	if (returns_find(tally->elf, &tally->stubs, address, size, &returns) == 0) {
		tally->complete += returns.complete;
		for (size_t i = 0; i < returns.count; i++)
			ck_assert_msg(looks_like_return(tally->elf, at[i]), "%s", name);
	}
	return 0;
}

/* In most functions of a C library a probe can be placed on an emulated instruction, and most do
 * not end in a jump through a table. */
START_TEST(test_libraries)
{
	static const char *const names[] = {"libc.so.6", "libjemalloc.so.2",
	                                    "libtcmalloc_minimal.so.4", "libmimalloc.so.2"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		_cleanup_(elf_freep) struct elf *elf = library_open(names[i]);
		struct tally tally = {.elf = elf};

		if (!elf || elf_machine(elf) != EM_X86_64)
			continue;
		ck_assert_int_eq(stubs_read(elf, &tally.stubs), 0);
		elf_each_symbol(elf, judge, &tally);
		ck_assert_uint_gt(tally.functions, 20);
		ck_assert_uint_gt(tally.emulated, 0);
		if (i == 0) {
			ck_assert_uint_gt(tally.emulated * 2, tally.functions);
			ck_assert_uint_gt(tally.complete * 2, tally.returning);
		}
		stubs_release(&tally.stubs);
	}
}
END_TEST

Suite *heap_code_suite(void)
{
	Suite *suite = suite_create("heap_code");
	TCase *tcase = tcase_create("heap_code");

	tcase_add_test(tcase, test_slide);
	tcase_add_test(tcase, test_slide_stays);
	tcase_add_test(tcase, test_slide_and_the_stack);
	tcase_add_test(tcase, test_slide_is_not_jumped_to);
	tcase_add_test(tcase, test_slide_not_understood);
	tcase_add_test(tcase, test_returns);
	tcase_add_test(tcase, test_no_returns);
	tcase_add_test(tcase, test_libraries);
	suite_add_tcase(suite, tcase);
	return suite;
}
