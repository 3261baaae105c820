/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ELF through libelf, which knows both classes and both byte orders. The files belong to whoever
 * runs a program, so they are read with pread() and never mapped (one that is cut short meanwhile
 * would raise SIGBUS), and every range is compared with the file before libelf is asked for it.
 */
#include "object/elf.h"
#include "base/bounds.h"
#include "object/elf_private.h"

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

/* libelf takes the numbers of headers as the file has them, those over 16 bits from section 0, and
 * allocates for as many, also where the file is nothing but a hole: so they must be some that an
 * executable has. Only this machine's byte order is looked at; a file in the other one cannot run
 * here. */
static bool plausible(const struct elf *elf)
{
	unsigned char ident[EI_NIDENT];
	uint64_t offset, sections, segments;

	if (!elf_read_raw(elf, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) ||
	    ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB))
		return false;
	if (ident[EI_CLASS] == ELFCLASS64) {
		Elf64_Ehdr header;
		Elf64_Shdr zero = {0};
		if (!elf_read_raw(elf, 0, &header, sizeof(header)))
			return false;
		if (header.e_shoff && !header.e_shnum &&
		    !elf_read_raw(elf, header.e_shoff, &zero, sizeof(zero)))
			return false;
		offset = header.e_shoff;
		sections = header.e_shnum ? header.e_shnum : zero.sh_size;
		segments = header.e_phnum;
	} else if (ident[EI_CLASS] == ELFCLASS32) {
		Elf32_Ehdr header;
		Elf32_Shdr zero = {0};
		if (!elf_read_raw(elf, 0, &header, sizeof(header)))
			return false;
		if (header.e_shoff && !header.e_shnum &&
		    !elf_read_raw(elf, header.e_shoff, &zero, sizeof(zero)))
			return false;
		offset = header.e_shoff;
		sections = header.e_shnum ? header.e_shnum : zero.sh_size;
		segments = header.e_phnum;
	} else {
		return false;
	}
	/* A file that was cut before its section headers still has its segments: libelf sees that
	 * itself. */
	return segments != PN_XNUM && (!offset || sections <= UINT16_MAX);
}

Elf *elf_handle(const struct elf *elf)
{
	/* Again: the file may have been written to. */
	if (!plausible(elf))
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

static int read_segments(struct elf *elf, Elf *handle)
{
	struct segment found[MAX_SEGMENTS];
	size_t headers = 0, count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(handle, &headers) < 0)
		return 0;
	for (size_t i = 0; i < headers && count < MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(handle, (int)i, &header))
			break;
		struct segment segment = {
			.offset = header.p_offset,
			.file_bytes = header.p_filesz,
			.address = header.p_vaddr,
			.memory_bytes = header.p_memsz,
			.executable = header.p_flags & PF_X,
		};
		if (header.p_type == PT_LOAD)
			found[count++] = segment;
		else if (header.p_type == PT_GNU_EH_FRAME)
			elf->frame_header = segment;
	}
	if (!count)
		return 0;
	elf->segments = malloc(count * sizeof(*found));
	if (!elf->segments)
		return -ENOMEM;
	memcpy(elf->segments, found, count * sizeof(*found));
	elf->segment_count = count;
	return 0;
}

/* True when the GNU one was found, so looking can stop; a Go one is kept until then. */
static bool read_notes(struct elf *elf, Elf *handle, uint64_t offset, uint64_t len, uint64_t align)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	if (!len || len > MAX_NOTE_BYTES || !elf_in_file(elf, offset, len))
		return false;
	Elf_Data *data = elf_getdata_rawchunk(handle, (int64_t)offset, len,
	                                      align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (!data)
		return false;
	while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *owner = (const char *)data->d_buf + name;
		bool gnu = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		           !memcmp(owner, "GNU", sizeof("GNU"));
		bool go = note.n_type == 4 && note.n_namesz == sizeof("Go") &&
		          !memcmp(owner, "Go", sizeof("Go"));
		if (!note.n_descsz || (!gnu && (!go || elf->build_id_len)))
			continue;
		/* A Go build ID is a text of 83 characters, four hashes; the first part of it is
		 * as good as all. */
		size_t id_len = note.n_descsz;
		if (id_len > sizeof(elf->build_id)) {
			if (gnu)
				continue;
			id_len = sizeof(elf->build_id);
		}
		memcpy(elf->build_id, (const uint8_t *)data->d_buf + desc, id_len);
		elf->build_id_len = id_len;
		if (gnu)
			return true;
	}
	return false;
}

/* Of many there is nothing to be expected but work: an executable has a handful, each as a segment
 * and as a section. */
static void read_build_id(struct elf *elf, Elf *handle)
{
	size_t headers = 0, looked_at = 0;
	GElf_Phdr segment;
	GElf_Shdr section;

	if (elf_getphdrnum(handle, &headers) < 0)
		headers = 0;
	for (size_t i = 0; i < headers && gelf_getphdr(handle, (int)i, &segment); i++) {
		if (segment.p_type == PT_NOTE && looked_at++ < MAX_NOTES &&
		    read_notes(elf, handle, segment.p_offset, segment.p_filesz, segment.p_align))
			return;
	}
	for (Elf_Scn *scn = elf_nextscn(handle, NULL); scn; scn = elf_nextscn(handle, scn)) {
		if (gelf_getshdr(scn, &section) && section.sh_type == SHT_NOTE &&
		    looked_at++ < MAX_NOTES &&
		    read_notes(elf, handle, section.sh_offset, section.sh_size,
		               section.sh_addralign))
			return;
	}
}

static int open_elf(struct elf from, struct elf **ret_elf)
{
	if (elf_version(EV_CURRENT) == EV_NONE || !plausible(&from))
		return -ENOEXEC;
	_cleanup_(elf_freep) struct elf *elf = malloc(sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	*elf = from;

	_cleanup_(elf_endp) Elf *handle = elf_handle(elf);
	GElf_Ehdr header;
	if (!handle || !gelf_getehdr(handle, &header))
		return -ENOEXEC;
	elf->machine = header.e_machine;
	elf->entry = header.e_entry;
	int err = read_segments(elf, handle);
	if (err < 0)
		return err;
	if (header.e_shoff)
		elf->frame_header = (struct segment){0};
	read_build_id(elf, handle);
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
