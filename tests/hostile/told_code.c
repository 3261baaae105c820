/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Eight processes run code that they have generated, and tell of it without end, each in a map in
 * /tmp and in a jitdump in FOLDER: overlapping pieces of code, names of any bytes, lines and
 * records without end, addresses of lines in no order, and files that are cut and written anew.
 *
 * The daemon's memory and time must stay within their bounds, and other users' code keep its names.
 */
#include "attack.h"

#include "../workloads/generated_code.h"

#include <inttypes.h>
#include <stdbool.h>

enum {
	PROCESSES = 8,
	CODE_BYTES = 1 << 20,
	CHUNK = 256 * 1024,
	MAX_FILE = 64 << 20,
	UNIT = 2000000
};

static uint64_t state;

static uint64_t next(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 24;
}

static int open_file(const char *folder, const char *begin, const char *end)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s%d%s", folder, begin, (int)getpid(), end);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	need(fd >= 0, "file");
	return fd;
}

/* Fills a chunk with lines, most of which describe code. */
static size_t make_lines(char *chunk, const uint8_t *code)
{
	bool is_endless = next() % 16 == 0;
	size_t len = 0;

	if (is_endless)
		memset(chunk, 'f', CHUNK);
	while (!is_endless && len < CHUNK - 1024) {
		size_t name = next() % 8 ? next() % 32 : next() % 900;

		len += (size_t)snprintf(chunk + len, 64, "%" PRIxPTR " %" PRIx64 " ",
		                        (uintptr_t)code + next() % CODE_BYTES, next() % 4096);
		for (size_t i = 0; i < name; i++)
			chunk[len++] = (char)(next() % 255 + 1);
		chunk[len++] = '\n';
	}
	return is_endless ? CHUNK : len;
}

/* Fills a chunk with records of code, of lines, and of nothing. */
static size_t make_records(char *chunk, const uint8_t *code)
{
	size_t len = 0;

	while (len < CHUNK - 8192) {
		uint64_t words[8] = {next() % 5 / 2 * 2,
		                     next(),
		                     1,
		                     next(),
		                     (uintptr_t)code + next() % CODE_BYTES,
		                     next() % 4096,
		                     next(),
		                     next()};
		uint32_t size = (uint32_t)(64 + next() % 4096);

		if (words[0] == 2) {
			words[2] = words[4];
			words[3] = next() % 300;
		}
		words[0] |= (uint64_t)(next() % 4096 ? size : next()) << 32;
		memcpy(chunk + len, words, sizeof(words));
		for (size_t i = sizeof(words); i < size; i++)
			chunk[len + i] = (char)next();
		len += size;
	}
	return len;
}

static void append(int fd, const char *chunk, size_t len, off_t from)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (end > MAX_FILE || next() % 64 == 0) {
		need(ftruncate(fd, from) == 0, "ftruncate");
		lseek(fd, from, SEEK_SET);
	}
	need(write(fd, chunk, len) == (ssize_t)len, "write");
}

static void attack(const char *folder)
{
	static const uint32_t header[10] = {0x4a695444, 1, sizeof(header)};
	static char chunk[CHUNK + 8192];
	uint8_t *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
	                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int map = open_file("/tmp", "perf-", ".map"), dump = open_file(folder, "jit-", ".dump");
	void (*leaf)(uint64_t count);

	need(code != MAP_FAILED, "mmap");
	state = (uint64_t)getpid();
	append(dump, (const char *)header, sizeof(header), 0);
	map_page(dump, 0);
	for (size_t i = 0;; i++) {
		uint8_t *at = code + next() % (CODE_BYTES / 64) * 64;

		memcpy(at, leaf_code, sizeof(leaf_code));
		__builtin___clear_cache((char *)at, (char *)at + sizeof(leaf_code));
		leaf = (void (*)(uint64_t))at;
		leaf(UNIT);
		if (i % 2)
			append(map, chunk, make_lines(chunk, code), 0);
		else
			append(dump, chunk, make_records(chunk, code), sizeof(header));
	}
}

int main(int argc, char **argv)
{
	need(argc > 1, "FOLDER");
	for (int i = 0; i < PROCESSES; i++)
		if (fork_with() == 0)
			attack(argv[1]);
	say_ready();
	rest();
}
