/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names through libiberty. A name from a file of unknown origin may be a few hundred bytes that
 * expand without end (each part refers to the one before twice), which libiberty does not bound, so
 * its output comes piece by piece and is broken off.
 */
#include "demangle/demangle.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "names/mangled.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct output {
	struct buf buf;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t len, void *ctx)
{
	struct output *output = ctx;

	/* Out of the middle of libiberty: printing holds no memory but, for one kind of Rust names,
	 * a few bytes, and there is no other way to stop it. */
	if (len > MAX_SYMBOL_NAME_BYTES - output->buf.len)
		longjmp(output->too_long, 1);
	buf_add(&output->buf, piece, len);
}

static const char *skip_base_62(const char *at)
{
	while ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
	       (*at >= 'A' && *at <= 'Z'))
		at++;
	return at;
}

/* "for<'a, 'b, ...>" is written as G, their number in base 62, and an underscore, behind the F or D
 * of a function or dyn type, and where it is not shown libiberty counts to that number without a
 * word. Nobody has more than 62. The hash of a crate, Cs and a number, is passed over: it may look
 * like it, but what follows a binder is no digit. */
static bool counts_forever(const char *name)
{
	const char *end = name; /* of the letters and digits at hand */

	for (const char *at = name; *at; at++) {
		bool hash = at[0] == 'C' && at[1] == 's';
		bool binder = (at[0] == 'F' || at[0] == 'D') && at[1] == 'G';

		if (!hash && !binder)
			continue;
		if (at + 2 > end)
			end = skip_base_62(at + 2);
		if (binder && *end == '_' && end - at > 3)
			return true;
		if (hash && *end == '_' && end[1] >= '0' && end[1] <= '9')
			at = end;
		else
			at++;
	}
	return false;
}

static bool run(const char *name, struct output *output)
{
	if (setjmp(output->too_long))
		return false;
	/* Rust first: its older scheme looks like C++ with a hash behind. */
	if (rust_demangle_callback(name, 0, take_piece, output))
		return true;
	buf_clear(&output->buf);
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, take_piece, output);
}

char *demangle(const char *name)
{
	const char *start = mangled_start(name);

	if (!start || (start[1] == 'R' && counts_forever(start)))
		return NULL;

	struct output output = {.buf = BUF_INIT};
	if (!run(start, &output) || buf_error(&output.buf) || !output.buf.len) {
		buf_release(&output.buf);
		return NULL;
	}
	return (char *)output.buf.data;
}
