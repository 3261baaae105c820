/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sections of an ELF file by name. Contents are read with pread(). libelf finds the headers, and
 * decompresses sections whose header gives a size within the bound.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "elf/elf_private.h"

#include <errno.h>
#include <string.h>

/* The highest ratio that a compressor reaches: zlib's, by design. */
enum { MAX_COMPRESSION = 1032 };

/* The section names. They are NUL-terminated whatever the file holds. */
static int read_names(const struct elf *elf, Elf *handle, char **ret_names, size_t *ret_len)
{
	size_t index;
	GElf_Shdr header;

	if (elf_getshdrstrndx(handle, &index) < 0 ||
	    !gelf_getshdr(elf_getscn(handle, index), &header) || header.sh_type == SHT_NOBITS ||
	    !header.sh_size || header.sh_flags & SHF_COMPRESSED)
		return -ENOENT;
	if (header.sh_size > MAX_SECTION_BYTES ||
	    !elf_in_file(elf, header.sh_offset, header.sh_size))
		return -EBADMSG;
	_cleanup_free_ char *names = malloc(header.sh_size + 1);
	if (!names)
		return -ENOMEM;
	if (!elf_read_raw(elf, header.sh_offset, names, header.sh_size))
		return -EBADMSG;
	names[header.sh_size] = '\0';
	*ret_names = TAKE_PTR(names);
	*ret_len = header.sh_size;
	return 0;
}

static int find_section(const struct elf *elf, Elf *handle, const char *name, Elf_Scn **ret_scn,
                        GElf_Shdr *ret_header)
{
	_cleanup_free_ char *names = NULL;
	size_t len = 0;
	GElf_Shdr header;
	int err = read_names(elf, handle, &names, &len);

	if (err < 0)
		return err;
	for (Elf_Scn *scn = elf_nextscn(handle, NULL); scn; scn = elf_nextscn(handle, scn)) {
		if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS ||
		    !header.sh_size || header.sh_name >= len ||
		    strcmp(names + header.sh_name, name) != 0)
			continue;
		*ret_scn = scn;
		*ret_header = header;
		return 0;
	}
	return -ENOENT;
}

static int decompress(Elf_Scn *scn, const GElf_Shdr *header, size_t max_bytes,
                      struct elf_section *ret_section)
{
	GElf_Chdr compressed;

	if (!gelf_getchdr(scn, &compressed) ||
	    compressed.ch_size / MAX_COMPRESSION > header->sh_size)
		return -EBADMSG;
	if (compressed.ch_size > max_bytes)
		return -E2BIG;
	if (elf_compress(scn, 0, 0) < 0)
		return -EBADMSG;
	Elf_Data *data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return -EBADMSG;
	uint8_t *bytes = malloc(data->d_size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, data->d_buf, data->d_size);
	*ret_section = (struct elf_section){bytes, data->d_size, 0};
	return 0;
}

/* libelf changes the section's header when it decompresses. For an image in memory that is the
 * image's own header, so a copy of the image is used. */
static int decompress_copy(const struct elf *elf, const char *name, size_t max_bytes,
                           struct elf_section *ret_section)
{
	_cleanup_free_ void *bytes = malloc(elf->file_bytes);
	Elf_Scn *scn = NULL;
	GElf_Shdr header = {0};

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, elf->bytes, elf->file_bytes);
	struct elf copy = *elf;
	copy.bytes = bytes;
	_cleanup_(elf_endp) Elf *handle = elf_handle(&copy);
	int err = handle ? find_section(&copy, handle, name, &scn, &header) : elf_failure(-EBADMSG);
	return err < 0 ? err : decompress(scn, &header, max_bytes, ret_section);
}

bool elf_has_section(const struct elf *elf, const char *name)
{
	_cleanup_(elf_endp) Elf *handle = elf_handle(elf);
	Elf_Scn *scn;
	GElf_Shdr header;

	return handle && find_section(elf, handle, name, &scn, &header) == 0;
}

int elf_read_section(const struct elf *elf, const char *name, size_t max_bytes,
                     struct elf_section *ret_section)
{
	_cleanup_(elf_endp) Elf *handle = elf_handle(elf);
	Elf_Scn *scn = NULL;
	GElf_Shdr header = {0};

	if (!elf->has_sections)
		return -ENOENT;
	int err = handle ? find_section(elf, handle, name, &scn, &header) : elf_failure(-EBADMSG);
	if (err < 0)
		return err;
	if (!elf_in_file(elf, header.sh_offset, header.sh_size))
		return -EBADMSG;
	if (header.sh_size > max_bytes)
		return -E2BIG;
	if (header.sh_flags & SHF_COMPRESSED)
		return elf->fd >= 0 ? decompress(scn, &header, max_bytes, ret_section)
		                    : decompress_copy(elf, name, max_bytes, ret_section);
	_cleanup_free_ uint8_t *bytes = malloc(header.sh_size);
	if (!bytes)
		return -ENOMEM;
	if (!elf_read_raw(elf, header.sh_offset, bytes, header.sh_size))
		return -EBADMSG;
	*ret_section = (struct elf_section){
		.bytes = TAKE_PTR(bytes),
		.len = header.sh_size,
		.address = header.sh_flags & SHF_ALLOC ? header.sh_addr : 0,
	};
	return 0;
}
