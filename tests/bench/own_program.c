/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Preloaded into a program that runs in an emulator such as valgrind, lets the program start itself
 * again: in an emulator /proc/self/exe is the emulator. OWN_PROGRAM names the program.
 */
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const *, char *const *);

int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	const char *own = getenv("OWN_PROGRAM");
	spawn_fn *spawn = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawn");

	if (own && !strcmp(path, "/proc/self/exe"))
		path = own;
	return spawn(ret_pid, path, actions, attributes, argv, env);
}
