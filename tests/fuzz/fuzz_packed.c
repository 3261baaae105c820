/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any message as a packed profile. One that is accepted passes through every encoder, and is packed
 * and read back as it was.
 */
#include "base/gzip.h"
#include "encode/encoder.h"
#include "past/packed.h"

#include <string.h>

/* Clang's fuzzer calls this function and has no header for it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct packed_host host = {.boot = 1, .wall_offset_ns = 5};

static void require(bool condition)
{
	if (!condition)
		__builtin_trap();
}

static struct profile *unpack(const uint8_t *data, size_t size)
{
	_cleanup_(buf_release) struct buf packed = BUF_INIT;
	struct profile *profile = NULL;
	struct gzip gzip;
	void *at;

	gzip_begin(&gzip, &packed);
	at = gzip_reserve(&gzip, size);
	memcpy(at, data, size);
	gzip_grown(&gzip, size);
	gzip_end(&gzip);
	return profile_unpack(packed.data, packed.len, &host, &profile) ? NULL : profile;
}

static void encode(const struct profile *profile, const struct encoder *encoder, struct buf *out)
{
	const struct encode_options options = {.rows = 5};

	require(!encoder->encode(profile, &options, out));
}

static void check_same(const struct profile *a, const struct profile *b)
{
	_cleanup_(buf_release) struct buf a_bytes = BUF_INIT, b_bytes = BUF_INIT;

	encode(a, &encoder_pprof, &a_bytes);
	encode(b, &encoder_pprof, &b_bytes);
	require(a_bytes.len == b_bytes.len && !memcmp(a_bytes.data, b_bytes.data, a_bytes.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_unrefp) struct profile *profile = unpack(data, size), *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;

	if (!profile)
		return 0;
	for (size_t i = 0; encoders[i]; i++) {
		_cleanup_(buf_release) struct buf out = BUF_INIT;

		encode(profile, encoders[i], &out);
	}
	require(!profile_pack(profile, &host, &packed));
	require(!profile_unpack(packed.data, packed.len, &host, &back));
	check_same(profile, back);
	return 0;
}
