/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs libdwfl on a live process that the caller has stopped.
 */
#include "tests/bpf/libdw_walk.h"

#include <elfutils/libdwfl.h>

struct libdw_walk {
	Dwfl *dwfl;
	char *debuginfo_path;
	Dwfl_Callbacks callbacks; /* libdwfl keeps a pointer to it */
};

struct libdw_walk *libdw_walk_new(pid_t pid)
{
	_cleanup_(libdw_walk_freep) struct libdw_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->callbacks.find_elf = dwfl_linux_proc_find_elf;
	walk->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	walk->callbacks.debuginfo_path = &walk->debuginfo_path;
	walk->dwfl = dwfl_begin(&walk->callbacks);
	if (!walk->dwfl || dwfl_linux_proc_report(walk->dwfl, pid) ||
	    dwfl_report_end(walk->dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(walk->dwfl, pid, true))
		return NULL;
	return TAKE_PTR(walk);
}

void libdw_walk_free(struct libdw_walk *walk)
{
	if (!walk)
		return;
	if (walk->dwfl)
		dwfl_end(walk->dwfl);
	free(walk);
}

static int keep_frame(Dwfl_Frame *frame, void *ctx)
{
	struct libdw_stack *stack = ctx;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	if (stack->len == LIBDW_MAX_FRAMES)
		return DWARF_CB_ABORT;
	stack->frames[stack->len++] = (struct libdw_frame){pc, exact};
	return DWARF_CB_OK;
}

void libdw_walk_thread(struct libdw_walk *walk, pid_t tid, struct libdw_stack *ret_stack)
{
	int rc;

	ret_stack->len = 0;
	rc = dwfl_getthread_frames(walk->dwfl, tid, keep_frame, ret_stack);
	ret_stack->complete = rc == 0 || ret_stack->len == LIBDW_MAX_FRAMES;
	ret_stack->why = rc < 0 ? dwfl_errmsg(-1) : "";
}

const char *libdw_walk_name(struct libdw_walk *walk, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, address);
	const char *name = module ? dwfl_module_addrname(module, address) : NULL;

	return name ? name : "";
}
