/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Demangles with libiberty. A name from an untrusted file may have a few hundred bytes that expand
 * without end (each part refers twice to the part before), which libiberty does not bound. Its
 * output is therefore taken piece by piece, and stopped when it is too long.
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

	/* Jumps out of libiberty: printing holds no memory except, for one kind of Rust name, a few
	 * bytes, and there is no other way to stop it. */
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

/* A binder "for<'a, 'b, ...>" is written as G, the number of lifetimes in base 62, and an
 * underscore, behind the F or D of a function or dyn type. Where the binder is not printed,
 * libiberty still counts to that number without output. Real names have at most 62 lifetimes. The
 * hash of a crate (Cs and a number) is skipped: it may look like a binder, but no digit follows a
 * binder. */
static bool counts_forever(const char *name)
{
	const char *end = name; /* end of the current run of letters and digits */

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
	/* Rust first: a name of its older scheme looks like C++ with a hash at the end. */
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
