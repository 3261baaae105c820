/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_client with a reader process under the control of an attacker: small shell scripts
 * take its place.
 */
#include "names/client.h"

#include "base/clock.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The first message of a reader process: a header without error and without bytes. */
#define HELLO    "head -c 16 /dev/zero >&3\n"
#define REQUEST  "head -c 32 <&3 >/dev/null\n" /* header, file and one address */
#define ZEROS(n) "head -c " #n " /dev/zero >&3\n"
/* The header of an answer without error, of that many bytes (in octal). */
#define ANSWER(len) ZEROS(8) "printf '" len "\\0\\0\\0\\0' >&3\n"
#define FOREVER     "exec sleep 1000\n"
/* Only the deadline ends these scripts. */
#define SILENT "# silent\n"

static const struct takeover {
	const char *script;
	int error;
	uint64_t starts, crashes;
} takeovers[] = {
	/* The process does not even start properly. */
	{"exit 0\n", -ECHILD, 0, 0},
	{"printf abc >&3\n", -ECHILD, 0, 0},
	{"printf '\\377\\377\\377\\377' >&3\n" ZEROS(12), -ECHILD, 0, 0},
	{"printf '\\1\\0\\0\\0' >&3\n" ZEROS(12), -ECHILD, 0, 0},
	{ZEROS(8) "printf '\\1\\0\\0\\0\\0\\0\\0\\0' >&3\n" ZEROS(1), -ECHILD, 0, 0},
	{SILENT FOREVER, -ECHILD, 0, 0},
	/* The process dies during a request, with lines and without. */
	{HELLO, -EIO, 2, 2},
	{HELLO REQUEST, -EIO, 2, 2},
	{HELLO REQUEST "kill -SEGV $$\n", -EIO, 2, 2},
	{HELLO REQUEST ZEROS(15), -EIO, 2, 2},
	{HELLO REQUEST ANSWER("\\144\\0\\0\\0") ZEROS(99), -EIO, 2, 2},
	/* Silence at various points. The process counts as kept from running, not as crashed. */
	{HELLO SILENT FOREVER, -ECHILD, 1, 0},
	{HELLO REQUEST SILENT FOREVER, -ECHILD, 1, 0},
	{HELLO REQUEST ZEROS(15) SILENT FOREVER, -ECHILD, 1, 0},
	{HELLO REQUEST ANSWER("\\144\\0\\0\\0") ZEROS(99) SILENT FOREVER, -ECHILD, 1, 0},
	/* The answer comes byte by byte. */
	{HELLO REQUEST SILENT "while printf '\\0' >&3; do sleep 0.1; done\n", -ECHILD, 1, 0},
	/* Malformed answers. */
	{HELLO REQUEST ANSWER("\\0\\0\\0\\0") FOREVER, -EIO, 2, 2},
	{HELLO REQUEST ANSWER("\\100\\0\\0\\0") ZEROS(64) FOREVER, -EIO, 2, 2},
	{HELLO REQUEST ANSWER("\\1\\0\\0\\20") FOREVER, -EIO, 2, 2},
	{HELLO REQUEST ANSWER("\\377\\377\\377\\377") FOREVER, -EIO, 2, 2},
	{HELLO REQUEST "printf '\\1\\0\\0\\0' >&3\n" ZEROS(12) FOREVER, -EIO, 2, 2},
	{HELLO REQUEST "printf '\\0\\0\\0\\200' >&3\n" ZEROS(12) FOREVER, -EIO, 2, 2},
	{HELLO REQUEST "head -c 64 /dev/urandom >&3\n" FOREVER, -EIO, 2, 2},
	/* No memory (-12). */
	{HELLO REQUEST "printf '\\364\\377\\377\\377' >&3\n" ZEROS(12) FOREVER, -EIO, 2, 2},
	/* Other errors are passed on (-2). */
	{HELLO REQUEST "printf '\\376\\377\\377\\377' >&3\n" ZEROS(12) FOREVER, -ENOENT, 1, 0},
	/* A good answer without frames, followed by bytes that were not asked for. */
	{HELLO REQUEST ANSWER("\\11\\0\\0\\0") "printf '\\1' >&3\n" ZEROS(8) FOREVER, 0, 1, 0},
};

static void write_script(char path[32], const char *script)
{
	static const char first[] = "#!/bin/sh\n";

	strcpy(path, "/tmp/profd-names-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, first, strlen(first)), (ssize_t)strlen(first));
	ck_assert_int_eq(write(fd, script, strlen(script)), (ssize_t)strlen(script));
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	close(fd);
}

static int ask(struct names_client *client, struct told_frames *told)
{
	static const uint64_t address = 0x401010;
	struct elf_image image;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	struct names_query query = {
		.file = 1, .fds = {fd, fd, fd}, .addresses = &address, .count = 1, .lines = true};
	return names_client_find(client, &query, tell_frame, told);
}

START_TEST(taken_over)
{
	const struct takeover *takeover = &takeovers[_i];
	int before = count_fds(getpid());
	struct told_frames told = {0};
	struct names_stats stats;
	char path[32];

	write_script(path, takeover->script);
	struct names_client *client = names_client_new(path, 64 << 20);
	if (strstr(takeover->script, SILENT))
		names_client_deadline(client, NSEC_PER_SEC);
	ck_assert_int_eq(ask(client, &told), takeover->error);
	names_client_get_stats(client, &stats);
	ck_assert_uint_eq(stats.starts, takeover->starts);
	ck_assert_uint_eq(stats.crashes, takeover->crashes);
	ck_assert_uint_eq(stats.files_failed, takeover->crashes ? 1 : 0);
	/* A file that was given up costs no further process. */
	if (takeover->error == -EIO || takeover->error == -ECHILD) {
		ck_assert_int_eq(ask(client, &told), takeover->error);
		names_client_get_stats(client, &stats);
		ck_assert_uint_eq(stats.starts, takeover->starts);
	}
	ck_assert_uint_eq(told.count, 0);
	names_client_free(client);
	unlink(path);
	ck_assert_int_eq(count_fds(getpid()), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(no_such_program)
{
	int before = count_fds(getpid());
	struct names_client *client = names_client_new("/nonexistent/profd", 64 << 20);

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(ask(client, NULL), -ECHILD);
	names_client_free(client);
	ck_assert_int_eq(count_fds(getpid()), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

Suite *names_hostile_suite(void)
{
	Suite *suite = suite_create("names_hostile");
	TCase *all = tcase_create("taken over");

	tcase_add_loop_test(all, taken_over, 0, sizeof(takeovers) / sizeof(takeovers[0]));
	tcase_add_test(all, no_such_program);
	tcase_set_timeout(all, 30);
	suite_add_tcase(suite, all);
	return suite;
}
