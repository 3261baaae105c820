/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One request after the other, each read whole before it is answered, so that the two ends never
 * wait for each other. The first answer says, before anything was asked, whether all privileges are
 * gone.
 */
#include "names/service.h"

#include "base/text.h"
#include "names/confine.h"
#include "names/files.h"
#include "names/wire.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>

/* Above it an allocation is given back to the kernel when it is freed; left alone, the allocator
 * learns to keep more and more. */
enum { LARGE_ALLOCATION = 128 * 1024 };

struct request {
	struct wire_request head;
	int fds[FILE_COUNT];
	uint64_t *addresses;
};

/* 0, or negative errno: -EPIPE when the other end was closed. */
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
	struct wire_answer head = {.error = error, .len = error ? 0 : bytes->len};
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

/* Descriptors that arrived with the first byte, in the places that `bits` names. */
static int place_fds(struct msghdr *message, unsigned int bits, int ret_fds[FILE_COUNT])
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int arrived[FILE_COUNT];
	size_t count = 0, next = 0;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS) {
		count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (count > FILE_COUNT)
			return -EPROTO;
		memcpy(arrived, CMSG_DATA(control), count * sizeof(int));
	}
	if (message->msg_flags & MSG_CTRUNC || bits >> FILE_COUNT ||
	    count != (size_t)__builtin_popcount(bits)) {
		close_all(arrived, count);
		return -EPROTO;
	}
	for (int i = 0; i < FILE_COUNT; i++)
		ret_fds[i] = bits & 1U << i ? arrived[next++] : -1;
	return 0;
}

static int receive_head(int socket, struct request *request)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FILE_COUNT * sizeof(int))];
	} control;
	struct iovec head = {&request->head, sizeof(request->head)};
	struct msghdr message = {
		.msg_iov = &head,
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
	int err = receive(socket, (char *)&request->head + n, sizeof(request->head) - (size_t)n);
	/* How many descriptors there should be is known only now. */
	return err < 0 ? err : place_fds(&message, request->head.fds, request->fds);
}

static int receive_addresses(int socket, struct request *request)
{
	const struct wire_request *head = &request->head;

	if (!head->count || head->count > WIRE_MAX_ADDRESSES)
		return -EPROTO;
	request->addresses = malloc(head->count * sizeof(*request->addresses));
	if (!request->addresses)
		return -ENOMEM;
	int err = receive(socket, request->addresses, head->count * sizeof(*request->addresses));
	for (uint32_t i = 1; i < head->count && err == 0; i++) {
		if (request->addresses[i] < request->addresses[i - 1])
			err = -EPROTO;
	}
	return err;
}

static int add_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	return wire_frames_add(ctx, index, frame);
}

static int read_frames(struct named_file *file, const struct request *request, struct buf *out)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();

	if (!frames)
		return -ENOMEM;
	int err = named_file_find(file, request->addresses, request->head.count,
	                          request->head.lines, add_frame, frames);
	return err ? err : wire_frames_write(frames, out);
}

/* Takes the request's descriptors. */
static int find_names(struct names_files *files, const struct request *request, struct buf *out)
{
	struct named_file *file;
	int err = names_files_get(files, request->head.file, request->fds, &file);

	if (err < 0)
		return err;
	err = read_frames(file, request, out);
	/* It may only be short because of what is kept of others. */
	if (err == -ENOMEM && names_files_keep_only(files, request->head.file)) {
		buf_release(out);
		err = read_frames(file, request, out);
	}
	return err;
}

static int serve_one(int socket, struct names_files *files)
{
	struct request request = {.fds = {-1, -1, -1}};
	struct buf out = BUF_INIT;
	int err = receive_head(socket, &request);

	if (err < 0)
		return err;
	err = receive_addresses(socket, &request);
	if (err < 0)
		close_all(request.fds, FILE_COUNT);
	else
		err = answer(socket, find_names(files, &request, &out), &out);
	free(request.addresses);
	buf_release(&out);
	return err;
}

int names_serve(int socket, uint64_t max_bytes)
{
	int err = confine(socket, max_bytes);
	int told = answer(socket, err, &BUF_INIT);

	if (err < 0 || told < 0)
		return EX_OSERR;
	mallopt(M_MMAP_THRESHOLD, LARGE_ALLOCATION);
	mallopt(M_TRIM_THRESHOLD, LARGE_ALLOCATION);
	_cleanup_(names_files_freep) struct names_files *files = names_files_new(max_bytes / 2);
	if (!files)
		return EX_OSERR;
	do
		err = serve_one(socket, files);
	while (err == 0);
	return err == -EPIPE || err == -ECONNRESET ? EX_OK : EX_PROTOCOL;
}

int names_main(int argc, char **argv)
{
	uint64_t max_bytes;
	int type;
	socklen_t len = sizeof(type);

	if (argc != 3 || text_parse_u64(argv[2], 1, UINT64_MAX, &max_bytes) < 0 ||
	    getsockopt(NAMES_SOCKET, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return EX_USAGE;
	return names_serve(NAMES_SOCKET, max_bytes);
}
