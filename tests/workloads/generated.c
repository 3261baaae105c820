/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program that generates code and tells of it, as HOW says. Runs for SECONDS or until killed.
 *
 * - shares. Truth: the generated functions hot60, hot30 and hot10 take 60, 30 and 10 % of the time;
 *   every stack is main, run, outer, leaf, of which outer and the leaf are generated. The names are
 *   in /tmp/perf-PID.map, with some lines that describe no code.
 * - late: the same; the file is written on SIGUSR1.
 * - forged: the same; before that, the file has wrong names, and is older than the program.
 * - dump: the same shares, by a jitdump in the working folder. hot60's loop is in line 60 of
 *   /srv/dump.c, hot30's in line 30, and hot10's in line 10.
 * - replaced. Truth: even_N and odd_N are by turns at about the same address, each for four
 * seconds. Code named even_N is only called by even(), and odd_N by odd().
 */
#include "generated_code.h"
#include "work.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void leaf_fn(uint64_t count);
typedef void outer_fn(leaf_fn *leaf, uint64_t count);

enum { UNIT = 15 * 1000 * 1000, PAGE = 4096 };

static volatile sig_atomic_t told;
static uint8_t *code;
static FILE *map;

static void on_signal(int signal)
{
	(void)signal;
	told = 1;
}

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

struct dump_code {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, index;
};

struct dump_lines {
	uint32_t id, size;
	uint64_t time;
	uint64_t address, count;
	/* Of the entry. */
	uint64_t entry_address;
	uint32_t line, discriminator;
};

static const char dump_file[] = "/srv/dump.c";

static void dump_code(const void *at, size_t len, const char *name, uint32_t line)
{
	const struct dump_lines lines = {
		.id = 2,
		.size = sizeof(lines) + sizeof(dump_file),
		.address = (uintptr_t)at,
		.count = 1,
		.entry_address = (uintptr_t)at,
		.line = line,
	};
	const struct dump_code record = {
		.size = (uint32_t)(sizeof(record) + strlen(name) + 1 + len),
		.pid = (uint32_t)getpid(),
		.address = (uintptr_t)at,
		.code_size = len,
	};

	if (line) {
		fwrite(&lines, sizeof(lines), 1, map);
		fwrite(dump_file, sizeof(dump_file), 1, map);
	}
	fwrite(&record, sizeof(record), 1, map);
	fwrite(name, strlen(name) + 1, 1, map);
	fwrite(at, len, 1, map);
}

/* The program maps the file as code, by which profilers find it. */
static void dump(outer_fn *outer, leaf_fn *const leaves[3])
{
	const uint32_t header[10] = {0x4a695444, 1, sizeof(header)};
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	map = fopen(path, "w+");
	if (!map ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(map), 0) == MAP_FAILED)
		abort();
	fwrite(header, sizeof(header), 1, map);
	dump_code((const void *)outer, sizeof(outer_code), "outer", 0);
	dump_code((const void *)leaves[0], sizeof(leaf_code), "hot60", 60);
	dump_code((const void *)leaves[1], sizeof(leaf_code), "hot30", 30);
	dump_code((const void *)leaves[2], sizeof(leaf_code), "hot10", 10);
	fflush(map);
}

static void shares(const char *how, double stop)
{
	outer_fn *outer = (outer_fn *)place(0, outer_code, sizeof(outer_code));
	leaf_fn *leaves[3];
	bool is_late = !strcmp(how, "late") || !strcmp(how, "forged");

	for (size_t i = 0; i < 3; i++)
		leaves[i] = (leaf_fn *)place((i + 1) * 64, leaf_code, sizeof(leaf_code));
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (!map && !strcmp(how, "dump"))
			dump(outer, leaves);
		if (!map && (told || !is_late)) {
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
		unsigned int turn = 1 + (unsigned int)((now - began) / 4);

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
	signal(SIGUSR1, on_signal);
	say_ready();
	if (!strcmp(how, "replaced"))
		replaced(stop);
	else
		shares(how, stop);
	return 0;
}
