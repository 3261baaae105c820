/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What asyncio says of itself in a file.
 */
#include "python/python_asyncio.h"
#include "tests/unit/python_image.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static const struct python_asyncio asyncio_314 = {
	.task_name = 136,
	.task_coroutine = 128,
	.task_awaited_by = 96,
	.task_awaited_by_set = 109,
	.task_node = 152,
	.thread_tasks = 880,
	.interpreter_tasks = 10880,
};

static int read_asyncio(const uint64_t *words, size_t len, struct python_asyncio *ret_asyncio)
{
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(elf_freep) struct elf *elf = NULL;

	section_image_init(&image);
	section_image_add(&image, ".AsyncioDebug", PYTHON_ASYNCIO, words, len);
	elf = section_image_open(&image);
	return python_asyncio_read(elf, ret_asyncio);
}

START_TEST(asyncio_describes_itself)
{
	enum { WORDS = PYTHON_ASYNCIO_WORDS };
	uint64_t words[WORDS];
	struct python_asyncio asyncio;

	ck_assert_int_eq(read_asyncio(python_asyncio_314, sizeof(words), &asyncio), 0);
	ck_assert_mem_eq(&asyncio, &asyncio_314, sizeof(asyncio));
	ck_assert_int_eq(read_asyncio(python_asyncio_314, sizeof(words) - 8, &asyncio), -EBADMSG);
	/* Each of them out of its structure; the loop and the task that run are not used. */
	for (size_t i = 0; i < WORDS; i++) {
		bool is_used = i != 3 && i != 10 && i != 11;

		memcpy(words, python_asyncio_314, sizeof(words));
		words[i] = UINT64_MAX - 8;
		ck_assert_int_eq(read_asyncio(words, sizeof(words), &asyncio),
		                 is_used ? -EBADMSG : 0);
		words[i] = 0;
		ck_assert_int_eq(read_asyncio(words, sizeof(words), &asyncio),
		                 is_used ? -EBADMSG : 0);
	}
}
END_TEST

Suite *python_asyncio_suite(void)
{
	Suite *suite = suite_create("python_asyncio");
	TCase *tests = tcase_create("words");

	tcase_add_test(tests, asyncio_describes_itself);
	suite_add_tcase(suite, tests);
	return suite;
}
