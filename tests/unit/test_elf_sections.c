/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The other parts of files that struct elf reads: sections by name, including compressed ones,
 * bytes by address, and the targets of relative relocations, correct and damaged.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { SECTIONS = 7, DATA_ADDRESS = 0x5000 };

struct sections_image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char names[64];
	struct {
		Elf64_Chdr header;
		uint8_t bytes[128];
	} compressed;
	Elf64_Rela rela[3];
	Elf64_Relr relr[3];
	uint64_t data[72];             /* at DATA_ADDRESS */
	Elf64_Shdr sections[SECTIONS]; /* null, names, .data, .packed, .rela, .relr, .bss */
};

static const char plain[] = "plain text plain text plain text plain text plain text";

static Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t flags, size_t offset, size_t len)
{
	return (Elf64_Shdr){.sh_name = name,
	                    .sh_type = type,
	                    .sh_flags = flags,
	                    .sh_offset = offset,
	                    .sh_size = len};
}

#define AT(member)   offsetof(struct sections_image, member)
#define SIZE(member) sizeof(((struct sections_image *)NULL)->member)

static void init_sections(struct sections_image *image, size_t compressed_len)
{
	Elf64_Shdr *sections = image->sections;

	sections[1] = section(1, SHT_STRTAB, 0, AT(names), SIZE(names));
	sections[2] = section(8, SHT_PROGBITS, SHF_ALLOC, AT(data), SIZE(data));
	sections[2].sh_addr = DATA_ADDRESS;
	sections[3] = section(14, SHT_PROGBITS, SHF_COMPRESSED, AT(compressed),
	                      sizeof(Elf64_Chdr) + compressed_len);
	sections[4] = section(22, SHT_RELA, SHF_ALLOC, AT(rela), SIZE(rela));
	sections[5] = section(28, SHT_RELR, SHF_ALLOC, AT(relr), SIZE(relr));
	sections[6] = section(34, SHT_NOBITS, SHF_ALLOC, AT(data), 64);
}

static void init_image(struct sections_image *image)
{
	static const char names[] = "\0.names\0.data\0.packed\0.rela\0.relr\0.bss";
	uLongf len = sizeof(image->compressed.bytes);

	memset(image, 0, sizeof(*image));
	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = 0x5010,
		.e_phoff = AT(segment),
		.e_shoff = AT(sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = 1,
	};
	image->segment = (Elf64_Phdr){.p_type = PT_LOAD,
	                              .p_flags = PF_R,
	                              .p_offset = AT(data),
	                              .p_vaddr = DATA_ADDRESS,
	                              .p_filesz = SIZE(data),
	                              .p_memsz = SIZE(data) + 64};
	memcpy(image->names, names, sizeof(names));
	ck_assert_int_eq(
		compress(image->compressed.bytes, &len, (const Bytef *)plain, sizeof(plain)), Z_OK);
	image->compressed.header = (Elf64_Chdr){
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(plain), .ch_addralign = 1};
	for (size_t i = 0; i < 72; i++)
		image->data[i] = 0x9000 + i;
	init_sections(image, len);
	image->rela[0] = (Elf64_Rela){.r_info = R_X86_64_RELATIVE, .r_addend = 0x1234};
	image->rela[1] = (Elf64_Rela){.r_info = R_X86_64_64, .r_addend = 0x2345};
	image->rela[2] = (Elf64_Rela){.r_info = R_X86_64_RELATIVE, .r_addend = 0x3456};
	/* Word 2; of the 63 words after it the second and the last; then the word after those. */
	image->relr[0] = DATA_ADDRESS + 16;
	image->relr[1] = 1 | 1ULL << 2 | 1ULL << 63;
	image->relr[2] = 1 | 1ULL << 1;
}

static int read_named(const struct sections_image *image, const char *name,
                      struct elf_section *ret_section)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	return elf_read_section(elf, name, MAX_SECTION_BYTES, ret_section);
}

START_TEST(by_name)
{
	struct sections_image image;
	struct elf_section found = {0};

	init_image(&image);
	ck_assert_int_eq(read_named(&image, ".data", &found), 0);
	ck_assert_uint_eq(found.len, sizeof(image.data));
	ck_assert_uint_eq(found.address, DATA_ADDRESS);
	ck_assert_mem_eq(found.bytes, image.data, sizeof(image.data));
	free(found.bytes);
	ck_assert_int_eq(read_named(&image, ".packed", &found), 0);
	ck_assert_uint_eq(found.len, sizeof(plain));
	ck_assert_uint_eq(found.address, 0);
	ck_assert_mem_eq(found.bytes, plain, sizeof(plain));
	free(found.bytes);
	ck_assert_int_eq(read_named(&image, ".bss", &found), -ENOENT);
	ck_assert_int_eq(read_named(&image, ".dat", &found), -ENOENT);
	ck_assert_int_eq(read_named(&image, ".nothing", &found), -ENOENT);
	image.header.e_shstrndx = 0;
	ck_assert_int_eq(read_named(&image, ".data", &found), -ENOENT);
}
END_TEST

/* Any thread may read the file, any number of times: reading must not change the image. */
START_TEST(leaves_the_bytes_alone)
{
	struct sections_image image, before;
	struct elf_section found;

	init_image(&image);
	before = image;
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	_cleanup_(elf_freep) struct elf *bytes = NULL, *file = NULL;
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &bytes), 0);
	ck_assert_int_eq(elf_open_fd(fd, &file), 0);
	for (int i = 0; i < 6; i++) {
		ck_assert_int_eq(elf_read_section(i & 1 ? file : bytes, ".packed",
		                                  MAX_SECTION_BYTES, &found),
		                 0);
		ck_assert_uint_eq(found.len, sizeof(plain));
		ck_assert_mem_eq(found.bytes, plain, sizeof(plain));
		free(found.bytes);
	}
	ck_assert_mem_eq(&image, &before, sizeof(image));
}
END_TEST

START_TEST(damaged_sections)
{
#define DAMAGES(DAMAGE)                                                             \
	DAMAGE(".data", -EBADMSG, image.sections[2].sh_offset = sizeof(image))      \
	DAMAGE(".data", -EBADMSG, image.sections[2].sh_size = UINT64_MAX)           \
	DAMAGE(".data", -ENOENT, image.sections[2].sh_size = 0)                     \
	DAMAGE(".data", -ENOENT, image.sections[2].sh_name = sizeof(image.names))   \
	DAMAGE(".data", -ENOENT, image.sections[2].sh_name = UINT32_MAX)            \
	DAMAGE(".data", -EBADMSG, image.sections[1].sh_size = UINT64_MAX)           \
	DAMAGE(".data", -EBADMSG, image.sections[1].sh_offset = sizeof(image) - 1)  \
	DAMAGE(".data", -ENOENT, image.sections[1].sh_type = SHT_NOBITS)            \
	DAMAGE(".data", -ENOENT, image.sections[1].sh_flags = SHF_COMPRESSED)       \
	DAMAGE(".data", -ENOENT, image.header.e_shstrndx = 200)                     \
	DAMAGE(".packed", -EBADMSG, image.compressed.header.ch_type = 77)           \
	DAMAGE(".packed", -EBADMSG, image.compressed.header.ch_size = UINT64_MAX)   \
	DAMAGE(".packed", -EBADMSG, image.compressed.header.ch_size = 1 << 20)      \
	DAMAGE(".packed", -EBADMSG, image.compressed.header.ch_size = 3)            \
	DAMAGE(".packed", -EBADMSG, image.compressed.bytes[4] ^= 0xff)              \
	DAMAGE(".packed", -EBADMSG, image.sections[3].sh_size = sizeof(Elf64_Chdr)) \
	DAMAGE(".packed", -EBADMSG, image.sections[3].sh_size = 5)
#define DAMAGE(name, error, assignment) \
	init_image(&image);             \
	assignment;                     \
	ck_assert_msg(read_named(&image, name, &found) == (error), "%s", #assignment);
	struct sections_image image;
	struct elf_section found = {0};

	DAMAGES(DAMAGE)
#undef DAMAGE
#undef DAMAGES
}
END_TEST

START_TEST(by_address)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct sections_image image;
	uint64_t words[2] = {0};

	init_image(&image);
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &elf), 0);
	ck_assert_uint_eq(elf_machine(elf), EM_X86_64);
	ck_assert_uint_eq(elf_entry(elf), 0x5010);
	ck_assert_ptr_null(elf_frame_header(elf));
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS, words, 16), 0);
	ck_assert(words[0] == 0x9000 && words[1] == 0x9001);
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS + 71 * 8, words, 8), 0);
	ck_assert_uint_eq(words[0], 0x9047);
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS + 71 * 8, words, 9), -EFAULT);
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS + 72 * 8, words, 1), -EFAULT);
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS - 1, words, 8), -EFAULT);
	ck_assert_int_eq(elf_read_address(elf, UINT64_MAX, words, 8), -EFAULT);
	ck_assert_int_eq(elf_read_address(elf, DATA_ADDRESS, words, SIZE_MAX), -EFAULT);
}
END_TEST

struct pointers {
	char text[512];
	int count, stop_after;
};

static int see(uint64_t address, void *ctx)
{
	struct pointers *pointers = ctx;
	size_t len = strlen(pointers->text);

	snprintf(pointers->text + len, sizeof(pointers->text) - len, "%lx ",
	         (unsigned long)address);
	return ++pointers->count == pointers->stop_after ? 7 : 0;
}

static int relative_of(const struct sections_image *image, struct pointers *pointers)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	ck_assert_int_eq(elf_open_bytes(image, sizeof(*image), &elf), 0);
	return elf_each_relative(elf, see, pointers);
}

START_TEST(relative)
{
	struct sections_image image;
	struct pointers all = {0}, some = {.stop_after = 3}, arm = {0}, other = {0};

	init_image(&image);
	ck_assert_int_eq(relative_of(&image, &all), 0);
	ck_assert_str_eq(all.text, "1234 3456 9002 9004 9041 9042 ");
	ck_assert_int_eq(relative_of(&image, &some), 7);
	ck_assert_str_eq(some.text, "1234 3456 9002 ");
	image.header.e_machine = EM_AARCH64;
	image.rela[1].r_info = R_AARCH64_RELATIVE;
	ck_assert_int_eq(relative_of(&image, &arm), 0);
	ck_assert_str_eq(arm.text, "2345 9002 9004 9041 9042 ");
	image.header.e_machine = EM_RISCV;
	ck_assert_int_eq(relative_of(&image, &other), 0);
	ck_assert_str_eq(other.text, "");
}
END_TEST

START_TEST(damaged_relative)
{
	struct sections_image image;
	struct pointers none = {0}, rela = {0}, outside = {0};

	init_image(&image);
	image.sections[4].sh_size = UINT64_MAX - 7;
	image.sections[5].sh_offset = sizeof(image);
	ck_assert_int_eq(relative_of(&image, &none), 0);
	ck_assert_str_eq(none.text, "");
	init_image(&image);
	image.sections[4].sh_size -= 1;
	image.sections[5].sh_size = 7;
	ck_assert_int_eq(relative_of(&image, &rela), 0);
	ck_assert_str_eq(rela.text, "1234 ");
	/* Pointers to places that the file does not contain. */
	init_image(&image);
	image.sections[4].sh_type = SHT_NULL;
	image.relr[0] = UINT64_MAX - 7;
	image.relr[1] = UINT64_MAX;
	ck_assert_int_eq(relative_of(&image, &outside), 0);
	ck_assert_str_eq(outside.text, "");
}
END_TEST

Suite *elf_sections_suite(void)
{
	Suite *suite = suite_create("elf_sections");
	TCase *tcase = tcase_create("elf_sections");

	tcase_add_test(tcase, by_name);
	tcase_add_test(tcase, leaves_the_bytes_alone);
	tcase_add_test(tcase, damaged_sections);
	tcase_add_test(tcase, by_address);
	tcase_add_test(tcase, relative);
	tcase_add_test(tcase, damaged_relative);
	suite_add_tcase(suite, tcase);
	return suite;
}
