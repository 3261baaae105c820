/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program that generates code and tells of it as HOW says, in /tmp/perf-PID.map. Runs for SECONDS
 * or until killed.
 *
 *   shares   Truth: the generated functions hot60, hot30 and hot10 take 60, 30 and 10 % of the
 * time; every stack is main, run, outer, leaf, of which outer and the leaf are generated. What the
 * file says of other addresses is partly no description of code. late     the same; the file is
 * written after two seconds. forged   the same; before that, the file has wrong names, and is older
 * than the program. replaced Truth: even_N and odd_N are by turns at about the same address, each
 * for 3.7 seconds. Code named even_N is only called by even(), and odd_N by odd().
 */
#include "work.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void leaf_fn(uint64_t count);
typedef void outer_fn(leaf_fn *leaf, uint64_t count);

enum { UNIT = 15 * 1000 * 1000, PAGE = 4096 };

/* Both keep a frame pointer. */
#ifdef __x86_64__
static const uint8_t leaf_code[] = {
	0x55,                                     /* push %rbp */
	0x48, 0x89, 0xe5,                         /* mov %rsp, %rbp */
	0xb8, 1,    0,    0,    0,                /* mov $1, %eax */
	0x48, 0x69, 0xc0, 0x2d, 0x7f, 0x95, 0x4c, /* imul $0x4c957f2d, %rax, %rax */
	0x48, 0xff, 0xcf,                         /* dec %rdi */
	0x75, 0xf4,                               /* jnz to the imul */
	0x5d, 0xc3,                               /* pop %rbp; ret */
};
static const uint8_t outer_code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,       /* call *%rax */
	0x5d, 0xc3,       /* pop %rbp; ret */
};
#else
static const uint32_t leaf_code[] = {
	0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xd2800021,             /* mov x1, #1 */
	0x9b017c21,             /* mul x1, x1, x1 */
	0xf1000400, 0x54ffffc1, /* subs x0, x0, #1; b.ne to the mul */
	0xa8c17bfd, 0xd65f03c0, /* ldp x29, x30, [sp], #16; ret */
};
static const uint32_t outer_code[] = {
	0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xaa0003e2, 0xaa0103e0, /* mov x2, x0; mov x0, x1 */
	0xd63f0040,             /* blr x2 */
	0xa8c17bfd, 0xd65f03c0, /* ldp x29, x30, [sp], #16; ret */
};
#endif

static uint8_t *code;
static FILE *map;

static void open_map(const char *mode)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, mode);
	if (!map)
		abort();
}

static void *place(size_t at, const void *bytes, size_t len)
{
	memcpy(code + at, bytes, len);
	__builtin___clear_cache((char *)code + at, (char *)code + at + len);
	return code + at;
}

static void tell(const void *at, size_t len, const char *name)
{
	fprintf(map, "%" PRIxPTR " %zx %s\n", (uintptr_t)at, len, name);
	fflush(map);
}

static __attribute__((noipa)) void run(outer_fn *outer, leaf_fn *leaf, uint64_t count)
{
	outer(leaf, count);
	__asm__ volatile(""); /* no tail call */
}

static void tell_shares(outer_fn *outer, leaf_fn *const leaves[3])
{
	fputs("no address at all\n\n0 0 nothing\nffffffffffffffff ff beyond\n12\n", map);
	tell(outer, sizeof(outer_code), "outer");
	tell((const void *)leaves[0], sizeof(leaf_code), "JS:*hot60 /srv/with space/app.js:7:11");
	tell((const void *)leaves[1], sizeof(leaf_code), "int Some::hot30(char const*, int)");
	tell((const void *)leaves[2], sizeof(leaf_code), "hot10");
}

static void shares(bool is_late, double stop)
{
	outer_fn *outer = (outer_fn *)place(0, outer_code, sizeof(outer_code));
	leaf_fn *leaves[3];
	double late = seconds_now(CLOCK_MONOTONIC) + (is_late ? 2 : 0);

	for (size_t i = 0; i < 3; i++)
		leaves[i] = (leaf_fn *)place((i + 1) * 64, leaf_code, sizeof(leaf_code));
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (!map && seconds_now(CLOCK_MONOTONIC) >= late) {
			open_map("w");
			tell_shares(outer, leaves);
		}
		run(outer, leaves[0], 6 * UNIT);
		run(outer, leaves[1], 3 * UNIT);
		run(outer, leaves[2], 1 * UNIT);
	}
}

static void write_old_map(void)
{
	const struct timespec times[] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	open_map("w");
	tell(code, PAGE, "of_another_process");
	fclose(map);
	map = NULL;
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	utimensat(AT_FDCWD, path, times, 0);
}

static __attribute__((noipa)) void even(leaf_fn *leaf)
{
	leaf(UNIT);
	__asm__ volatile("");
}

static __attribute__((noipa)) void odd(leaf_fn *leaf)
{
	leaf(UNIT);
	__asm__ volatile("");
}

static void replaced(double stop)
{
	double began = seconds_now(CLOCK_MONOTONIC), now;
	unsigned int last = 0;
	leaf_fn *leaf = NULL;
	char name[32];

	open_map("w");
	while ((now = seconds_now(CLOCK_MONOTONIC)) < stop) {
		unsigned int turn = 1 + (unsigned int)((now - began) / 3.7);

		if (turn != last) {
			snprintf(name, sizeof(name), "%s_%u", turn % 2 ? "odd" : "even", turn);
			leaf = (leaf_fn *)place(turn % 3 * 8, leaf_code, sizeof(leaf_code));
			tell((const void *)leaf, sizeof(leaf_code), name);
			last = turn;
		}
		if (turn % 2)
			odd(leaf);
		else
			even(leaf);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "shares";
	double stop = deadline(argc, argv, 2);

	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	            0);
	if (code == MAP_FAILED)
		return 1;
	if (!strcmp(how, "forged"))
		write_old_map();
	say_ready();
	if (!strcmp(how, "replaced"))
		replaced(stop);
	else
		shares(strcmp(how, "shares") != 0, stop);
	return 0;
}
