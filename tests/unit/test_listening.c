/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The command that the daemon suggests to users, for sockets of any origin.
 */
#include "listening.h"

#include "tests/unit/suites.h"

#define REST "/profile?seconds=5' -o cpu.pb.gz && go tool pprof -top cpu.pb.gz"

static const struct {
	struct listener listener;
	size_t user_count;
	const char *line;
} steps[] = {
	{{.name = "127.0.0.1:9090"}, 0, "curl -s 'localhost:9090" REST},
	{{.name = "[::]:80"}, 0, "curl -s 'localhost:80" REST},
	{{.name = "127.0.0.1:9090"}, 1, "curl -s -u USER 'localhost:9090" REST},
	{{.name = "unix:/run/p.sock", .local = true},
         0,
         "curl -s --unix-socket /run/p.sock 'localhost" REST},
	{{.name = "unix:/run/p.sock", .local = true, .path = "/run/p.sock"},
         1,
         "curl -s --unix-socket /run/p.sock 'localhost" REST},
	/* The socket was handed over, so there is nothing to unlink. */
	{{.name = "unix:/run/p.sock", .local = true},
         1,
         "curl -s --unix-socket /run/p.sock 'localhost" REST},
	{{.name = "unix:@p", .local = true}, 1, "curl -s --abstract-unix-socket p 'localhost" REST},
};

START_TEST(next_step)
{
	const struct access access = {.config.user_count = steps[_i].user_count};
	char line[NEXT_STEP_BYTES];

	listening_next_step(&steps[_i].listener, &access, line);
	ck_assert_str_eq(line, steps[_i].line);
}
END_TEST

Suite *listening_suite(void)
{
	Suite *suite = suite_create("listening");
	TCase *all = tcase_create("all");

	tcase_add_loop_test(all, next_step, 0, sizeof(steps) / sizeof(steps[0]));
	suite_add_tcase(suite, all);
	return suite;
}
