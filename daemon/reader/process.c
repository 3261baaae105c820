/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user that made a file may have taken over the process at the other end of the socket. So
 * every wait here is bounded, and every size is compared with a limit before memory is allocated.
 * posix_spawn() is used because the daemon is large and has threads.
 */
#include "reader/process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "reader/lingering.h"
#include "reader/living.h"
#include "reader/process_time.h"
#include "reader/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	MAX_ERRNO = 4095,
	WORKING_PART =
		20, /* a process did not work if it used less CPU than this part of the time */
};

/* A killed process dies at once, unless it is blocked in a file system that hangs. */
static const uint64_t dying_ns = NSEC_PER_SEC;
static const uint64_t patience_ns = 50 * NSEC_PER_MSEC;
/* A wait that takes so much longer than requested means that the daemon was stopped; load alone
 * does not delay it as much. */
static const uint64_t stopped_at_least_ns = NSEC_PER_SEC;
/* How long a process may be stopped: a user that stops the daemon and its processes one after the
 * other does not intend to stop this process alone. */
static const uint64_t may_stand_ns = NSEC_PER_SEC;

static int set_up_actions(posix_spawn_file_actions_t *actions, int socket)
{
	int err = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!err)
		err = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null",
		                                       O_WRONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(actions, socket, READER_SOCKET);
	return -err;
}

/* The process gets a session of its own, because otherwise Ctrl-C would end it while the daemon
 * still needs it. */
static int set_up_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	int err = posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	if (!err)
		err = posix_spawnattr_setsigmask(attributes, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attributes, &all);
	return -err;
}

static int spawn(const struct reader_program *program, enum reader_way way, int socket,
                 pid_t *ret_pid)
{
	char self[] = "profd", memory[24], niceness[16];
	_cleanup_free_ char *command = strdup(reader_command(way));
	_cleanup_free_ char *name = strdup(program->name);
	char *const argv[] = {self, command, name, memory, niceness, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;

	if (!command || !name)
		return -ENOMEM;
	snprintf(memory, sizeof(memory), "%" PRIu64, program->max_bytes);
	snprintf(niceness, sizeof(niceness), "%u", program->niceness);
	int err = -posix_spawn_file_actions_init(&actions);
	if (err < 0)
		return err;
	err = -posix_spawnattr_init(&attributes);
	if (err < 0) {
		posix_spawn_file_actions_destroy(&actions);
		return err;
	}
	err = set_up_actions(&actions, socket);
	if (err == 0)
		err = set_up_attributes(&attributes);
	if (err == 0)
		err = -posix_spawn(ret_pid, program->path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

static int wait_for(int socket, short events, uint64_t until_ns)
{
	struct pollfd poll_fd = {.fd = socket, .events = events};
	uint64_t now = clock_mono_ns();

	if (now >= until_ns)
		return -ETIMEDOUT;
	struct timespec left = {
		.tv_sec = (time_t)((until_ns - now) / NSEC_PER_SEC),
		.tv_nsec = (long)((until_ns - now) % NSEC_PER_SEC),
	};
	int ready = ppoll(&poll_fd, 1, &left, NULL);
	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	return ready ? 0 : -ETIMEDOUT;
}

/* Whether it is stopped, for example by SIGSTOP. It is a child that was not reaped, so the pid
 * cannot have been reused. */
static bool is_stopped(const struct reader_process *process)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)process->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid;
}

/* Only root and the user that the process runs as can stop it. Waiting longer would let them block
 * every answer. */
static int check_standing(struct reader_process *process)
{
	if (!is_stopped(process)) {
		process->standing_ns = 0;
		return 0;
	}
	process->standing_ns += patience_ns;
	return process->standing_ns >= may_stand_ns ? -EOWNERDEAD : 0;
}

/* Where the deadline is by now. It moves when the daemon is stopped, and when the process waits for
 * a CPU, which is looked up only once the deadline seems to have come. */
static uint64_t end_ns(struct reader_process *process, uint64_t until_ns)
{
	uint64_t waited_ns;

	until_ns += process->stopped_ns;
	if (process->max_wait_ns && clock_mono_ns() >= until_ns + process->waited_ns) {
		waited_ns = process_wait_ns(process->pid);
		waited_ns -= waited_ns > process->before_ns ? process->before_ns : waited_ns;
		process->waited_ns =
			waited_ns < process->max_wait_ns ? waited_ns : process->max_wait_ns;
	}
	return until_ns + process->waited_ns;
}

/* Waits in short steps, to notice a cancellation, which does not wake the thread. */
static int wait_for_process(struct reader_process *process, short events, uint64_t until_ns)
{
	uint64_t begun = clock_mono_ns(), look_up_ns = begun + patience_ns;
	uint64_t last_ns = end_ns(process, until_ns);

	if (__atomic_load_n(&process->cancelled, __ATOMIC_RELAXED))
		return -ECANCELED;
	int err = wait_for(process->socket, events, last_ns < look_up_ns ? last_ns : look_up_ns);
	uint64_t waited_ns = clock_mono_ns() - begun;
	bool was_stopped = waited_ns > patience_ns + stopped_at_least_ns;
	if (was_stopped)
		process->stopped_ns += waited_ns - patience_ns;
	if (err != -ETIMEDOUT)
		return err;
	err = check_standing(process);
	return err == 0 && !was_stopped && clock_mono_ns() >= end_ns(process, until_ns) ? -ETIMEDOUT
	                                                                                : err;
}

static int failure_of(int error)
{
	return error == ECONNRESET ? -EPIPE : -error;
}

static int transmit(struct reader_process *process, struct msghdr message, uint64_t until_ns)
{
	struct iovec *piece = message.msg_iov;

	while (piece->iov_len) {
		ssize_t n = sendmsg(process->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err = n < 0 ? failure_of(errno) : 0;
		if (err == -EAGAIN)
			err = wait_for_process(process, POLLOUT, until_ns);
		if (err < 0 && err != -EINTR)
			return err;
		if (n <= 0)
			continue;
		piece->iov_base = (char *)piece->iov_base + n;
		piece->iov_len -= (size_t)n;
		/* Descriptors are sent with the first byte. */
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	return 0;
}

static int receive(struct reader_process *process, void *into, size_t len, uint64_t until_ns)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = recv(process->socket, (char *)into + done, len - done, MSG_DONTWAIT);
		if (n == 0)
			return -EPIPE;
		int err = n < 0 ? failure_of(errno) : 0;
		if (err == -EAGAIN)
			err = wait_for_process(process, POLLIN, until_ns);
		if (err < 0 && err != -EINTR)
			return err;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int receive_head(struct reader_process *process, uint64_t until_ns,
                        struct reader_answer *ret_head)
{
	struct reader_answer head;
	int err = receive(process, &head, sizeof(head), until_ns);

	if (err < 0)
		return err;
	if (head.error > 0 || head.error < -MAX_ERRNO || head.len > READER_MAX_ANSWER ||
	    (head.error && head.len))
		return -EBADMSG;
	*ret_head = head;
	return 0;
}

/* Receives the first answer, which says that the process is confined, or why it is not. */
static int wait_until_confined(struct reader_process *process, uint64_t until_ns)
{
	struct reader_answer hello;
	int err = receive_head(process, until_ns, &hello);

	if (err == 0)
		return hello.len ? -EPROTO : hello.error;
	return err == -EPIPE || err == -EBADMSG ? -EPROTO : err;
}

static int spawn_with_socket(struct reader_process *process, const struct reader_program *program)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	int err = spawn(program, process->way, sockets[1], &process->pid);
	close(sockets[1]);
	if (err < 0) {
		close(sockets[0]);
		process->pid = 0;
		return err;
	}
	living_add(process->pid);
	process->socket = sockets[0];
	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	return 0;
}

int reader_process_start(struct reader_process *process, const struct reader_program *program,
                         uint64_t until_ns)
{
	int err = lingering_begin(program->name);

	if (err < 0)
		return err;
	err = spawn_with_socket(process, program);
	if (err < 0) {
		lingering_end(program->name, 0, 0);
		return err;
	}
	process->name = program->name;
	process->user = 0;
	process->stopped_ns = process->standing_ns = 0;
	process->waited_ns = process->max_wait_ns = 0;
	err = process->pidfd < 0 ? -EMFILE : wait_until_confined(process, until_ns);
	if (err < 0)
		reader_process_stop(process);
	return err;
}

static bool dies_soon(const struct reader_process *process)
{
	uint64_t until_ns = clock_mono_ns() + dying_ns;
	pid_t dead;

	/* The pidfd becomes readable when the process is dead. */
	do
		dead = living_reap(process->pid);
	while (dead == 0 && process->pidfd >= 0 && wait_for(process->pidfd, POLLIN, until_ns) == 0);
	return dead != 0;
}

/* A process without a pidfd was never asked a question, and ends when the socket is closed. */
void reader_process_stop(struct reader_process *process)
{
	if (!process->pid)
		return;
	close(process->socket);
	if (process->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
	lingering_end(process->name, dies_soon(process) ? 0 : process->pid, process->user);
	closep(&process->pidfd);
	process->pid = 0;
	process->socket = -1;
}

/* Signals that a process causes itself. All others come from outside, because the process is not
 * allowed to send signals. */
static bool is_own_fault(int signal)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] == signal)
			return true;
	return false;
}

/* For a process that has closed its end of the socket. */
static bool was_killed_by_others(const struct reader_process *process)
{
	uint64_t until_ns = clock_mono_ns() + dying_ns;
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       !info.si_pid && wait_for(process->pidfd, POLLIN, until_ns) == 0)
		;
	return info.si_pid && (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) &&
	       !is_own_fault(info.si_status);
}

static int send_head(struct reader_process *process, const struct reader_question *question,
                     uint64_t until_ns)
{
	struct reader_request head = {.job = question->job};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(READER_FDS * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec piece = {&head, sizeof(head)};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	int fds[READER_FDS];
	size_t count = 0;

	for (int i = 0; i < READER_FDS; i++) {
		if (question->fds[i] < 0)
			continue;
		fds[count++] = question->fds[i];
		head.fds |= 1U << i;
	}
	for (int i = 0; i < READER_PIECES; i++)
		head.len += question->pieces[i].len;
	if (count) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	return transmit(process, message, until_ns);
}

static int send_question(struct reader_process *process, const struct reader_question *question,
                         uint64_t until_ns)
{
	int err = send_head(process, question, until_ns);

	for (int i = 0; i < READER_PIECES && err == 0; i++) {
		struct iovec piece = {(void *)(uintptr_t)question->pieces[i].bytes,
		                      question->pieces[i].len};
		const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

		err = transmit(process, message, until_ns);
	}
	return err;
}

static int exchange(struct reader_process *process, const struct reader_question *question,
                    uint64_t until_ns, struct reader_reply *ret_reply)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct reader_answer head;
	int err = send_question(process, question, until_ns);

	if (err == 0)
		err = receive_head(process, until_ns, &head);
	if (err < 0)
		return err;
	bytes = malloc(head.len ? head.len : 1);
	if (!bytes)
		return -ENOMEM;
	err = receive(process, bytes, head.len, until_ns);
	if (err < 0)
		return err;
	*ret_reply = (struct reader_reply){head.error, TAKE_PTR(bytes), head.len};
	return 0;
}

/* `used_ns`: on a CPU; `took_ns`: in all, without the time for which the daemon was stopped. */
static int why_late(const struct reader_process *process, uint64_t used_ns, uint64_t took_ns)
{
	/* It may not have had the CPU for as long as its deadline. */
	if (process->max_wait_ns && process->waited_ns == process->max_wait_ns)
		return -EBUSY;
	return used_ns < (took_ns - process->waited_ns) / WORKING_PART ? -ETIME : -ETIMEDOUT;
}

int reader_process_ask(struct reader_process *process, const struct reader_question *question,
                       const struct reader_time *time, struct reader_reply *ret_reply)
{
	uint64_t begun_ns = clock_mono_ns(), used_ns = process_cpu_ns(process->pid);

	process->stopped_ns = process->standing_ns = process->waited_ns = 0;
	process->max_wait_ns = time->longest_ns > time->ns ? time->longest_ns - time->ns : 0;
	process->before_ns = process->max_wait_ns ? process_wait_ns(process->pid) : 0;
	int err = exchange(process, question, begun_ns + time->ns, ret_reply);

	if (err == -EPIPE && was_killed_by_others(process))
		return -EOWNERDEAD;
	if (err == -ETIMEDOUT)
		return why_late(process, process_cpu_ns(process->pid) - used_ns,
		                clock_mono_ns() - begun_ns - process->stopped_ns);
	return err;
}
