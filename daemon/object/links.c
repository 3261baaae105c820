/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads sections of a few bytes, and implements both ends of the request.
 */
#include "object/links.h"

#include <errno.h>
#include <string.h>

enum { CHECKSUM_ALIGN = 4 };

/* Reads the string that a section begins with. False: there is no such section, or no terminated
 * string in it. */
static bool read_section(const struct elf *elf, const char *name, struct elf_section *ret_section,
                         size_t *ret_len)
{
	if (elf_read_section(elf, name, MAX_PATH_BYTES, ret_section))
		return false;
	const uint8_t *end = memchr(ret_section->bytes, '\0', ret_section->len);
	*ret_len = end ? (size_t)(end - ret_section->bytes) : 0;
	return *ret_len > 0;
}

static void read_debug_link(const struct elf *elf, struct links *links)
{
	struct elf_section section = {0};
	size_t len;

	/* A name with a slash would lead into another folder and is ignored. */
	if (read_section(elf, ".gnu_debuglink", &section, &len) && len < MAX_LINK_NAME &&
	    !memchr(section.bytes, '/', len)) {
		size_t at = len + 1;

		at += -at % CHECKSUM_ALIGN;
		memcpy(links->debug_name, section.bytes, len);
		links->has_checksum =
			at <= section.len && section.len - at >= sizeof(links->checksum);
		if (links->has_checksum)
			memcpy(&links->checksum, section.bytes + at, sizeof(links->checksum));
	}
	free(section.bytes);
}

static void read_supplement(const struct elf *elf, struct links *links)
{
	struct elf_section section = {0};
	size_t len;

	if (read_section(elf, ".gnu_debugaltlink", &section, &len)) {
		size_t id_len = section.len - len - 1;

		if (id_len > 1 && id_len <= MAX_BUILD_ID_BYTES) {
			memcpy(links->supplement, section.bytes, len);
			memcpy(links->supplement_id, section.bytes + len + 1, id_len);
			links->supplement_id_len = (uint8_t)id_len;
		}
	}
	free(section.bytes);
}

void links_read(const struct elf *elf, struct links *ret_links)
{
	struct links links = {0};

	read_debug_link(elf, &links);
	read_supplement(elf, &links);
	links.has_dwarf =
		elf_has_section(elf, ".debug_info") || elf_has_section(elf, ".zdebug_info");
	*ret_links = links;
}

int links_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct links links;

	if (reading->len || reading->fds[0] < 0)
		return -EPROTO;
	int err = elf_open_fd(reading->fds[0], &elf);
	if (err < 0)
		return err;
	links_read(elf, &links);
	buf_add(out, &links, sizeof(links));
	return buf_error(out);
}

int links_check(const uint8_t *bytes, size_t len)
{
	const struct links *links = (const struct links *)(const void *)bytes;

	if (len != sizeof(*links) || strnlen(links->debug_name, MAX_LINK_NAME) == MAX_LINK_NAME ||
	    strchr(links->debug_name, '/') || links->has_checksum > 1 || links->has_dwarf > 1 ||
	    links->supplement_id_len > MAX_BUILD_ID_BYTES ||
	    strnlen(links->supplement, MAX_PATH_BYTES) == MAX_PATH_BYTES)
		return -EBADMSG;
	return 0;
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return links_check(bytes, len);
}

int links_ask(struct reader *reader, const struct object *object, uint64_t number,
              struct links *ret_links)
{
	const struct reader_query query = {
		.question = {.job = READER_LINKS, .fds = {object->fd, -1, -1}},
		.file = number,
		.check = check,
	};

	return reader_ask_fixed(reader, &query, ret_links, sizeof(*ret_links));
}
