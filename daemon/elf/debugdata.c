/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decompression uses liblzma, which checks how much memory a stream needs before it allocates it.
 */
#include "base/bounds.h"
#include "elf/debugdata.h"

#include <errno.h>
#include <lzma.h>

enum {
	FIRST_BYTES = 64 * 1024,
	MAX_DECODER_BYTES = 96 << 20, /* the decoder for the highest preset, xz -9, needs 65 MiB */
};

struct output {
	uint8_t *bytes;
	size_t len, capacity;
};

static void output_release(struct output *output)
{
	free(output->bytes);
}

/* `most` is one byte more than allowed. That byte distinguishes a file that fits from one that does
 * not. */
static int grow(struct output *output, size_t most)
{
	size_t capacity = output->capacity ? output->capacity : FIRST_BYTES / 2;

	if (output->capacity == most)
		return -E2BIG;
	capacity = capacity > most / 2 ? most : 2 * capacity;
	uint8_t *bytes = realloc(output->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	output->bytes = bytes;
	output->capacity = capacity;
	return 0;
}

static int decode(lzma_stream *stream, size_t max_bytes, struct output *output)
{
	size_t most = max_bytes < SIZE_MAX ? max_bytes + 1 : max_bytes;
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK) {
		if (!stream->avail_out) {
			int err = grow(output, most);
			if (err < 0)
				return err;
			stream->next_out = output->bytes + output->len;
			stream->avail_out = output->capacity - output->len;
		}
		status = lzma_code(stream, LZMA_FINISH);
		output->len = output->capacity - stream->avail_out;
	}
	if (output->len > max_bytes)
		return -E2BIG;
	if (status == LZMA_MEM_ERROR)
		return -ENOMEM;
	return status == LZMA_STREAM_END && output->len ? 0 : -EBADMSG;
}

static int decompress(const struct elf_section *section, size_t max_bytes, struct output *output)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	if (lzma_stream_decoder(&stream, MAX_DECODER_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = section->bytes;
	stream.avail_in = section->len;
	int err = decode(&stream, max_bytes, output);
	lzma_end(&stream);
	return err;
}

int debugdata_read(const struct elf *elf, size_t max_bytes, uint8_t **ret_bytes, size_t *ret_len)
{
	_cleanup_(output_release) struct output output = {0};
	struct elf_section section;
	/* MAX_SECTION_BYTES bounds the compressed size, which is the smaller one. */
	int err = elf_read_section(elf, ".gnu_debugdata", MAX_SECTION_BYTES, &section);

	if (err < 0)
		return err;
	err = decompress(&section, max_bytes, &output);
	free(section.bytes);
	if (err < 0)
		return err;
	*ret_bytes = TAKE_PTR(output.bytes);
	*ret_len = output.len;
	return 0;
}
