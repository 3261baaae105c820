/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stopped readers: runs as user ID 65534, which processes without rights often share, looks for
 * processes of the same user and stops all whose names begin with "profd-".
 *
 * The daemon's reader processes must not have a user ID that other processes have.
 */
#include "attack.h"

#include <dirent.h>

static int is_reader(const char *pid)
{
	char path[300], comm[32] = "";
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	ssize_t len = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	return len > 0 && !strncmp(comm, "profd-", 6);
}

int main(void)
{
	DIR *proc = opendir("/proc");

	need(proc != NULL, "/proc");
	say_ready();
	for (;; rewinddir(proc), usleep(5 * 1000)) {
		struct dirent *entry;

		while ((entry = readdir(proc))) {
			int pid = atoi(entry->d_name);

			if (pid > 0 && is_reader(entry->d_name))
				kill(pid, SIGSTOP);
		}
	}
}
