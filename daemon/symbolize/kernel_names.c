/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table that is replaced by a fresh one when it is old.
 */
#include "symbolize/kernel_names.h"

#include "base/clock.h"
#include "base/thread.h"
#include "symbolize/kernel.h"

/* Modules and BPF programs come and go; reading kallsyms takes some tens of milliseconds. */
#define MAX_AGE_NS (60 * NSEC_PER_SEC)

void kernel_names_release(struct kernel_names *names)
{
	symtab_free(names->table);
	*names = (struct kernel_names){0};
}

static void *read_names(void *ctx)
{
	struct kernel_names *names = ctx;

	names->error = kallsyms_read(&names->fresh);
	return NULL;
}

void kernel_names_begin(struct kernel_names *names)
{
	uint64_t now = clock_mono_ns();

	if (names->read_ns && now - names->read_ns < MAX_AGE_NS)
		return;
	names->read_ns = now;
	names->begun = true;
	names->on_thread = thread_start(&names->thread, read_names, names) == 0;
	if (!names->on_thread)
		read_names(names);
}

void kernel_names_finish(struct kernel_names *names)
{
	if (!names->begun)
		return;
	if (names->on_thread)
		pthread_join(names->thread, NULL);
	names->begun = false;
	/* Old names are better than none. */
	if (names->error)
		return;
	symtab_free(names->table);
	names->table = names->fresh;
}
