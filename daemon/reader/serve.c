/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Answers one question after the other. Each question is read completely before it is answered, so
 * that the two sides never wait for each other. The first answer is sent before any question; it
 * says whether all privileges were given up.
 */
#include "reader/serve.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/text.h"
#include "reader/confine.h"
#include "reader/filter.h"
#include "reader/user.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>

/* A larger allocation is returned to the kernel when it is freed. By default the allocator raises
 * this threshold, and so keeps more and more. */
enum {
	LARGE_ALLOCATION = 128 * 1024,
	/* If as much as this is free after an answer, free pages between allocations are returned
	 * to the kernel. */
	MUCH_FREE = 512 * 1024,
	/* Time without a question. A web page that is open, or a poller, asks every second. */
	FORGET_MS = 2000,
	MAX_NICENESS = 19,
	/* A thread resolves host names. The limit counts all threads of the user, including the
	 * daemon's when the process cannot have another user. */
	MAX_THREADS = 256,
};

/* 0 or a negative errno; -EPIPE when the other end was closed. */
static int receive(int socket, void *into, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = recv(socket, (char *)into + done, len - done, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		done += (size_t)n;
	}
	return 0;
}

static int transmit(int socket, const void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = send(socket, (const char *)bytes + done, len - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int answer(int socket, int error, const struct buf *bytes)
{
	struct reader_answer head = {.error = error, .len = error ? 0 : bytes->len};
	int err = transmit(socket, &head, sizeof(head));

	return err < 0 || error ? err : transmit(socket, bytes->data, bytes->len);
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* Stores the descriptors that arrived with the first byte at the positions set in `bits`. */
static int place_fds(struct msghdr *message, uint32_t bits, int ret_fds[READER_FDS])
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int arrived[READER_FDS];
	size_t count = 0, next = 0;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS) {
		count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (count > READER_FDS)
			return -EPROTO;
		memcpy(arrived, CMSG_DATA(control), count * sizeof(int));
	}
	if (message->msg_flags & MSG_CTRUNC || bits >> READER_FDS ||
	    count != (size_t)__builtin_popcount(bits)) {
		close_all(arrived, count);
		return -EPROTO;
	}
	for (int i = 0; i < READER_FDS; i++)
		ret_fds[i] = bits & 1U << i ? arrived[next++] : -1;
	return 0;
}

static int receive_head(int socket, struct reader_request *head, int ret_fds[READER_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(READER_FDS * sizeof(int))];
	} control;
	struct iovec piece = {head, sizeof(*head)};
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	int err = receive(socket, (char *)head + n, sizeof(*head) - (size_t)n);
	/* The expected number of descriptors is known only now. */
	return err < 0 ? err : place_fds(&message, head->fds, ret_fds);
}

static int receive_bytes(int socket, const struct reader_request *head, struct reading *reading)
{
	if (head->len > READER_MAX_QUESTION)
		return -EPROTO;
	reading->job = head->job;
	reading->len = head->len;
	reading->bytes = malloc(head->len ? head->len : 1);
	return reading->bytes ? receive(socket, reading->bytes, head->len) : -ENOMEM;
}

static void give_memory_back(void)
{
	if (mallinfo2().fordblks >= MUCH_FREE)
		malloc_trim(0);
}

static void await_question(int socket, struct reading *reading)
{
	struct pollfd question = {.fd = socket, .events = POLLIN};
	const struct timespec patience = {FORGET_MS / 1000, FORGET_MS % 1000 * NSEC_PER_MSEC};

	if (!reading->forget || ppoll(&question, 1, &patience, NULL) != 0)
		return;
	reading->forget(*reading->kept);
	reading->forget = NULL;
	give_memory_back();
}

static int serve_one(int socket, struct reading *reading, reader_answer_fn *fn)
{
	struct reader_request head = {0};
	struct buf out = BUF_INIT;
	int err = receive_head(socket, &head, reading->fds);

	if (err < 0)
		return err;
	reading->bytes = NULL;
	err = receive_bytes(socket, &head, reading);
	if (err == 0) {
		int said = fn(reading, &out);

		err = said == -EPROTO ? said : answer(socket, said, &out);
	}
	close_all(reading->fds, READER_FDS);
	free(reading->bytes);
	buf_release(&out);
	give_memory_back();
	return err;
}

static int install_filter(enum reader_way way)
{
	switch (way) {
	case WAY_DEVICES:
		return filter_install_for_devices();
	case WAY_SERVERS:
		return filter_install_for_servers();
	default:
		return filter_install();
	}
}

static int serve(int socket, const struct confinement *confinement, enum reader_way way,
                 reader_answer_fn *fn)
{
	void *kept = NULL;
	struct reading reading = {.max_bytes = confinement->max_bytes, .kept = &kept};
	int err = confine(socket, confinement);
	if (err == 0)
		err = install_filter(way);
	int told = answer(socket, err, &BUF_INIT);

	if (err < 0 || told < 0)
		return EX_OSERR;
	mallopt(M_MMAP_THRESHOLD, LARGE_ALLOCATION);
	mallopt(M_TRIM_THRESHOLD, LARGE_ALLOCATION);
	do {
		await_question(socket, &reading);
		err = serve_one(socket, &reading, fn);
	} while (err == 0);
	return err == -EPIPE || err == -ECONNRESET ? EX_OK : EX_PROTOCOL;
}

static const char *const commands[] = {
#define READER_WAY(name, word) [WAY_##name] = word,
	READER_WAYS(READER_WAY)
#undef READER_WAY
};

const char *reader_command(enum reader_way way)
{
	return commands[way];
}

/* WAY_COUNT: no way has that name. */
static enum reader_way way_of(const char *word)
{
	enum reader_way way = WAY_FILES;

	while (way < WAY_COUNT && strcmp(commands[way], word) != 0)
		way++;
	return way;
}

bool reader_wanted(int argc, char **argv)
{
	return argc > 1 && way_of(argv[1]) < WAY_COUNT;
}

int reader_main(int argc, char **argv, reader_answer_fn *fn)
{
	struct confinement confinement = {0};
	int type;
	socklen_t len = sizeof(type);

	if (argc != 5 || text_parse_u64(argv[3], 1, UINT64_MAX, &confinement.max_bytes) < 0 ||
	    text_parse_u64(argv[4], 0, MAX_NICENESS, &confinement.niceness) < 0 ||
	    getsockopt(READER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return EX_USAGE;
	enum reader_way way = way_of(argv[1]);

	confinement.name = argv[2];
	confinement.environment = confinement.loads_libraries = reader_loads_libraries(way);
	confinement.opens_files = way == WAY_NAMES;
	if (way == WAY_SERVERS) {
		confinement.max_file_bytes = MAX_DEBUG_FILE_BYTES;
		confinement.max_threads = MAX_THREADS;
		confinement.which_user = USER_OF_FETCHER;
	}
	return serve(READER_SOCKET, &confinement, way, fn);
}
