/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_runtime.h"

#include "base/text.h"

#include <stddef.h>
#include <string.h>

/* Files by name, with '*' for any rest. Where a process maps several, the first one in this list
 * counts: many programs use LLVM for a part of theirs. */
static const struct {
	const char *file, *runtime;
} runtimes[] = {
	{"libjvm.so", "java"},
	{"libcoreclr.so", "dotnet"},
	{"libmonosgen-2.0.so*", "mono"},
	{"mono-sgen", "mono"},
	{"node", "node"},
	{"nodejs", "node"},
	{"libnode.so*", "node"},
	{"deno", "deno"},
	{"bun", "bun"},
	{"chrome", "chromium"},
	{"chromium", "chromium"},
	{"headless_shell", "chromium"},
	{"firefox*", "firefox"},
	{"libxul.so", "firefox"},
	{"libjulia-internal.so*", "julia"},
	{"libpypy*", "pypy"},
	{"pypy*", "pypy"},
	{"libruby*", "ruby"},
	{"ruby*", "ruby"},
	{"php*", "php"},
	{"libphp*", "php"},
	{"beam.smp", "beam"},
	{"libluajit-5.1.so*", "luajit"},
	{"luajit*", "luajit"},
	{"wasmtime", "wasmtime"},
	{"qemu-*", "qemu"},
	{"postgres", "postgres"},
	{"libLLVM*", "llvm"},
	{"libllvmlite.so", "llvm"},
};

uint8_t jit_runtime_of(const char *path, uint8_t known)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t end = known ? known - 1U : sizeof(runtimes) / sizeof(*runtimes);

	for (size_t i = 0; i < end; i++)
		if (text_matches(name, runtimes[i].file))
			return (uint8_t)(i + 1);
	return known;
}

const char *jit_runtime_name(uint8_t runtime)
{
	return runtime ? runtimes[runtime - 1].runtime : NULL;
}
