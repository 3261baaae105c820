/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a sequence of reports of code objects: the text of each kept one can be shown, and
 * their memory stays within the bound.
 */
#include "base/text.h"
#include "python/python_codes.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 * 1024 };

static void check_text(const char *text)
{
	size_t len = strlen(text);

	if (text_utf8_prefix(text, len) != len)
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
}

static void check_found(struct python_codes *codes, uint64_t signature, uint32_t offset)
{
	struct runtime_frame place, again;

	if (!python_codes_find(codes, signature, offset, &place))
		return;
	check_text(place.function);
	check_text(place.file);
	if (!place.function[0] || !python_codes_find(codes, signature, offset, &again) ||
	    again.identity != place.identity || again.line != place.line)
		abort();
}

static void check_stats(const struct python_codes *codes)
{
	struct python_codes_stats stats;

	python_codes_get_stats(codes, &stats);
	if (stats.code_bytes > MAX_BYTES && stats.codes > 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(MAX_BYTES);
	struct python_code head;
	uint16_t len;

	while (codes && size >= sizeof(len)) {
		memcpy(&len, data, sizeof(len));
		data += sizeof(len);
		size -= sizeof(len);
		if (len > size)
			len = (uint16_t)size;
		/* Exactly this size, and with pid 0, so that no process's memory is read for the
		 * rest. */
		_cleanup_free_ uint8_t *bytes = malloc(len + 1U);
		if (!bytes)
			break;
		memcpy(bytes, data, len);
		memset(&head, 0, sizeof(head));
		memcpy(&head, bytes, len < sizeof(head) ? len : sizeof(head));
		if (len >= sizeof(head))
			memset(bytes + offsetof(struct python_code, pid), 0, sizeof(head.pid));
		int err = python_codes_add(codes, 0, bytes, len);
		for (uint32_t offset = 0; err == 0 && offset < 64; offset += 7)
			check_found(codes, head.signature, offset);
		check_stats(codes);
		data += len;
		size -= len;
	}
	return 0;
}
