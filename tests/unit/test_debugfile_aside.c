/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A debug file that cannot be opened for as long as its file system hangs, as a listener of
 * fanotify makes it hang: profiles and unwind tables do without it, and those of other users have
 * theirs.
 */
#include "base/clock.h"
#include "object/debugfile.h"
#include "symbolize/debug_files.h"
#include "symbolize/symbolize.h"
#include "tests/unit/hanging.h"
#include "tests/unit/lacks.h"
#include "tests/unit/open_mapped.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"
#include "unwind/table_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 20, ALICE = 1000, CODE = 0x401000 };

static const struct range everything = {0, UINT64_MAX};
static char folder[] = "/tmp/profd-aside-XXXXXX";

static struct {
	struct aside *aside;
	struct reader *reader;
	int listener;
	uint32_t objects;
	uint64_t begun_ns;
} all;

static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* A file with a build ID whose bytes are all `id`, and if `link` is not NULL with a debug link. */
static void image_make(struct section_image *image, uint8_t id, const char *link)
{
	struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[ID_BYTES];
	} note = {{4, ID_BYTES, NT_GNU_BUILD_ID}, "GNU", {0}};
	char section[32] = "";

	section_image_init(image);
	memset(note.id, id, sizeof(note.id));
	section_image_add(image, ".note.gnu.build-id", 0, &note, sizeof(note));
	section_image_add(image, ".text", CODE, "\xc3", 1);
	if (link) {
		snprintf(section, sizeof(section), "%s", link);
		section_image_add(image, ".gnu_debuglink", 0, section, strlen(link) / 4 * 4 + 8);
	}
	section_image_seal(image);
}

static void put_file(const char *name, uint8_t id, const char *link)
{
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_close_ int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	image_make(&image, id, link);
	ck_assert_int_eq(write(fd, image.out.data, image.out.len), image.out.len);
}

/* Of a program in the folder, whose debug file is the one of that name. Each is another process. */
static struct object *new_object(uint8_t id, const char *link, uint32_t user)
{
	_cleanup_(section_image_release) struct section_image image;
	struct object *object = NULL;

	image_make(&image, id, link);
	ck_assert_int_eq(
		object_open_bytes(image.out.data, image.out.len, in_folder("program"), &object), 0);
	object->user = user;
	object->id = ++all.objects;
	object->pid = INT32_MAX - object->id;
	return object;
}

static void set_up(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	put_file("slow.debug", 1, NULL);
	put_file("fast.debug", 2, NULL);
	all.aside = aside_new();
	all.reader = reader_new(&(struct reader_program){READER_SELF, "test", 256 << 20, 0});
	ck_assert(all.aside && all.reader);
	all.listener = hang_opens_of(in_folder("slow.debug"));
	all.begun_ns = clock_mono_ns();
}

static void let_go(void)
{
	if (all.listener >= 0)
		close(TAKE_FD(all.listener));
}

static void tear_down(void)
{
	static const char *const names[] = {"slow.debug", "fast.debug", "program", ""};

	let_go();
	aside_free(all.aside);
	reader_free(all.reader);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		remove(in_folder(names[i]));
}

static bool cannot_hang(void)
{
	return host_lacks(all.listener >= 0, "root and fanotify, by which files hang");
}

static void expect_soon(void)
{
	ck_assert_uint_lt(clock_mono_ns() - all.begun_ns, 15 * NSEC_PER_SEC);
}

static bool refresh(struct debug_files *files, struct object *object)
{
	uint64_t check_ns = NSEC_PER_SEC;

	return debug_files_refresh(files, object,
	                           &(struct debug_search){all.reader, all.aside, NULL, &check_ns});
}

START_TEST(names_do_without_it)
{
	_cleanup_(object_unrefp) struct object *slow = new_object(1, "slow.debug", 0),
					       *fast = new_object(2, "fast.debug", ALICE);
	_cleanup_(debug_files_release) struct debug_files slows = DEBUG_FILES_NONE,
							  fasts = DEBUG_FILES_NONE;

	if (cannot_hang())
		return;
	ck_assert(!refresh(&slows, slow));
	ck_assert(slows.is_late && !slows.debug);
	/* It is not searched for again at once. */
	uint64_t looked_ns = slows.looked_ns;
	ck_assert(!refresh(&slows, slow));
	ck_assert(slows.is_late);
	ck_assert_uint_eq(slows.looked_ns, looked_ns);
	/* The call that is left behind has its thread; other searches have another one. */
	ck_assert(refresh(&fasts, fast));
	ck_assert(fasts.debug && !fasts.is_late);
	ck_assert_str_eq(fasts.debug->path, in_folder("fast.debug"));
	expect_soon();
	let_go();
	/* Ten seconds later. */
	slows.looked_ns -= 10 * NSEC_PER_SEC;
	for (int i = 0; i < 500 && !slows.debug; i++) {
		usleep(10000);
		refresh(&slows, slow);
	}
	ck_assert(slows.debug && !slows.is_late);
	ck_assert(!refresh(&slows, slow));
}
END_TEST

/* While one of a user's files hangs, no other one is waited for. */
START_TEST(a_user_waits_once)
{
	_cleanup_(object_unrefp) struct object *slow = new_object(1, "slow.debug", ALICE),
					       *fast = new_object(2, "fast.debug", ALICE);
	_cleanup_(debug_files_release) struct debug_files slows = DEBUG_FILES_NONE,
							  fasts = DEBUG_FILES_NONE;

	if (cannot_hang())
		return;
	ck_assert(!refresh(&slows, slow));
	for (int i = 0; i < 100; i++) {
		ck_assert(!refresh(&fasts, fast));
		ck_assert(fasts.is_late);
	}
	expect_soon();
}
END_TEST

START_TEST(tables_do_without_it)
{
	_cleanup_(object_unrefp) struct object *slow = new_object(1, "slow.debug", 0),
					       *fast = new_object(2, "fast.debug", ALICE);
	struct table_asker asker = {.reader = all.reader, .aside = all.aside};
	struct table *table;
	int err = -ECHILD;

	if (cannot_hang())
		return;
	/* Neither file has call frame information. */
	ck_assert_int_eq(table_ask(&asker, slow, false, everything, 1 << 20, &table), -ECHILD);
	ck_assert_int_eq(table_ask(&asker, fast, false, everything, 1 << 20, &table), -ENODATA);
	expect_soon();
	let_go();
	for (int i = 0; i < 500 && err == -ECHILD; i++) {
		usleep(10000);
		err = table_ask(&asker, slow, false, everything, 1 << 20, &table);
	}
	ck_assert_int_eq(err, -ENODATA);
}
END_TEST

/* The profile says that a file's names are not ready. */
static void expect_late(struct symbolizer *symbolizer, uint32_t object)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping mapping = {.path = builder_text(builder, in_folder("program")),
	                          .kind = MAPPING_FILE,
	                          .object = object};

	builder_location(builder, builder_mapping(builder, &mapping), CODE);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	const struct profile *profile = builder_view(builder);
	ck_assert_uint_eq(profile->locations[1].line_count, 1);
	ck_assert_str_eq(profile_string(profile, profile->comments[profile->comment_count - 1]),
	                 "names of 1 files are not ready yet: ask again later");
}

START_TEST(a_profile_does_without_it)
{
	struct store *store = store_new(10);
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer =
		symbolizer_new(&(struct symbolizer_config){
			.store = store, .program = READER_SELF, .max_bytes = 64 << 20});

	put_file("program", 1, "slow.debug");
	if (!cannot_hang()) {
		const struct object *object = open_named(store, in_folder("program"));

		ck_assert_ptr_nonnull(object);
		expect_late(symbolizer, object->id);
		expect_late(symbolizer, object->id);
		expect_soon();
	}
	let_go();
	store_free(store);
}
END_TEST

Suite *debugfile_aside_suite(void)
{
	Suite *suite = suite_create("debugfile_aside");
	TCase *tests = tcase_create("debugfile_aside");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, names_do_without_it);
	tcase_add_test(tests, a_user_waits_once);
	tcase_add_test(tests, tables_do_without_it);
	tcase_add_test(tests, a_profile_does_without_it);
	suite_add_tcase(suite, tests);
	return suite;
}
