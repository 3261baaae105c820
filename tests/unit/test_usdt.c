/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Static probes: their notes, complete and damaged, and the places of their arguments.
 */
#include "allocators/usdt.h"
#include "allocators/usdt_args.h"

#include "probes/usdt_ask.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 0x1000, BASE = 0x3000, SEMAPHORES = 0x4000, TEXT_BYTES = 0x100 };

static void add_word(struct buf *buf, uint32_t word)
{
	buf_add(buf, &word, sizeof(word));
}

static void add_address(struct buf *buf, uint64_t address)
{
	buf_add(buf, &address, sizeof(address));
}

static void add_padded(struct buf *buf, const void *bytes, size_t len)
{
	buf_add(buf, bytes, len);
	while (buf->len % 4)
		buf_add(buf, "", 1);
}

/* `texts` are the three strings with a NUL after the first and the second. */
static void add_note(struct buf *buf, const char *owner, uint64_t address, uint64_t base,
                     uint64_t semaphore, const char *texts, size_t texts_len)
{
	struct buf description = BUF_INIT;

	add_address(&description, address);
	add_address(&description, base);
	add_address(&description, semaphore);
	buf_add(&description, texts, texts_len);
	add_word(buf, (uint32_t)strlen(owner) + 1);
	add_word(buf, (uint32_t)description.len);
	add_word(buf, 3);
	add_padded(buf, owner, strlen(owner) + 1);
	add_padded(buf, description.data, description.len);
	buf_release(&description);
}

#define NOTE(buf, address, base, semaphore, texts) \
	add_note(buf, "stapsdt", address, base, semaphore, texts, sizeof(texts))

struct seen {
	size_t count;
	char names[4][64];
	uint64_t offsets[4], addresses[4], semaphores[4];
};

static int keep_probe(const struct usdt_probe *probe, void *ctx)
{
	struct seen *seen = ctx;

	ck_assert_uint_lt(seen->count, 4);
	snprintf(seen->names[seen->count], sizeof(*seen->names), "%s:%s(%s)", probe->provider,
	         probe->name, probe->arguments);
	seen->offsets[seen->count] = probe->offset;
	seen->addresses[seen->count] = probe->address;
	seen->semaphores[seen->count] = probe->semaphore_offset;
	seen->count++;
	return 0;
}

/* Reads a file with these notes that was moved by 0x10 after linking. */
static int read_file(const struct buf *notes, struct seen *ret_seen, struct section_image *image)
{
	static const uint8_t zeros[TEXT_BYTES];

	*ret_seen = (struct seen){0};
	section_image_init(image);
	section_image_add(image, ".text", TEXT, zeros, TEXT_BYTES);
	section_image_add(image, ".stapsdt.base", BASE, zeros, 1);
	section_image_add(image, ".probes", SEMAPHORES, zeros, 16);
	section_image_add(image, ".note.stapsdt", 0, notes->data, notes->len);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(image);
	return usdt_each(elf, keep_probe, ret_seen);
}

START_TEST(test_notes)
{
	struct buf notes = BUF_INIT;
	struct section_image image;
	struct seen seen;

	NOTE(&notes, TEXT + 5, BASE - 0x10, SEMAPHORES - 0x10 + 2,
	     "otel_memory\0alloc\0008@%rdi 8@%rsi");
	add_note(&notes, "GNU", 1, 2, 3, "", 0); /* belongs to another owner */
	NOTE(&notes, TEXT + 9, BASE - 0x10, 0, "x\0y\0");
	NOTE(&notes, 0x900000, BASE - 0x10, 0, "no\0where\0");
	NOTE(&notes, TEXT + 9, BASE - 0x10, 0x900000, "no\0semaphore\0");
	ck_assert_int_eq(read_file(&notes, &seen, &image), 0);
	ck_assert_uint_eq(seen.count, 2);
	ck_assert_str_eq(seen.names[0], "otel_memory:alloc(8@%rdi 8@%rsi)");
	ck_assert_uint_eq(seen.addresses[0], TEXT + 0x15);
	ck_assert_uint_eq(seen.offsets[0], image.sections[1].sh_offset + 0x15);
	ck_assert_uint_eq(seen.semaphores[0], image.sections[3].sh_offset + 2);
	ck_assert_str_eq(seen.names[1], "x:y()");
	ck_assert_uint_eq(seen.semaphores[1], 0);
	section_image_release(&image);
	buf_release(&notes);
}
END_TEST

START_TEST(test_no_notes)
{
	struct section_image image;
	struct seen seen = {0};

	section_image_init(&image);
	section_image_add(&image, ".text", TEXT, "\xc3", 1);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&image);
	ck_assert_int_eq(usdt_each(elf, keep_probe, &seen), 0);
	ck_assert_uint_eq(seen.count, 0);
	section_image_release(&image);
}
END_TEST

static int stop(const struct usdt_note *note, void *ctx)
{
	(void)note;
	++*(int *)ctx;
	return 7;
}

static int count_notes(const struct usdt_note *note, void *ctx)
{
	(void)note;
	++*(int *)ctx;
	return 0;
}

/* Truncated at each byte: complete notes are passed on, the rest only gives an error. */
START_TEST(test_damaged)
{
	struct buf notes = BUF_INIT, many = BUF_INIT;
	int count = 0;

	NOTE(&notes, TEXT, BASE, 0, "a\0b\0c");
	NOTE(&notes, TEXT, BASE, 0, "d\0e\0f");
	const size_t half = notes.len / 2, fill = 2;
	for (size_t len = 1; len <= notes.len; len++) {
		_cleanup_free_ uint8_t *copy = malloc(len);
		bool first = len >= half - fill, second = len >= notes.len - fill;

		memcpy(copy, notes.data, len);
		count = 0;
		ck_assert_int_eq(usdt_notes(copy, len, 8, count_notes, &count),
		                 second || (first && len <= half) ? 0 : -EBADMSG);
		ck_assert_int_eq(count, first + second);
	}
	ck_assert_int_eq(usdt_notes(notes.data, notes.len, 8, stop, &count), 7);
	notes.data[half - fill - 1] = 'x'; /* no NUL after the last string */
	ck_assert_int_eq(usdt_notes(notes.data, notes.len, 8, count_notes, &count), -EBADMSG);
	for (int i = 0; i <= MAX_USDT_PROBES; i++)
		NOTE(&many, TEXT, BASE, 0, "a\0b\0c");
	ck_assert_int_eq(usdt_notes(many.data, many.len, 8, count_notes, &count), -E2BIG);
	buf_release(&notes);
	buf_release(&many);
}
END_TEST

static void check_arg(uint16_t machine, const char *text, struct usdt_arg wanted)
{
	struct usdt_arg args[MAX_USDT_ARGS];

	ck_assert_msg(usdt_args_parse(machine, text, args) == 1, "%s", text);
	ck_assert_msg(args[0].place == wanted.place && args[0].bytes == wanted.bytes &&
	                      args[0].is_signed == wanted.is_signed &&
	                      args[0].base == wanted.base && args[0].index == wanted.index &&
	                      args[0].scale == wanted.scale && args[0].shift == wanted.shift &&
	                      args[0].value == wanted.value,
	              "%s", text);
}

/* bytes, signed, base, index, scale, shift, value */
#define ARG(place, ...) ((struct usdt_arg){place, __VA_ARGS__})
enum { NO = USDT_NO_REGISTER };

START_TEST(test_x86_args)
{
	const uint16_t machine = EM_X86_64;

	check_arg(machine, "8@%rdi", ARG(USDT_REGISTER, 8, false, 5, NO, 1, 0, 0));
	check_arg(machine, "-4@%r15d", ARG(USDT_REGISTER, 4, true, 15, NO, 1, 0, 0));
	check_arg(machine, "1@%ah", ARG(USDT_REGISTER, 1, false, 0, NO, 1, 8, 0));
	check_arg(machine, "-4@$5", ARG(USDT_CONSTANT, 4, true, NO, NO, 1, 0, 5));
	check_arg(machine, "8@$-0x10", ARG(USDT_CONSTANT, 8, false, NO, NO, 1, 0, -16));
	check_arg(machine, "8@$18446744073709551615",
	          ARG(USDT_CONSTANT, 8, false, NO, NO, 1, 0, -1));
	check_arg(machine, "8@-8(%rbp)", ARG(USDT_MEMORY, 8, false, 6, NO, 1, 0, -8));
	check_arg(machine, "2@(%rsp)", ARG(USDT_MEMORY, 2, false, 7, NO, 1, 0, 0));
	check_arg(machine, "8@16(%rax,%rcx,8)", ARG(USDT_MEMORY, 8, false, 0, 2, 8, 0, 16));
	check_arg(machine, "8@(%rax,%r9)", ARG(USDT_MEMORY, 8, false, 0, 9, 1, 0, 0));
	check_arg(machine, "8@(,%rdx,4)", ARG(USDT_MEMORY, 8, false, NO, 1, 4, 0, 0));
}
END_TEST

START_TEST(test_arm64_args)
{
	const uint16_t machine = EM_AARCH64;

	check_arg(machine, "8@x0", ARG(USDT_REGISTER, 8, false, 0, NO, 1, 0, 0));
	check_arg(machine, "-4@w30", ARG(USDT_REGISTER, 4, true, 30, NO, 1, 0, 0));
	check_arg(machine, "8@sp", ARG(USDT_REGISTER, 8, false, 31, NO, 1, 0, 0));
	check_arg(machine, "8@xzr", ARG(USDT_CONSTANT, 8, false, NO, NO, 1, 0, 0));
	check_arg(machine, "-4@-5", ARG(USDT_CONSTANT, 4, true, NO, NO, 1, 0, -5));
	check_arg(machine, "8@[sp, 16]", ARG(USDT_MEMORY, 8, false, 31, NO, 1, 0, 16));
	check_arg(machine, "8@[x29,#-16]", ARG(USDT_MEMORY, 8, false, 29, NO, 1, 0, -16));
	check_arg(machine, "8@[x1]", ARG(USDT_MEMORY, 8, false, 1, NO, 1, 0, 0));
	check_arg(machine, "8@[x1, x2]", ARG(USDT_MEMORY, 8, false, 1, 2, 1, 0, 0));
	check_arg(machine, "8@[x1, x2, lsl 3]", ARG(USDT_MEMORY, 8, false, 1, 2, 8, 0, 0));
}
END_TEST

START_TEST(test_several_args)
{
	struct usdt_arg args[MAX_USDT_ARGS];

	ck_assert_int_eq(usdt_args_parse(EM_X86_64, "8@%rdi -4@$5 8@-8(%rbp)", args), 3);
	ck_assert_int_eq(args[2].base, 6);
	ck_assert_int_eq(usdt_args_parse(EM_AARCH64, "8@[sp, 16] 8@x1", args), 2);
	ck_assert_int_eq(args[1].base, 1);
	ck_assert_int_eq(usdt_args_parse(EM_X86_64, "", args), 0);
	ck_assert_int_eq(usdt_args_parse(EM_X86_64,
	                                 "1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 "
	                                 "1@$1 1@$1",
	                                 args),
	                 -E2BIG);
}
END_TEST

START_TEST(test_unknown_args)
{
	static const char *const unknown[] = {
		"%rdi",          "8@",        "8@%xmm0",
		"8@4f",          "3@%rdi",    "8f@%xmm0",
		"8@sym(%rip)",   "8@8(%rip)", "8@8(%eax)",
		"8@8(%rax",      "8@8()",     "8@(%rax,%rcx,3)",
		"8@(%rax,%rcx,", "8@%rdix",   "8@$",
		"-@%rdi",        "8@%rdi,",   "8@$99999999999999999999",
	};
	static const char *const unknown_arm64[] = {"8@x31", "8@x0x", "8@[x0", "8@[x0, x1, lsl 9]",
	                                            "8@d0",  "8@[8]", "8@x",   "8@[sp, ]"};
	struct usdt_arg args[MAX_USDT_ARGS];

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		ck_assert_msg(usdt_args_parse(EM_X86_64, unknown[i], args) == -ENOTSUP, "%s",
		              unknown[i]);
	for (size_t i = 0; i < sizeof(unknown_arm64) / sizeof(*unknown_arm64); i++)
		ck_assert_msg(usdt_args_parse(EM_AARCH64, unknown_arm64[i], args) == -ENOTSUP, "%s",
		              unknown_arm64[i]);
	ck_assert_int_eq(usdt_args_parse(EM_386, "4@%eax", args), -ENOTSUP);
}
END_TEST

/* Which answers of a reader process are accepted, and the answer for a file without probes. */
START_TEST(test_by_a_reader)
{
	_cleanup_(reader_freep) struct reader *reader =
		reader_new(&(struct reader_program){READER_SELF, "test", 64 << 20, 0});
	struct usdt_file good = {.count = 1}, file;
	struct elf_image image;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(usdt_ask(reader, fd, 1, &file), -ENOENT);
	good.sites[0].site.args[0] = (struct static_arg){STATIC_MEMORY, 8, 1, 7, 0xff, 0, 0, 0, 16};
	ck_assert_int_eq(usdt_check((uint8_t *)&good, sizeof(good)), 0);
	ck_assert_int_eq(usdt_check((uint8_t *)&good, sizeof(good) - 1), -EBADMSG);
	file = good;
	file.count = 0;
	ck_assert_int_eq(usdt_check((uint8_t *)&file, sizeof(file)), -EBADMSG);
	file.count = MAX_USDT_SITES + 1;
	ck_assert_int_eq(usdt_check((uint8_t *)&file, sizeof(file)), -EBADMSG);
	file = good;
	file.sites[0].probe = STATIC_PROBE_COUNT;
	ck_assert_int_eq(usdt_check((uint8_t *)&file, sizeof(file)), -EBADMSG);
	file = good;
	file.sites[0].site.args[2].place = STATIC_MEMORY + 1;
	ck_assert_int_eq(usdt_check((uint8_t *)&file, sizeof(file)), -EBADMSG);
	file = good;
	file.sites[0].site.args[1].bytes = 9;
	ck_assert_int_eq(usdt_check((uint8_t *)&file, sizeof(file)), -EBADMSG);
}
END_TEST

Suite *usdt_suite(void)
{
	Suite *suite = suite_create("usdt");
	TCase *tcase = tcase_create("usdt");

	tcase_add_test(tcase, test_notes);
	tcase_add_test(tcase, test_no_notes);
	tcase_add_test(tcase, test_damaged);
	tcase_add_test(tcase, test_x86_args);
	tcase_add_test(tcase, test_arm64_args);
	tcase_add_test(tcase, test_several_args);
	tcase_add_test(tcase, test_unknown_args);
	tcase_add_test(tcase, test_by_a_reader);
	suite_add_tcase(suite, tcase);
	return suite;
}
