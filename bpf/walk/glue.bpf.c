/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "bpf/walk/glue.bpf.h"

u64 glue_starts[GLUE_SYMBOLS], glue_is_known;

#define GLUE(tracepoint, class)                                                \
	static const char name_of_##tracepoint[] = "__traceiter_" #tracepoint; \
	static const char class_of_##tracepoint[] = "__bpf_trace_" #class;
GLUE_LIST(GLUE)
#undef GLUE

static __always_inline void find(const char *name, u32 size, u32 at)
{
	u64 found = 0;

	if (bpf_kallsyms_lookup_name(name, (int)size, 0, &found))
		return;
	glue_starts[at] = found;
	glue_is_known = 1;
}

/* The daemon runs this once, before it attaches a program that walks kernel stacks. */
SEC("syscall")
int glue_find(void *ctx)
{
	u32 at = 0;

#define GLUE(tracepoint, class)                                         \
	find(name_of_##tracepoint, sizeof(name_of_##tracepoint), at++); \
	find(class_of_##tracepoint, sizeof(class_of_##tracepoint), at++);
	GLUE_LIST(GLUE)
#undef GLUE
	return 0;
}
