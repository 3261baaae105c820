/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A profile as bytes that may outlive the process: proto/slice.proto, gzipped. Nothing in them
 * refers to memory, to the object store or to a clock other than the wall clock. A binary is its
 * path and build ID, so a profile should have its names before it is packed: nobody can look them
 * up in a file that is gone. Comments belong to one answer and are left out.
 *
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* Of the message before it is gzipped. */
enum { MAX_PACKED_BYTES = 8 << 20 };

/* Identifies the boot and the clock that a packed profile refers to. */
struct packed_host {
	uint32_t boot;           /* not 0 */
	uint64_t wall_offset_ns; /* wall clock minus monotonic clock */
};

/* Appends to `out`, whose error is returned; -EFBIG also over MAX_PACKED_BYTES. */
int profile_pack(const struct profile *profile, const struct packed_host *host, struct buf *out);
/* Reads back what profile_pack() wrote, on this or another boot. `start_mono_ns` is the time on the
 * clock of this boot; before the boot it is below 0, and wraps. Of another boot, kernel
 * addresses are in mappings of their own, which have `object` set, and it is not known when
 * programs began. -EBADMSG: the bytes are no packed profile; -EFBIG: too large; -ENOMEM. */
int profile_unpack(const void *bytes, size_t len, const struct packed_host *host,
                   struct profile **ret_profile);
