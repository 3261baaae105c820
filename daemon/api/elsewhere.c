/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One table.
 */
#include "api/elsewhere.h"

#include <stddef.h>
#include <string.h>

#define FLAME_GRAPH \
	"; / in a browser shows a flame graph; use format=folded for tools that draw one"

static const struct {
	const char *what, *asked, *hint;
} hints[] = {
	{"", "/flamegraph", FLAME_GRAPH},
	{"", "/debug/pprof/heap", "; /heap?pid=PID is the heap of a process"},
	{"", "/debug/pprof/allocs", "; /heap?pid=PID also shows what a process allocates"},
	{"format", "flamegraph", FLAME_GRAPH},
	{"format", "svg", FLAME_GRAPH},
	{"format", "speedscope", "; speedscope opens pprof and folded"},
	{"type", "heap", "; /heap?pid=PID is the heap of a process"},
};

const char *elsewhere_hint(const char *what, const char *asked)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (!strcmp(hints[i].what, what) && !strcmp(hints[i].asked, asked))
			return hints[i].hint;
	return "";
}
