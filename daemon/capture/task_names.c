/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goes through all threads of all processes; the name of a process is that of its main thread.
 */
#include "capture/task_names.h"

#include "base/cleanup.h"
#include "base/files.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
	const char *const *names;
	size_t count, asked;
	bool found;
};

/* The next entry that is a number; NULL at the end. */
static const char *next_number(DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			return entry->d_name;
	return NULL;
}

/* The kernel appends a newline; the name itself may contain newlines as well. */
static void look_at(struct search *search, int tasks, const char *tid)
{
	char path[sizeof("1234567890/comm")], name[64];
	ssize_t got;
	int fd;

	search->asked++;
	snprintf(path, sizeof(path), "%.10s/comm", tid);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* the thread has ended */
	got = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (got <= 0)
		return;
	name[name[got - 1] == '\n' ? got - 1 : got] = 0;
	for (size_t i = 0; i < search->count; i++)
		search->found |= strcmp(name, search->names[i]) == 0;
}

static void look_at_process(struct search *search, int proc, const char *pid)
{
	char path[sizeof("1234567890/task")];
	const char *tid;

	snprintf(path, sizeof(path), "%.10s/task", pid);
	_cleanup_(closedirp) DIR *tasks = folder_open(proc, path);
	if (!tasks)
		return;
	while (!search->found && search->asked < MAX_TASKS_ASKED && (tid = next_number(tasks)))
		look_at(search, dirfd(tasks), tid);
}

bool task_names_any(const char *const *names, size_t count)
{
	struct search search = {.names = names, .count = count};
	_cleanup_(closedirp) DIR *proc = folder_open(AT_FDCWD, "/proc");
	const char *pid;

	if (!proc)
		return true;
	while (!search.found && search.asked < MAX_TASKS_ASKED && (pid = next_number(proc)))
		look_at_process(&search, dirfd(proc), pid);
	return search.found || search.asked >= MAX_TASKS_ASKED;
}
