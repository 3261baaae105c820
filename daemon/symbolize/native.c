/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of native code. pprof takes equal name and system_name for "still to be demangled", so
 * the linker's name is given only where it is another one.
 */
#include "symbolize/native.h"
#include "base/bounds.h"
#include "symbolize/demangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t native_label(struct builder *builder, const char *name)
{
	const struct function function = {.name = builder_text(builder, name)};

	return builder_function(builder, &function);
}

uint32_t native_function(struct builder *builder, const char *symbol)
{
	_cleanup_free_ char *readable = demangle(symbol);

	if (!readable || !strcmp(readable, symbol))
		return native_label(builder, symbol);
	const struct function function = {
		.name = builder_text(builder, readable),
		.system_name = builder_text(builder, symbol),
	};
	return builder_function(builder, &function);
}

uint32_t native_place(struct builder *builder, const char *path, uint64_t address)
{
	char name[MAX_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t len = strnlen(base, MAX_PATH_BYTES - 32);

	/* "[vdso]" has brackets already. */
	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	if (!len) {
		base = "unknown";
		len = strlen(base);
	}
	snprintf(name, sizeof(name), "[%.*s+0x%" PRIx64 "]", (int)len, base, address);
	return native_label(builder, name);
}
