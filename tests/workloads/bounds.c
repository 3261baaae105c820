/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: what this program is bound by is its first argument.
 *
 *   spin     one thread computes; three others wait for work, one of them in poll()
 *   chase    one thread follows pointers through more memory than the caches hold
 *   faults   touches new pages, and gives them back
 *   disk     reads the file of the second argument past the page cache, in random places
 *   network  two processes send each other a byte over TCP
 *   pipe     two processes send each other a byte over pipes
 *   mutex    four threads want one mutex, under which each computes for a while
 *   crowd    four threads for each CPU compute
 *   sleep    sleeps for 50 ms, computes for 1 ms
 *   idle     waits for a condition that never comes, as its other threads do
 */
#include "work.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MSEC = 1000 * 1000, BLOCK = 4096, POOL = 3, CONVOY = 4, CROWD = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, never = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void start(void *(*run)(void *), int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL))
			exit(1);
	}
}

static void *waits_for_work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&never);
	for (;;)
		pthread_cond_wait(&condition, &never);
	return NULL;
}

static void *polls(void *unused)
{
	(void)unused;
	for (;;)
		poll(NULL, 0, 1000);
	return NULL;
}

static __attribute__((noipa)) void *computes(void *unused)
{
	for (;;)
		WORK(1000);
	return unused;
}

static void spin(const char *unused)
{
	(void)unused;
	start(waits_for_work, POOL - 1);
	start(polls, 1);
	computes(NULL);
}

static __attribute__((noipa)) void follows(const uint32_t *next, size_t count)
{
	uint32_t at = 0;

	for (size_t i = 0; i < count; i++)
		at = next[at];
	__asm__ volatile("" : : "r"(at));
}

static void chase(const char *unused)
{
	enum { COUNT = 1 << 26 };
	uint32_t *next = malloc(COUNT * sizeof(*next));

	(void)unused;
	if (!next)
		die("malloc");
	/* A generator with a full period: one chain through everything. */
	for (uint32_t i = 0; i < COUNT; i++)
		next[i] = (i * 1664525u + 1013904223u) % COUNT;
	for (;;)
		follows(next, 100000);
}

static __attribute__((noipa)) void touches(char *pages, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += BLOCK)
		pages[i] = 1;
}

static void faults(const char *unused)
{
	enum { BYTES = 64 << 20 };
	char *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	if (pages == MAP_FAILED || madvise(pages, BYTES, MADV_NOHUGEPAGE))
		die("mmap");
	for (;;) {
		touches(pages, BYTES);
		if (madvise(pages, BYTES, MADV_DONTNEED))
			die("madvise");
	}
}

static __attribute__((noipa)) void reads(int fd, void *block, off_t at)
{
	if (pread(fd, block, BLOCK, at) != BLOCK)
		die("pread");
}

static void disk(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT);
	off_t blocks;
	void *block;

	if (fd < 0 || posix_memalign(&block, BLOCK, BLOCK))
		die(path);
	blocks = lseek(fd, 0, SEEK_END) / BLOCK;
	for (;;)
		reads(fd, block, random() % blocks * BLOCK);
}

static void exchange(int in, int out, int is_first)
{
	char byte = 0;

	for (;; is_first = 0)
		if ((!is_first && read(in, &byte, 1) != 1) || write(out, &byte, 1) != 1)
			exit(0);
}

static void be_two(const int of_parent[2], const int of_child[2])
{
	int is_parent = fork() != 0;
	const int *own = is_parent ? of_parent : of_child;

	if (!is_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	exchange(own[0], own[1], is_parent);
}

static void network(const char *unused)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	socklen_t len = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0),
	    peer;

	(void)unused;
	if (bind(server, (void *)&address, len) || listen(server, 1) ||
	    getsockname(server, (void *)&address, &len) || connect(client, (void *)&address, len))
		die("connect");
	peer = accept(server, NULL, NULL);
	be_two((int[2]){client, client}, (int[2]){peer, peer});
}

static void pipes(const char *unused)
{
	int there[2], back[2];

	(void)unused;
	if (pipe(there) || pipe(back))
		die("pipe");
	be_two((int[2]){back[0], there[1]}, (int[2]){there[0], back[1]});
}

static __attribute__((noipa)) void holds(void)
{
	pthread_mutex_lock(&mutex);
	WORK(200000);
	pthread_mutex_unlock(&mutex);
}

static void *convoys(void *unused)
{
	for (;;)
		holds();
	return unused;
}

static void convoy(const char *unused)
{
	(void)unused;
	start(convoys, CONVOY - 1);
	convoys(NULL);
}

static void crowd(const char *unused)
{
	(void)unused;
	start(computes, CROWD * (int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	computes(NULL);
}

static void sleeps(const char *unused)
{
	const struct timespec pause = {.tv_nsec = 50 * MSEC};

	(void)unused;
	for (;;) {
		nanosleep(&pause, NULL);
		WORK(1000);
	}
}

static void idle(const char *unused)
{
	(void)unused;
	start(waits_for_work, POOL);
	polls(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *argument);
	} bounds[] = {
		{"spin", spin},       {"chase", chase}, {"faults", faults}, {"disk", disk},
		{"network", network}, {"pipe", pipes},  {"mutex", convoy},  {"crowd", crowd},
		{"sleep", sleeps},    {"idle", idle},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (strcmp(argv[1], bounds[i].name) != 0)
			continue;
		say_ready();
		bounds[i].run(argc > 2 ? argv[2] : NULL);
	}
	fprintf(stderr, "usage: bounds KIND [FILE]\n");
	return 1;
}
