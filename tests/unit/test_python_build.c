/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a file that contains CPython says about it: every version, and every way to be wrong.
 */
#include "python/python_build.h"

#include "python/python_ask.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static int read_image(struct python_image *image, struct python_process *ret_process)
{
	_cleanup_(elf_freep) struct elf *elf = python_image_open(image);

	return python_build_read(elf, ret_process);
}

/* Reads a file whose _PyRuntime has these words. */
static int read_words(const uint64_t *words, size_t count, struct python_process *ret_process)
{
	_cleanup_(python_image_release) struct python_image image;

	python_image_init(&image);
	section_image_add(&image.file, ".data", PYTHON_DATA, words, count * sizeof(*words));
	python_image_symbol(&image, "_PyRuntime", STT_OBJECT, PYTHON_DATA, 8);
	return read_image(&image, ret_process);
}

/* Reads a file without a description: with Py_Version, unless that is 0, and with texts. */
static int read_old(uint64_t hex, const char *texts, size_t len, struct python_process *ret_process)
{
	static const uint8_t loop[0x100] = {0xc3}, zeros[0x100];
	_cleanup_(python_image_release) struct python_image image;

	python_image_init(&image);
	section_image_add(&image.file, ".text", PYTHON_TEXT, loop, sizeof(loop));
	section_image_add(&image.file, ".data", PYTHON_DATA, zeros, sizeof(zeros));
	section_image_add(&image.file, ".ver", PYTHON_RODATA, &hex, sizeof(hex));
	section_image_add(&image.file, ".rodata", PYTHON_RODATA + 0x100, texts, len);
	python_image_symbol(&image, "_PyRuntime", STT_OBJECT, PYTHON_DATA, sizeof(zeros));
	python_image_symbol(&image, "_PyEval_EvalFrameDefault", STT_FUNC, PYTHON_TEXT, 0x100);
	if (hex)
		python_image_symbol(&image, "Py_Version", STT_OBJECT, PYTHON_RODATA, 8);
	return read_image(&image, ret_process);
}

/* Offsets as compilers assign them for the headers of the same builds. */
static const struct python_process described[] = {
	{
		.interpreters = PYTHON_DATA + 632,
		.version = 0x030d,
		.entry = PYTHON_ENTRY_SHIM,
		.kind_shift = 2,
		.ascii_shift = 6,
		.interpreter_next = 7264,
		.interpreter_threads = 7344,
		.interpreter_gil = 16,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_frame = 72,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 68,
		.code_lines = 136,
		.code_bytecode = 200,
		.text_length = 16,
		.text_state = 32,
		.text_ascii = 40,
		.text_compact = 56,
		.bytes_length = 16,
		.bytes_data = 32,
		.gil_holder = 8,
		.gil_locked = 16,
		.interpreter_modules = 7656,
		.object_type = 8,
		.type_flags = 168,
		.type_cached_keys = 880,
		.dict_keys = 32,
		.dict_values = 40,
	},
	{
		.interpreters = PYTHON_DATA + 632,
		.version = 0x030d,
		.entry = PYTHON_ENTRY_SHIM,
		.free_threaded = 1,
		.kind_shift = 2,
		.ascii_shift = 6,
		.interpreter_next = 7264,
		.interpreter_threads = 7344,
		.interpreter_gil = 16,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_frame = 72,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_filename = 128,
		.code_name = 136,
		.code_qualname = 144,
		.code_first_line = 84,
		.code_lines = 152,
		.code_bytecode = 216,
		.text_length = 32,
		.text_state = 48,
		.text_ascii = 56,
		.text_compact = 72,
		.bytes_length = 32,
		.bytes_data = 48,
		.gil_holder = 16,
		.gil_locked = 24,
		.interpreter_modules = 7664,
		.object_type = 24,
		.type_flags = 184,
		.type_cached_keys = 896,
		.dict_keys = 48,
		.dict_values = 56,
	},
	{
		.interpreters = PYTHON_DATA + 808,
		.version = 0x030e,
		.entry = PYTHON_ENTRY_SHIM,
		.kind_shift = 2,
		.ascii_shift = 6,
		.interpreter_next = 7272,
		.interpreter_threads = 7344,
		.interpreter_gil = 16,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_frame = 72,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 74,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 68,
		.code_lines = 136,
		.code_bytecode = 208,
		.text_length = 16,
		.text_state = 32,
		.text_ascii = 40,
		.text_compact = 56,
		.bytes_length = 16,
		.bytes_data = 32,
		.gil_holder = 8,
		.gil_locked = 16,
	},
	{
		.interpreters = PYTHON_DATA + 808,
		.version = 0x030e,
		.entry = PYTHON_ENTRY_SHIM,
		.free_threaded = 1,
		.kind_shift = 8,
		.ascii_shift = 12,
		.interpreter_next = 7272,
		.interpreter_threads = 7344,
		.interpreter_gil = 16,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_frame = 72,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 78,
		.frame_tlbc = 72,
		.code_filename = 128,
		.code_name = 136,
		.code_qualname = 144,
		.code_first_line = 84,
		.code_lines = 152,
		.code_bytecode = 232,
		.code_tlbc = 224,
		.text_length = 32,
		.text_state = 48,
		.text_ascii = 56,
		.text_compact = 72,
		.bytes_length = 32,
		.bytes_data = 48,
		.gil_holder = 16,
		.gil_locked = 24,
	},
};

START_TEST(that_describe_themselves)
{
	static const struct {
		const uint64_t *words;
		size_t count;
	} files[] = {
		{python_words_313, PYTHON_WORDS_313},
		{python_words_313t, PYTHON_WORDS_313},
		{python_words_314, PYTHON_WORDS_314},
		{python_words_314t, PYTHON_WORDS_314},
	};
	struct python_process process;

	ck_assert_int_eq(read_words(files[_i].words, files[_i].count, &process), 0);
	ck_assert_mem_eq(&process, &described[_i], sizeof(process));
}
END_TEST

START_TEST(that_do_not)
{
#define TEXT(text) text, sizeof(text)
	static const struct {
		uint64_t hex;
		const char *texts;
		size_t len;
		int result;
		uint32_t version;
		uint8_t entry, last_unit;
	} cases[] = {
		{0, TEXT("cpython-38"), 0, 0x0308, PYTHON_ENTRY_LOOP, 1},
		{0, TEXT(".\0cpython-39-x86_64-linux-gnu"), 0, 0x0309, PYTHON_ENTRY_LOOP, 1},
		{0, TEXT("cpython-310\0cpython-310-"), 0, 0x030a, PYTHON_ENTRY_EACH, 2},
		{0x030b02f0, TEXT("cpython-38"), 0, 0x030b, PYTHON_ENTRY_RUN, 0},
		{0x030c00c1, TEXT(""), 0, 0x030c, PYTHON_ENTRY_SHIM, 0},
		{0, TEXT(""), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-37"), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-311"), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-38d"), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-3-cpython-3"), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-3100"), -ENOTSUP, 0, 0, 0},
		{0, TEXT("cpython-39\0cpython-38"), -ENOTSUP, 0, 0, 0},
		{0x030c00a4, TEXT("cpython-312"), -ENOTSUP, 0, 0, 0}, /* an alpha */
		{0x030d00f0, TEXT("cpython-313"), -ENOTSUP, 0, 0, 0}, /* has no description */
		{0x02070ff0, TEXT(""), -ENOTSUP, 0, 0, 0},
		{UINT64_MAX, TEXT(""), -ENOTSUP, 0, 0, 0},
	};
#undef TEXT
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct python_process process = {0};

		ck_assert_int_eq(read_old(cases[i].hex, cases[i].texts, cases[i].len, &process),
		                 cases[i].result);
		ck_assert_uint_eq(process.version, cases[i].version);
		ck_assert_uint_eq(process.entry, cases[i].entry);
		ck_assert_uint_eq(process.last_unit, cases[i].last_unit);
		if (cases[i].result)
			continue;
		ck_assert_uint_ge(process.interpreters, PYTHON_DATA + 32);
		ck_assert_uint_eq(process.gil != 0, process.version < 0x030c);
		ck_assert_uint_eq(process.loops[0][1], cases[i].last_unit == 1 ? 0x1100 : 0);
		ck_assert_uint_eq(process.loops[1][1], 0);
	}
}
END_TEST

/* The name may lie across the boundary of two blocks that are read. */
START_TEST(text_anywhere)
{
	enum { CHUNK = 64 * 1024, LEN = 3 * CHUNK };
	static char texts[LEN];
	struct python_process process;

	for (size_t at = CHUNK - 40; at < CHUNK + 4; at++) {
		memset(texts, 'c', sizeof(texts));
		memcpy(texts + at, "cpython-310", 12);
		ck_assert_int_eq(read_old(0, texts, sizeof(texts), &process), 0);
		ck_assert_uint_eq(process.version, 0x030a);
	}
	memset(texts, 'c', sizeof(texts));
	memcpy(texts + sizeof(texts) - 10, "cpython-38", 10);
	ck_assert_int_eq(read_old(0, texts, sizeof(texts), &process), 0);
	ck_assert_uint_eq(process.version, 0x0308);
	ck_assert_int_eq(read_old(0, texts, sizeof(texts) - 1, &process), -ENOTSUP);
}
END_TEST

START_TEST(descriptions_that_make_no_sense)
{
	static const struct {
		uint8_t word;
		uint64_t value;
		int result;
	} cases[] = {
		{1, 0x030d00f0 | 1ULL << 32, -ENOTSUP},
		{1, 0x030d00b1, -ENOTSUP},
		{1, 0x030f00f0, -ENOTSUP},
		{1, 0, -ENOTSUP},
		{2, 2, -EBADMSG},
		{8, UINT64_MAX, -EBADMSG},
		{9, 283401, -EBADMSG},
		{9, 70000, -EBADMSG}, /* in the structure, but too far */
		{9, 0, -EBADMSG},
		{14, 17, -EBADMSG},
		{15, 7769, -EBADMSG}, /* the GIL's state after its fields */
		{18, UINT64_MAX, -EBADMSG},
		{19, 0, -EBADMSG}, /* sizes */
		{28, 7, -EBADMSG},
		{34, UINT64_MAX, 0},
		{24, 153, -EBADMSG},
		{31, 84, -EBADMSG},
		{31, 0, -EBADMSG},
		{35, 256, -EBADMSG},
		{39, 205, -EBADMSG},
		{65, 417, -EBADMSG},
		{70, 100, -EBADMSG},
		{70, 0, -EBADMSG},
	};
	struct python_process process;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t words[PYTHON_WORDS_313];

		memcpy(words, python_words_313, sizeof(words));
		words[cases[i].word] = cases[i].value;
		ck_assert_msg(read_words(words, PYTHON_WORDS_313, &process) == cases[i].result,
		              "word %u", cases[i].word);
	}
	for (size_t count = 1; count < PYTHON_WORDS_313; count++)
		ck_assert_int_eq(read_words(python_words_313, count, &process), -EBADMSG);
	ck_assert_int_eq(read_words(python_words_313, PYTHON_WORDS_313, &process), 0);
}
END_TEST

START_TEST(files_without)
{
	_cleanup_(python_image_release) struct python_image none, function, far;
	struct python_process process;

	python_image_init(&none);
	section_image_add(&none.file, ".rodata", PYTHON_RODATA, "cpython-38", 11);
	python_image_symbol(&none, "_PyRuntime2", STT_OBJECT, PYTHON_RODATA, 8);
	ck_assert_int_eq(read_image(&none, &process), -ENOENT);
	python_image_init(&function);
	python_image_symbol(&function, "_PyRuntime", STT_FUNC, PYTHON_DATA, 8);
	ck_assert_int_eq(read_image(&function, &process), -ENOENT);
	/* A symbol with a false address. */
	python_image_init(&far);
	python_image_symbol(&far, "_PyRuntime", STT_OBJECT, UINT64_MAX, UINT64_MAX);
	python_image_symbol(&far, "Py_Version", STT_OBJECT, UINT64_MAX - 3, 8);
	ck_assert_int_eq(read_image(&far, &process), -EBADMSG);
}
END_TEST

START_TEST(other_machines)
{
	_cleanup_(python_image_release) struct python_image arm, other;
	struct python_process process;

	python_image_init(&arm);
	arm.file.machine = EM_AARCH64;
	section_image_add(&arm.file, ".data", PYTHON_DATA, python_words_313,
	                  sizeof(python_words_313));
	python_image_symbol(&arm, "_PyRuntime", STT_OBJECT, PYTHON_DATA, 8);
	ck_assert_int_eq(read_image(&arm, &process), 0);
	python_image_init(&other);
	other.file.machine = EM_386;
	section_image_add(&other.file, ".data", PYTHON_DATA, python_words_313,
	                  sizeof(python_words_313));
	python_image_symbol(&other, "_PyRuntime", STT_OBJECT, PYTHON_DATA, 8);
	ck_assert_int_eq(read_image(&other, &process), -ENOTSUP);
}
END_TEST

START_TEST(moved)
{
	struct python_process process = {
		.interpreters = 0x1000,
		.gil = 0x2000,
		.loops = {{0x100, 0x200}, {0x300, 0x400}},
	};

	python_build_move(&process, 0x550000000000);
	ck_assert_uint_eq(process.interpreters, 0x550000001000);
	ck_assert_uint_eq(process.gil, 0x550000002000);
	ck_assert_uint_eq(process.loops[1][1], 0x550000000400);
	ck_assert_uint_eq(process.loops[2][0], 0);
	process.gil = 0;
	python_build_move(&process, -0x550000000000ULL);
	ck_assert_uint_eq(process.interpreters, 0x1000);
	ck_assert_uint_eq(process.gil, 0);
	ck_assert_uint_eq(process.loops[0][0], 0x100);
}
END_TEST

/* Of a file with 3.14; `asyncio`: what that says of itself; NULL: there is no CPython, only its
 * words. */
static struct object *put_file(struct python_image *image, const uint64_t *asyncio)
{
	struct object *object;

	python_image_init(image);
	section_image_add(&image->file, ".data", PYTHON_DATA, python_words_314,
	                  PYTHON_WORDS_314 * sizeof(*python_words_314));
	if (asyncio) {
		section_image_add(&image->file, ".AsyncioDebug", PYTHON_ASYNCIO, asyncio,
		                  PYTHON_ASYNCIO_WORDS * sizeof(*asyncio));
		python_image_symbol(image, "_PyRuntime", STT_OBJECT, PYTHON_DATA, 8);
	}
	python_image_seal(image);
	ck_assert_int_eq(
		object_open_bytes(image->file.out.data, image->file.out.len, "file", &object), 0);
	return object;
}

/* The same in a reader process; and answers that are refused. */
START_TEST(by_a_reader)
{
	_cleanup_(reader_freep) struct reader *reader =
		reader_new(&(struct reader_program){READER_SELF, "test", 64 << 20, 0});
	_cleanup_(python_image_release) struct python_image image, with, other;
	_cleanup_(object_unrefp) struct object *bare = put_file(&image, NULL);
	_cleanup_(object_unrefp) struct object *object = put_file(&with, python_asyncio_314);
	_cleanup_(object_unrefp) struct object *odd = put_file(&other, python_words_314);
	struct python_contents contents;

	ck_assert_int_eq(python_ask(reader, bare, &contents), -ENOENT);
	ck_assert_int_eq(python_ask(reader, object, &contents), 0);
	ck_assert_mem_eq(&contents.process, &described[2], sizeof(described[2]));
	ck_assert_uint_eq(contents.asyncio.task_node, 152);
	ck_assert_int_eq(python_ask(reader, odd, &contents), 0);
	ck_assert_mem_eq(&contents.process, &described[2], sizeof(described[2]));
	ck_assert_mem_eq(&contents.asyncio, &(struct python_asyncio){0}, sizeof(contents.asyncio));

	ck_assert_int_eq(python_check((uint8_t *)&contents, sizeof(contents)), 0);
	ck_assert_int_eq(python_check((uint8_t *)&contents, sizeof(contents) - 1), -EBADMSG);
	contents.process.entry = PYTHON_ENTRY_SHIM + 1;
	ck_assert_int_eq(python_check((uint8_t *)&contents, sizeof(contents)), -EBADMSG);
	contents.process = described[2];
	contents.process.frame_owner = UINT16_MAX;
	ck_assert_int_eq(python_check((uint8_t *)&contents, sizeof(contents)), -EBADMSG);
	contents.process = described[2];
	contents.process.thread_next++;
	ck_assert_int_eq(python_check((uint8_t *)&contents, sizeof(contents)), -EBADMSG);
}
END_TEST

Suite *python_build_suite(void)
{
	Suite *suite = suite_create("python_build");
	TCase *tests = tcase_create("all");

	tcase_add_loop_test(tests, that_describe_themselves, 0, 4);
	tcase_add_test(tests, that_do_not);
	tcase_add_test(tests, text_anywhere);
	tcase_add_test(tests, descriptions_that_make_no_sense);
	tcase_add_test(tests, files_without);
	tcase_add_test(tests, other_machines);
	tcase_add_test(tests, moved);
	tcase_add_test(tests, by_a_reader);
	suite_add_tcase(suite, tests);
	return suite;
}
