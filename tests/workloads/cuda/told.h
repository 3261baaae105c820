/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Commands for the programs of this folder: each line of standard input is the name of a command.
 * After each command the program prints the truth about everything it has done so far as one line
 * of JSON. It runs until the input ends.
 */
#pragma once

#include "../work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noipa))

struct command {
	const char *name;
	void (*run)(void);
};

static inline void must(int result)
{
	if (result) {
		fprintf(stderr, "a call that cannot fail gave %d\n", result);
		_Exit(4);
	}
}

/* Pauses between allocations: above a few hundred a second, profd does not take every stack. */
static inline void breathe(void)
{
	const struct timespec pause = {0, 3 * 1000 * 1000};

	nanosleep(&pause, NULL);
}

static inline int be_told(const struct command *commands, size_t count, void (*say)(void))
{
	char line[64];

	say_ready();
	while (fgets(line, sizeof(line), stdin)) {
		size_t i = 0;

		line[strcspn(line, "\n")] = '\0';
		while (i < count && strcmp(commands[i].name, line) != 0)
			i++;
		if (i == count)
			return 2;
		commands[i].run();
		say();
		fflush(stdout);
	}
	return 0;
}
