/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads what opening a file needs: the file header, the program headers, where the code is and, for
 * the build ID, the notes. It does so without libelf, because the daemon itself, with its
 * capabilities, opens every file that is mapped, and the file's owner may write to the file between
 * a check and a use. Each table is therefore read once, into memory whose size comes from the
 * checked count.
 */
#include "elf/elf_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries of the program header or section header table, of either ELF class. */
struct table {
	uint8_t *bytes;
	size_t count, entry_bytes;
};

static void table_release(struct table *table)
{
	free(table->bytes);
}

static bool read_64(const struct elf *elf, struct elf_header *header)
{
	Elf64_Shdr zero = {0};
	Elf64_Ehdr file;

	if (!elf_read_raw(elf, 0, &file, sizeof(file)))
		return false;
	if (file.e_shoff && !file.e_shnum && !elf_read_raw(elf, file.e_shoff, &zero, sizeof(zero)))
		zero.sh_size = 0;
	*header = (struct elf_header){
		.is_64 = true,
		.machine = file.e_machine,
		.entry = file.e_entry,
		.segments_at = file.e_phoff,
		.sections_at = file.e_shoff,
		.segments = file.e_phnum,
		.sections = file.e_shnum ? file.e_shnum : zero.sh_size,
	};
	return true;
}

static bool read_32(const struct elf *elf, struct elf_header *header)
{
	Elf32_Shdr zero = {0};
	Elf32_Ehdr file;

	if (!elf_read_raw(elf, 0, &file, sizeof(file)))
		return false;
	if (file.e_shoff && !file.e_shnum && !elf_read_raw(elf, file.e_shoff, &zero, sizeof(zero)))
		zero.sh_size = 0;
	*header = (struct elf_header){
		.machine = file.e_machine,
		.entry = file.e_entry,
		.segments_at = file.e_phoff,
		.sections_at = file.e_shoff,
		.segments = file.e_phnum,
		.sections = file.e_shnum ? file.e_shnum : zero.sh_size,
	};
	return true;
}

static size_t section_bytes(const struct elf_header *header)
{
	return header->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

/* Whether the whole table is in the file, and its size is one that an executable can have. */
static bool has_sections(const struct elf *elf, const struct elf_header *header)
{
	return header->sections_at && header->sections && header->sections <= UINT16_MAX &&
	       elf_in_file(elf, header->sections_at, header->sections * section_bytes(header));
}

int elf_read_header(const struct elf *elf, struct elf_header *ret_header)
{
	unsigned char ident[EI_NIDENT];
	bool is_read = false;

	if (!elf_read_raw(elf, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_VERSION] != EV_CURRENT ||
	    ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB))
		return -ENOEXEC;
	if (ident[EI_CLASS] == ELFCLASS64)
		is_read = read_64(elf, ret_header);
	else if (ident[EI_CLASS] == ELFCLASS32)
		is_read = read_32(elf, ret_header);
	if (!is_read || ret_header->segments == PN_XNUM)
		return -ENOEXEC;
	/* A tool that strips or packs a file may leave a reference to a table that is gone. The
	 * program runs without it, so the file is read as one without sections. */
	if (!has_sections(elf, ret_header))
		ret_header->sections_at = ret_header->sections = 0;
	return 0;
}

/* The table is empty where the file does not hold all of it. */
static int read_table(const struct elf *elf, uint64_t at, size_t count, size_t entry_bytes,
                      struct table *table)
{
	size_t len = count * entry_bytes; /* counts have 16 bits */

	table->entry_bytes = entry_bytes;
	if (!at || !count || !elf_in_file(elf, at, len))
		return 0;
	_cleanup_free_ uint8_t *bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	/* The file was longer a moment ago. */
	if (!elf_read_raw(elf, at, bytes, len))
		return 0;
	table->bytes = TAKE_PTR(bytes);
	table->count = count;
	return 0;
}

static Elf64_Phdr segment_at(const struct table *table, size_t i)
{
	Elf64_Phdr large;
	Elf32_Phdr small;

	if (table->entry_bytes == sizeof(large)) {
		memcpy(&large, table->bytes + i * sizeof(large), sizeof(large));
		return large;
	}
	memcpy(&small, table->bytes + i * sizeof(small), sizeof(small));
	return (Elf64_Phdr){
		.p_type = small.p_type,
		.p_flags = small.p_flags,
		.p_offset = small.p_offset,
		.p_vaddr = small.p_vaddr,
		.p_filesz = small.p_filesz,
		.p_memsz = small.p_memsz,
		.p_align = small.p_align,
	};
}

static Elf64_Shdr section_at(const struct table *table, size_t i)
{
	Elf64_Shdr large;
	Elf32_Shdr small;

	if (table->entry_bytes == sizeof(large)) {
		memcpy(&large, table->bytes + i * sizeof(large), sizeof(large));
		return large;
	}
	memcpy(&small, table->bytes + i * sizeof(small), sizeof(small));
	return (Elf64_Shdr){
		.sh_type = small.sh_type,
		.sh_flags = small.sh_flags,
		.sh_addr = small.sh_addr,
		.sh_offset = small.sh_offset,
		.sh_size = small.sh_size,
		.sh_addralign = small.sh_addralign,
	};
}

static int keep_segments(struct elf *elf, const struct table *table)
{
	struct segment found[MAX_SEGMENTS];
	size_t count = 0;

	for (size_t i = 0; i < table->count && count < MAX_SEGMENTS; i++) {
		const Elf64_Phdr header = segment_at(table, i);
		const struct segment segment = {
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

/* True: this is the GNU build ID, so the search can stop. A Go build ID is kept until a GNU one is
 * found. */
static bool take_note(struct elf *elf, const Elf64_Nhdr *note, const uint8_t *owner,
                      const uint8_t *id)
{
	bool gnu = note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
	           !memcmp(owner, "GNU", sizeof("GNU"));
	bool go = note->n_type == 4 && note->n_namesz == sizeof("Go") &&
	          !memcmp(owner, "Go", sizeof("Go"));
	size_t len = note->n_descsz;

	if (!len || (!gnu && (!go || elf->build_id_len)))
		return false;
	/* A Go build ID is a text of 83 characters, four hashes. The first part of it identifies
	 * the file well enough. */
	if (len > sizeof(elf->build_id)) {
		if (gnu)
			return false;
		len = sizeof(elf->build_id);
	}
	memcpy(elf->build_id, id, len);
	elf->build_id_len = len;
	return gnu;
}

/* Notes are padded to 4 bytes, or to 8 where the notes are aligned to 8. The format is the same in
 * both ELF classes. */
static bool look_at_notes(struct elf *elf, const uint8_t *bytes, size_t len, size_t align)
{
	Elf64_Nhdr note;
	size_t at = 0;

	while (at < len && len - at >= sizeof(note)) {
		memcpy(&note, bytes + at, sizeof(note));
		size_t owner = at + sizeof(note);
		if (note.n_namesz > len - owner)
			break;
		size_t id = (owner + note.n_namesz + align - 1) & ~(align - 1);
		if (id > len || note.n_descsz > len - id)
			break;
		if (take_note(elf, &note, bytes + owner, bytes + id))
			return true;
		at = (id + note.n_descsz + align - 1) & ~(align - 1);
	}
	return false;
}

static bool read_notes(struct elf *elf, uint64_t offset, uint64_t len, uint64_t align)
{
	_cleanup_free_ uint8_t *bytes = NULL;

	if (!len || len > MAX_NOTE_BYTES || !elf_in_file(elf, offset, len))
		return false;
	bytes = malloc(len);
	return bytes && elf_read_raw(elf, offset, bytes, len) &&
	       look_at_notes(elf, bytes, len, align == 8 ? 8 : 4);
}

/* The number of notes is bounded: an executable has a handful, each as a segment and as a section,
 * and more would only cost work. */
static void find_build_id(struct elf *elf, const struct table *segments,
                          const struct table *sections)
{
	size_t looked_at = 0;

	for (size_t i = 0; i < segments->count; i++) {
		const Elf64_Phdr segment = segment_at(segments, i);

		if (segment.p_type == PT_NOTE && looked_at++ < MAX_NOTES &&
		    read_notes(elf, segment.p_offset, segment.p_filesz, segment.p_align))
			return;
	}
	for (size_t i = 1; i < sections->count; i++) {
		const Elf64_Shdr section = section_at(sections, i);

		if (section.sh_type == SHT_NOTE && looked_at++ < MAX_NOTES &&
		    read_notes(elf, section.sh_offset, section.sh_size, section.sh_addralign))
			return;
	}
}

static void find_code(struct elf *elf, const struct table *sections)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
	uint64_t start = UINT64_MAX, end = 0, last;

	for (size_t i = 1; i < sections->count; i++) {
		const Elf64_Shdr section = section_at(sections, i);

		if ((section.sh_flags & flags) != flags || !section.sh_size ||
		    __builtin_add_overflow(section.sh_addr, section.sh_size, &last))
			continue;
		start = section.sh_addr < start ? section.sh_addr : start;
		end = last > end ? last : end;
	}
	if (start < end) {
		elf->code_start = start;
		elf->code_end = end;
	}
}

int elf_read_headers(struct elf *elf)
{
	_cleanup_(table_release) struct table segments = {0}, sections = {0};
	struct elf_header header;
	int err = elf_read_header(elf, &header);

	if (err)
		return err;
	elf->machine = header.machine;
	elf->entry = header.entry;
	err = read_table(elf, header.segments_at, header.segments,
	                 header.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), &segments);
	if (!err)
		err = keep_segments(elf, &segments);
	if (!err)
		err = read_table(elf, header.sections_at, header.sections, section_bytes(&header),
		                 &sections);
	if (err)
		return err;
	elf->has_sections = header.sections_at;
	find_code(elf, &sections);
	find_build_id(elf, &segments, &sections);
	return 0;
}
