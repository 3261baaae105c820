/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * User-space statically defined tracing: the probes that a file was compiled with, from its
 * .note.stapsdt section. Format: SystemTap's wiki, UserSpaceProbeImplementation, and sys/sdt.h
 * version 3. No state; bytes are untrusted; any thread.
 */
#pragma once

#include "elf/elf.h"

enum {
	MAX_USDT_PROBES = 4096, /* of one file; a libc has 40, a database some hundred */
	MAX_USDT_NOTE_BYTES = 4 << 20,
};

struct usdt_probe {
	const char *provider, *name, *arguments; /* valid until the callback returns */
	uint64_t address;                        /* own address of the instruction */
	uint64_t offset;                         /* its offset in the file, for a uprobe */
	uint64_t semaphore_offset; /* offset in the file, for a uprobe's ref_ctr; 0: it has none */
};

/* Stops when fn returns non-zero and returns that. */
typedef int usdt_fn(const struct usdt_probe *probe, void *ctx);
/* Calls fn for each probe of a file, in the order of its notes; probes whose address is in no
 * segment are left out. 0 also for a file that has none; -EBADMSG when the section is broken (fn
 * was called for the probes before that place), -E2BIG over a bound, -ENOMEM. */
int usdt_each(const struct elf *elf, usdt_fn *fn, void *ctx);

/* One note as it is in the file: addresses as the linker left them. */
struct usdt_note {
	const char *provider, *name, *arguments;
	uint64_t address, base, semaphore;
};
typedef int usdt_note_fn(const struct usdt_note *note, void *ctx);
/* Calls fn for the notes in the section's bytes; `address_bytes` is 4 or 8. Errors as above. */
int usdt_notes(const uint8_t *bytes, size_t len, size_t address_bytes, usdt_note_fn *fn, void *ctx);
