/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The headers around the entries, and the entries that most tests need.
 */
#include "cfi/ehframe.h"
#include "elf/dwarf.h"
#include "tests/unit/frame_image.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static Elf64_Shdr section(uint32_t name, uint32_t type, size_t offset, size_t len)
{
	return (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = len};
}

void frame_image_init(struct frame_image *image)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.names\0.go.buildinfo";

	memset(image, 0, sizeof(*image));
	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct frame_image, segments),
		.e_shoff = offsetof(struct frame_image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = IMAGE_SECTIONS,
		.e_shstrndx = 3,
	};
	memcpy(image->names, names, sizeof(names));
}

void frame_image_seal(struct frame_image *image)
{
	size_t eh = offsetof(struct frame_image, eh.bytes);
	size_t eh_header = offsetof(struct frame_image, eh_header);

	image->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                  .p_flags = PF_R | PF_X,
	                                  .p_vaddr = IMAGE_TEXT,
	                                  .p_memsz = IMAGE_TEXT_BYTES};
	image->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                  .p_flags = PF_R,
	                                  .p_offset = eh,
	                                  .p_vaddr = IMAGE_FRAMES,
	                                  .p_filesz = sizeof(*image) - eh,
	                                  .p_memsz = sizeof(*image) - eh};
	image->segments[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
	                                  .p_offset = eh_header,
	                                  .p_vaddr = IMAGE_FRAMES + eh_header - eh,
	                                  .p_filesz = sizeof(image->eh_header),
	                                  .p_memsz = sizeof(image->eh_header)};
	image->eh_header.version = 1;
	image->eh_header.pointer_encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	image->eh_header.to_frames = -(int32_t)(eh_header + 4 - eh);
	if (image->eh.len) {
		image->sections[1] = section(1, SHT_PROGBITS, eh, image->eh.len);
		image->sections[1].sh_addr = IMAGE_FRAMES;
		image->sections[1].sh_flags = SHF_ALLOC;
	}
	if (image->debug.len)
		image->sections[2] =
			section(11, SHT_PROGBITS, offsetof(struct frame_image, debug.bytes),
		                image->debug.len);
	if (image->of_go)
		image->sections[4] =
			section(31, SHT_PROGBITS, offsetof(struct frame_image, names), 1);
	image->sections[3] =
		section(24, SHT_STRTAB, offsetof(struct frame_image, names), sizeof(image->names));
}

void put_bytes(struct frame_bytes *into, const void *bytes, size_t len)
{
	ck_assert_uint_le(len, sizeof(into->bytes) - into->len);
	if (len)
		memcpy(into->bytes + into->len, bytes, len);
	into->len += len;
}

void put_u8(struct frame_bytes *into, uint8_t value)
{
	put_bytes(into, &value, sizeof(value));
}

void put_u32(struct frame_bytes *into, uint32_t value)
{
	put_bytes(into, &value, sizeof(value));
}

void put_u64(struct frame_bytes *into, uint64_t value)
{
	put_bytes(into, &value, sizeof(value));
}

size_t begin_entry(struct frame_bytes *into)
{
	size_t entry = into->len;

	put_u32(into, 0);
	return entry;
}

void end_entry(struct frame_bytes *into, size_t entry)
{
	uint32_t len = (uint32_t)(into->len - entry - sizeof(len));

	memcpy(into->bytes + entry, &len, sizeof(len));
}

static void put_initial(struct frame_bytes *into)
{
	const uint8_t initial[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};

	put_bytes(into, initial, sizeof(initial));
}

size_t put_eh_cie(struct frame_bytes *into, const char *augmentation)
{
	const uint8_t alignment[] = {1, 0x78, 16};
	size_t entry = begin_entry(into);

	put_u32(into, 0);
	put_u8(into, 1);
	put_bytes(into, augmentation, strlen(augmentation) + 1);
	put_bytes(into, alignment, sizeof(alignment));
	if (augmentation[0] == 'z') {
		put_u8(into, strchr(augmentation, 'R') ? 1 : 0);
		if (strchr(augmentation, 'R'))
			put_u8(into, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	}
	put_initial(into);
	end_entry(into, entry);
	return entry;
}

void put_eh_fde(struct frame_bytes *into, size_t cie, uint64_t start, uint32_t len,
                const void *instructions, size_t instructions_len)
{
	size_t entry = begin_entry(into);

	put_u32(into, (uint32_t)(into->len - cie));
	put_u32(into, (uint32_t)(start - (IMAGE_FRAMES + into->len)));
	put_u32(into, len);
	put_u8(into, 0);
	put_bytes(into, instructions, instructions_len);
	end_entry(into, entry);
}

size_t put_debug_cie(struct frame_bytes *into)
{
	const uint8_t head[] = {4, 0, 8, 0, 1, 0x78, 16};
	size_t entry = begin_entry(into);

	put_u32(into, UINT32_MAX);
	put_bytes(into, head, sizeof(head));
	put_initial(into);
	end_entry(into, entry);
	return entry;
}

void put_debug_fde_of(struct frame_bytes *into, size_t cie, uint64_t start, uint64_t len,
                      const void *instructions, size_t instructions_len)
{
	size_t entry = begin_entry(into);

	put_u32(into, (uint32_t)cie);
	put_u64(into, start);
	put_u64(into, len);
	put_bytes(into, instructions, instructions_len);
	end_entry(into, entry);
}

void put_debug_fde(struct frame_bytes *into, size_t cie, uint64_t start, uint64_t len)
{
	const uint8_t to_64[] = {DW_CFA_def_cfa_offset, 64};

	put_debug_fde_of(into, cie, start, len, to_64, sizeof(to_64));
}

int frame_image_rows(struct frame_image *image, struct frame_text *ret_text)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	frame_image_seal(image);
	*ret_text = (struct frame_text){.count = 0};
	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	return ehframe_each_row(elf, frame_text_row, ret_text);
}

void check_frame_rows(struct frame_image *image, const char *rows)
{
	struct frame_text text;

	ck_assert_int_eq(frame_image_rows(image, &text), *rows ? 0 : -ENODATA);
	ck_assert_str_eq(text.text, rows);
}
