/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads ELF files through libelf, except for the headers. The files belong to the user that runs
 * the program, so they are read with pread() and never mapped (truncation of a mapped file would
 * raise SIGBUS), and every range is compared with the file before libelf is asked for it.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "elf/elf_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool elf_read_raw(const struct elf *elf, uint64_t offset, void *into, size_t len)
{
	if (!elf_in_file(elf, offset, len))
		return false;
	if (elf->fd >= 0)
		return pread(elf->fd, into, len, (off_t)offset) == (ssize_t)len;
	memcpy(into, (const uint8_t *)elf->bytes + offset, len);
	return true;
}

Elf *elf_handle(const struct elf *elf)
{
	struct elf_header header;

	errno = 0;
	/* Read the header again: the file may have been written to. */
	if (elf_read_header(elf, &header) || !header.sections_at ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* libelf only reads through the pointer, unless it decompresses. */
	Elf *handle = elf->fd >= 0 ? elf_begin(elf->fd, ELF_C_READ, NULL)
	                           : elf_memory((char *)(uintptr_t)elf->bytes, elf->file_bytes);

	if (handle && elf_kind(handle) != ELF_K_ELF) {
		elf_end(handle);
		return NULL;
	}
	return handle;
}

static int open_elf(struct elf from, struct elf **ret_elf)
{
	_cleanup_(elf_freep) struct elf *elf = malloc(sizeof(*elf));

	if (!elf)
		return -ENOMEM;
	*elf = from;
	int err = elf_read_headers(elf);
	if (err)
		return err;
	*ret_elf = TAKE_PTR(elf);
	return 0;
}

int elf_open_fd(int fd, struct elf **ret_elf)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return -ENOEXEC;
	return open_elf((struct elf){.fd = fd, .file_bytes = (uint64_t)st.st_size}, ret_elf);
}

int elf_open_bytes(const void *bytes, size_t len, struct elf **ret_elf)
{
	return open_elf((struct elf){.fd = -1, .bytes = bytes, .file_bytes = len}, ret_elf);
}

void elf_free(struct elf *elf)
{
	if (!elf)
		return;
	free(elf->segments);
	free(elf);
}

bool elf_code(const struct elf *elf, uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = elf->code_start;
	*ret_end = elf->code_end;
	return elf->code_end;
}

const struct segment *elf_segments(const struct elf *elf, size_t *ret_count)
{
	*ret_count = elf->segment_count;
	return elf->segments;
}

const uint8_t *elf_build_id(const struct elf *elf, size_t *ret_len)
{
	*ret_len = elf->build_id_len;
	return elf->build_id_len ? elf->build_id : NULL;
}

bool elf_has_sections(const struct elf *elf)
{
	return elf->has_sections;
}

uint16_t elf_machine(const struct elf *elf)
{
	return elf->machine;
}

uint64_t elf_entry(const struct elf *elf)
{
	return elf->entry;
}

const struct segment *elf_frame_header(const struct elf *elf)
{
	return elf->has_sections ? NULL : elf_frame_index(elf);
}

const struct segment *elf_frame_index(const struct elf *elf)
{
	return elf->frame_header.file_bytes ? &elf->frame_header : NULL;
}

int elf_read_address(const struct elf *elf, uint64_t address, void *into, size_t len)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct segment *segment = &elf->segments[i];
		uint64_t at = address - segment->address, offset;

		if (address < segment->address || at > segment->file_bytes ||
		    len > segment->file_bytes - at ||
		    __builtin_add_overflow(segment->offset, at, &offset))
			continue;
		if (elf_read_raw(elf, offset, into, len))
			return 0;
	}
	return -EFAULT;
}

bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret_offset)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct segment *segment = &elf->segments[i];
		uint64_t at = address - segment->address, offset;

		if (address < segment->address || at >= segment->file_bytes ||
		    __builtin_add_overflow(segment->offset, at, &offset) ||
		    !elf_in_file(elf, offset, 1))
			continue;
		*ret_offset = offset;
		return true;
	}
	return false;
}
