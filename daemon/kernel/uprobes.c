/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multi-uprobes by a plain BPF_LINK_CREATE, perf events by libbpf.
 */
#include "kernel/uprobes.h"

#include "base/buf.h"
#include "kernel/perf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

/* enum bpf_attach_type, as newer headers have it. */
enum {
	UPROBE_MULTI_ATTACH = 48,   /* BPF_TRACE_UPROBE_MULTI */
	UPROBE_SESSION_ATTACH = 57, /* BPF_TRACE_UPROBE_SESSION */
};

enum { MULTI_RETURN = 1 }; /* BPF_F_UPROBE_MULTI_RETURN */

/* union bpf_attr for BPF_LINK_CREATE, only the part that is used. */
struct link_create {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags, pid, unused;
};
_Static_assert(sizeof(struct link_create) == 64, "the kernel's layout");

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static int keep(struct uprobes *uprobes, int fd)
{
	int *fds = realloc(uprobes->fds, (uprobes->count + 1) * sizeof(*fds));

	if (!fds) {
		close(fd);
		return -ENOMEM;
	}
	uprobes->fds = fds;
	fds[uprobes->count++] = fd;
	return 0;
}

static int attach_multi(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind,
                        const char *path, uint32_t pid, const struct uprobe_sites *sites)
{
	struct link_create create = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = kind == UPROBE_SESSION ? UPROBE_SESSION_ATTACH : UPROBE_MULTI_ATTACH,
		.path = address_of(path),
		.offsets = address_of(sites->offsets),
		.semaphores = address_of(sites->semaphores),
		.cookies = address_of(sites->cookies),
		.count = (uint32_t)sites->count,
		.multi_flags = kind == UPROBE_RETURN ? MULTI_RETURN : 0,
		.pid = pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));

	return fd < 0 ? -errno : keep(uprobes, fd);
}

bool uprobes_are_multi(void)
{
	unsigned major, minor;
	struct utsname host;

	if (uname(&host) || sscanf(host.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 10);
}

bool uprobes_declare(struct bpf_program *const *multi, size_t count, struct bpf_program *session)
{
	if (!uprobes_are_multi())
		return false;
	for (size_t i = 0; i < count; i++)
		bpf_program__set_expected_attach_type(multi[i],
		                                      (enum bpf_attach_type)UPROBE_MULTI_ATTACH);
	bpf_program__set_expected_attach_type(session, (enum bpf_attach_type)UPROBE_SESSION_ATTACH);
	return true;
}

static int read_number(const char *path, const char *before, uint32_t *ret_number)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const char *at;
	int err = buf_read_file(&text, path, 256);

	if (err)
		return err;
	at = strstr(buf_text(&text), before);
	return at && sscanf(at + strlen(before), "%u", ret_number) == 1 ? 0 : -EBADMSG;
}

static int open_event(enum uprobe_kind kind, const char *path, uint32_t pid, uint64_t offset,
                      uint64_t semaphore)
{
	uint32_t type, return_bit = 0, semaphore_bit = 32;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int err = read_number("/sys/bus/event_source/devices/uprobe/type", "", &type), fd;

	if (!err)
		err = read_number("/sys/bus/event_source/devices/uprobe/format/retprobe",
		                  "config:", &return_bit);
	if (err)
		return err;
	/* Kernels without semaphores have no such file; they do not look at these bits. */
	read_number("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset",
	            "config:", &semaphore_bit);
	attr.type = type;
	attr.config = (uint64_t)(kind == UPROBE_RETURN) << return_bit | semaphore << semaphore_bit;
	attr.config1 = address_of(path);
	attr.config2 = offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid ? (int)pid : -1, pid ? -1 : 0, -1,
	                  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int attach_event(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind,
                        const char *path, uint32_t pid, const struct uprobe_sites *sites, size_t at)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = sites->cookies[at]);
	_cleanup_close_ int event = open_event(kind, path, pid, sites->offsets[at],
	                                       sites->semaphores ? sites->semaphores[at] : 0);
	int fd;

	if (event < 0)
		return event;
	/* The link keeps the event open. */
	fd = bpf_link_create(program_fd, event, BPF_PERF_EVENT, &options);
	return fd < 0 ? fd : keep(uprobes, fd);
}

static void close_from(struct uprobes *uprobes, size_t first)
{
	while (uprobes->count > first)
		close(uprobes->fds[--uprobes->count]);
}

static int attach_events(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind,
                         const char *path, uint32_t pid, const struct uprobe_sites *sites)
{
	size_t before = uprobes->count;
	int err = 0;

	for (size_t i = 0; !err && i < sites->count; i++)
		err = attach_event(uprobes, program_fd, kind, path, pid, sites, i);
	if (err)
		close_from(uprobes, before);
	return err;
}

int uprobes_attach(struct uprobes *uprobes, int program_fd, enum uprobe_kind kind, const char *path,
                   uint32_t pid, const struct uprobe_sites *sites)
{
	int err;

	if (!uprobes_are_multi())
		return kind == UPROBE_SESSION
		               ? -EOPNOTSUPP
		               : attach_events(uprobes, program_fd, kind, path, pid, sites);
	err = attach_multi(uprobes, program_fd, kind, path, pid, sites);
	return err == -EINVAL && kind == UPROBE_SESSION ? -EOPNOTSUPP : err;
}

void uprobes_detach(struct uprobes *uprobes)
{
	close_from(uprobes, 0);
	free(uprobes->fds);
	*uprobes = (struct uprobes){0};
}

const char *uprobes_error(int err)
{
	/* "perf: Revert to requiring CAP_SYS_ADMIN for uprobes", in Linux 6.16 and in the stable
	 * kernels of earlier versions. Multi-uprobes do not require it. */
	if (err == -EACCES)
		return "this kernel requires CAP_SYS_ADMIN for uprobes: run profd as root";
	return strerror(-err);
}
