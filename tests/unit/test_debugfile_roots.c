/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Separate debug files found by checksum or below another process's root folder, and supplements;
 * also which files are rejected.
 */
#include "object/reach.h"
#include "tests/unit/debug_of.h"
#include "tests/unit/section_image.h"
#include "tests/unit/lacks.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

enum { ID_BYTES = 20 };

static char folder[] = "/tmp/profd-debugroots-XXXXXX";

static void set_up(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Writes a file, and the folders that it needs. */
static void put_file(const char *name, const struct buf *bytes)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", in_folder(name));
	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes->data, bytes->len), bytes->len);
}

/* An image with this section, and with a build ID whose bytes are all `id`; 0: without a build
 * ID. */
static void image_make(struct section_image *image, uint8_t id, const char *name, const void *bytes,
                       size_t len)
{
	struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[ID_BYTES];
	} note = {{4, ID_BYTES, NT_GNU_BUILD_ID}, "GNU", {0}};

	section_image_init(image);
	memset(note.id, id, sizeof(note.id));
	if (id)
		section_image_add(image, ".note.gnu.build-id", 0, &note, sizeof(note));
	section_image_add(image, name, 0, bytes, len);
	section_image_seal(image);
}

static void put_image(const char *path, uint8_t id)
{
	_cleanup_(section_image_release) struct section_image image;

	image_make(&image, id, ".contents", path, strlen(path));
	put_file(path, &image.out);
}

/* An object of that image, as if that process had mapped it from that path. */
static struct object *open_object(const struct section_image *image, const char *path, uint32_t pid)
{
	struct object *object = NULL;

	ck_assert_int_eq(object_open_bytes(image->out.data, image->out.len, path, &object), 0);
	object->pid = pid;
	object->root = pid ? reach_root_id(pid) : (struct root_id){0};
	return object;
}

/* Makes the contents of a .gnu_debuglink section. */
static void link_make(struct buf *link, const char *name, uint32_t checksum)
{
	buf_add(link, name, strlen(name) + 1);
	while (link->len % 4)
		buf_add(link, "", 1);
	buf_add(link, &checksum, sizeof(checksum));
}

static int search_by_checksum(uint8_t id, uint32_t checksum)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};

	link_make(&link, "x.debug", checksum);
	image_make(&image, id, ".gnu_debuglink", link.data, link.len);
	_cleanup_(object_unrefp) struct object *object =
		open_object(&image, in_folder("program"), 0);
	return debug_of(object, &debug);
}

START_TEST(by_checksum)
{
	_cleanup_(section_image_release) struct section_image image;

	image_make(&image, 0, ".contents", "contents", 8);
	put_file("x.debug", &image.out);
	uint32_t right = (uint32_t)crc32(0, image.out.data, (uInt)image.out.len);

	ck_assert_int_eq(search_by_checksum(0, right), 0);
	ck_assert_int_eq(search_by_checksum(0, right + 1), -ENOENT);
	/* If one of the files has a build ID, the other must have the same. */
	ck_assert_int_eq(search_by_checksum(7, right), -ENOENT);
	put_image("x.debug", 7);
	ck_assert_int_eq(search_by_checksum(0, right), -ENOENT);
	ck_assert_int_eq(search_by_checksum(7, right), 0);
}
END_TEST

/* The link contains the name of the executable itself; the debug file is in .debug. */
START_TEST(not_itself)
{
	_cleanup_(object_unrefp) struct object *object = NULL, *debug = NULL, *none = NULL;
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};

	link_make(&link, "program", 0);
	image_make(&image, 3, ".gnu_debuglink", link.data, link.len);
	put_file("program", &image.out);
	int fd = open(in_folder("program"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(object_open_fd(fd, in_folder("program"), &object), 0);
	ck_assert_int_eq(debug_of(object, &none), -ENOENT);
	put_image(".debug/program", 3);
	ck_assert_int_eq(debug_of(object, &debug), 0);
	ck_assert_str_eq(debug->path, in_folder(".debug/program"));
}
END_TEST

/* Starts a process whose root folder is FOLDER/root; stop() ends it. */
static pid_t start_contained(void)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (chroot(in_folder("root")) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int search_of(uint8_t id, const char *path, pid_t pid)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};

	link_make(&link, "x.debug", 0);
	image_make(&image, id, ".gnu_debuglink", link.data, link.len);
	_cleanup_(object_unrefp) struct object *object = open_object(&image, path, (uint32_t)pid);
	int err = debug_of(object, &debug);
	if (err == 0)
		ck_assert_uint_eq(debug->pid, (uint32_t)pid);
	return err;
}

START_TEST(in_another_root)
{
	char outside[PATH_MAX], host[PATH_MAX];

	if (host_lacks(geteuid() == 0, "root"))
		return;
	put_image("root/opt/x.debug", 1);
	put_image("root/usr/lib/debug/.build-id/02/02020202020202020202020202020202020202.debug",
	          2);
	put_image("root/real/x.debug", 3);
	put_image("x.debug", 4);
	/* Symbolic links are resolved within the process's root. */
	ck_assert_int_eq(symlink("/real", in_folder("root/linked")), 0);
	snprintf(outside, sizeof(outside), "%s/root/outside", folder);
	ck_assert_int_eq(symlink(folder, outside), 0);
	snprintf(host, sizeof(host), "%s/program", folder);

	pid_t pid = start_contained();
	ck_assert_int_eq(search_of(1, "/opt/program", pid), 0);
	ck_assert_int_eq(search_of(2, "/opt/program", pid), 0);
	ck_assert_int_eq(search_of(3, "/linked/program", pid), 0);
	ck_assert_int_eq(search_of(4, "/outside/program", pid), -ENOENT);
	ck_assert_int_eq(search_of(4, "/../program", pid), -ENOENT);
	ck_assert_int_eq(search_of(5, "/opt/program", pid), -ENOENT);
	/* A file that is not in the process's root is searched for outside. */
	ck_assert_int_eq(search_of(4, host, pid), 0);
	stop(pid);
	ck_assert_int_eq(search_of(1, "/opt/program", pid), -ENOENT);
	ck_assert_int_eq(search_of(4, host, pid), 0);
	ck_assert_int_eq(search_of(4, host, getpid()), 0);
}
END_TEST

/* The process has ended, and its pid now belongs to a process in another root, which has a matching
 * file. */
START_TEST(reused_number)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};

	if (host_lacks(geteuid() == 0, "root"))
		return;
	put_image("root/opt/x.debug", 1);
	link_make(&link, "x.debug", 0);
	image_make(&image, 1, ".gnu_debuglink", link.data, link.len);
	pid_t pid = start_contained();
	_cleanup_(object_unrefp) struct object *object =
		open_object(&image, "/opt/program", (uint32_t)pid);
	object->root = reach_root_id((uint32_t)getpid());
	ck_assert_int_eq(debug_of(object, &debug), -ENOENT);
	object->root = (struct root_id){0};
	ck_assert_int_eq(debug_of(object, &debug), -ENOENT);
	object->root = reach_root_id((uint32_t)pid);
	ck_assert_int_eq(debug_of(object, &debug), 0);
	stop(pid);
}
END_TEST

/* The contents of the supplement of a file at FOLDER/lib/x.debug; "" if there is none. */
static const char *supplement(const char *path, uint8_t id, size_t id_len)
{
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};
	struct elf_section contents;
	static char text[PATH_MAX];

	buf_add(&link, path, strlen(path) + 1);
	for (size_t i = 0; i < id_len; i++)
		buf_add(&link, &id, 1);
	image_make(&image, 9, ".gnu_debugaltlink", link.data, link.len);
	_cleanup_(object_unrefp) struct object *object =
		open_object(&image, in_folder("lib/x.debug"), 0);
	_cleanup_close_ int fd = supplement_of(object);
	text[0] = '\0';
	if (fd < 0) {
		ck_assert_int_eq(fd, -ENOENT);
		return text;
	}
	_cleanup_(elf_freep) struct elf *elf = NULL;
	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(elf_read_section(elf, ".contents", PATH_MAX, &contents), 0);
	snprintf(text, sizeof(text), "%.*s", (int)contents.len, (const char *)contents.bytes);
	free(contents.bytes);
	return text;
}

START_TEST(supplements)
{
	char absolute[PATH_MAX], most[3 * PATH_MAX];

	put_image("lib/near", 1);
	put_image("dwz/far", 2);
	put_image("dwz/plain", 0);
	snprintf(absolute, sizeof(absolute), "%s", in_folder("dwz/far"));
	ck_assert_str_eq(supplement("near", 1, ID_BYTES), "lib/near");
	ck_assert_str_eq(supplement("../dwz/far", 2, ID_BYTES), "dwz/far");
	ck_assert_str_eq(supplement(absolute, 2, ID_BYTES), "dwz/far");

	ck_assert_str_eq(supplement("near", 2, ID_BYTES), "");
	ck_assert_str_eq(supplement("near", 1, ID_BYTES - 1), "");
	ck_assert_str_eq(supplement("near", 1, ID_BYTES + 1), "");
	ck_assert_str_eq(supplement("near", 1, 0), "");
	ck_assert_str_eq(supplement("near", 1, 4000), "");
	ck_assert_str_eq(supplement("../dwz/plain", 0, ID_BYTES), "");
	ck_assert_str_eq(supplement("nowhere", 1, ID_BYTES), "");
	ck_assert_str_eq(supplement("", 1, ID_BYTES), "");
	ck_assert_str_eq(supplement("..", 1, ID_BYTES), "");
	ck_assert_str_eq(supplement("/", 1, ID_BYTES), "");
	if (geteuid() != 0)
		return;
	/* A file of another user is not accepted as the supplement. */
	ck_assert_int_eq(chown(in_folder("lib/near"), 1234, 1234), 0);
	ck_assert_str_eq(supplement("near", 1, ID_BYTES), "");
	ck_assert_str_eq(supplement("/dev/null", 1, ID_BYTES), "");
	memset(most, 'x', sizeof(most) - 1);
	most[sizeof(most) - 1] = '\0';
	ck_assert_str_eq(supplement(most, 1, ID_BYTES), "");
	most[PATH_MAX - 40] = '\0';
	ck_assert_str_eq(supplement(most, 1, ID_BYTES), "");
}
END_TEST

START_TEST(no_supplement)
{
	_cleanup_(section_image_release) struct section_image image;

	image_make(&image, 1, ".contents", "", 1);
	_cleanup_(object_unrefp) struct object *object = open_object(&image, "/x", 0);
	ck_assert_int_eq(supplement_of(object), -ENOENT);
}
END_TEST

/* The supplement is searched for in the root of the process that mapped the file, there also below
 * the folder of supplements. */
START_TEST(supplement_in_another_root)
{
	_cleanup_(section_image_release) struct section_image image;
	_cleanup_(buf_release) struct buf link = {0};
	uint8_t id[ID_BYTES];

	if (host_lacks(geteuid() == 0, "root"))
		return;
	memset(id, 6, sizeof(id));
	buf_add_text(&link, "/build/.dwz/amd64/package.debug");
	buf_add(&link, "", 1);
	buf_add(&link, id, sizeof(id));
	image_make(&image, 9, ".gnu_debugaltlink", link.data, link.len);
	put_image("root/usr/lib/debug/.dwz/amd64/package.debug", 6);
	pid_t pid = start_contained();
	_cleanup_(object_unrefp) struct object *object = open_object(&image, "/x", (uint32_t)pid);
	_cleanup_close_ int fd = supplement_of(object);
	ck_assert_int_ge(fd, 0);
	stop(pid);
	ck_assert_int_eq(supplement_of(object), -ENOENT);
}
END_TEST

Suite *debugfile_roots_suite(void)
{
	Suite *suite = suite_create("debugfile_roots");
	TCase *tcase = tcase_create("debugfile_roots");

	tcase_set_timeout(tcase, 20);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, by_checksum);
	tcase_add_test(tcase, not_itself);
	tcase_add_test(tcase, in_another_root);
	tcase_add_test(tcase, reused_number);
	tcase_add_test(tcase, supplements);
	tcase_add_test(tcase, no_supplement);
	tcase_add_test(tcase, supplement_in_another_root);
	suite_add_tcase(suite, tcase);
	return suite;
}
