/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The procedure linkage table. A stub loads its target from a slot of the global offset table; the
 * relocation of that slot names the function. The slot is read from the stub's instructions, so
 * nothing depends on the order in which a linker writes stubs. Formats: System V ABI for x86-64 and
 * arm64, dynamic linking.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "elf/elf_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_STUB_SECTION_BYTES = 64 << 20, /* bound on every section that is read here */
	X86_STUB_BYTES = 16,
	X86_SHORT_STUB_BYTES = 8, /* in .plt.got, where nothing is bound lazily */
	ARM64_INSTRUCTION = 4,
	ARM64_BTI_C = (int)0xd503245f,
};

/* A slot of the global offset table that a relocation fills. */
struct slot {
	uint64_t address;
	uint32_t symbol;
};

struct plt {
	const struct elf *elf;
	struct elf_section symbols, names;
	struct slot *slots;
	size_t count, capacity;
	elf_symbol_fn *fn;
	void *ctx;
};

static void plt_release(struct plt *plt)
{
	free(plt->symbols.bytes);
	free(plt->names.bytes);
	free(plt->slots);
}

static void section_release(struct elf_section *section)
{
	free(section->bytes);
}

/* The section is empty when it cannot be read; -ENOMEM is the only error. */
static int read_section(const struct elf *elf, const char *name, struct elf_section *section)
{
	return elf_read_section(elf, name, MAX_STUB_SECTION_BYTES, section) == -ENOMEM ? -ENOMEM
	                                                                               : 0;
}

static bool fills_slot(const struct plt *plt, uint64_t type)
{
	return plt->elf->machine == EM_X86_64
	               ? type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT
	               : type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static int add_slot(struct plt *plt, const struct slot *slot)
{
	if (plt->count == plt->capacity) {
		size_t capacity = plt->capacity ? 2 * plt->capacity : 256;
		struct slot *slots = realloc(plt->slots, capacity * sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		plt->slots = slots;
		plt->capacity = capacity;
	}
	plt->slots[plt->count++] = *slot;
	return 0;
}

static int gather(struct plt *plt, const char *name)
{
	_cleanup_(section_release) struct elf_section section = {0};
	Elf64_Rela entry;
	int err = read_section(plt->elf, name, &section);

	for (size_t at = 0; err == 0 && section.len - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, section.bytes + at, sizeof(entry));
		if (fills_slot(plt, ELF64_R_TYPE(entry.r_info)))
			err = add_slot(plt, &(struct slot){entry.r_offset,
			                                   (uint32_t)ELF64_R_SYM(entry.r_info)});
	}
	return err;
}

static int compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

/* The name of the symbol that the slot's relocation refers to; NULL when there is none. */
static const char *slot_name(const struct plt *plt, uint64_t address)
{
	size_t low = 0, high = plt->count;
	Elf64_Sym symbol;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plt->slots[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == plt->count || plt->slots[low].address != address ||
	    plt->slots[low].symbol >= plt->symbols.len / sizeof(symbol))
		return NULL;
	memcpy(&symbol, plt->symbols.bytes + plt->slots[low].symbol * sizeof(symbol),
	       sizeof(symbol));
	if (symbol.st_name >= plt->names.len)
		return NULL;
	const char *name = (const char *)plt->names.bytes + symbol.st_name;
	return *name && memchr(name, '\0', plt->names.len - symbol.st_name) ? name : NULL;
}

/* Reports nothing when the slot is unknown. */
static int report(struct plt *plt, uint64_t address, uint64_t size, uint64_t slot)
{
	const char *name = slot_name(plt, slot);
	_cleanup_free_ char *stub_name = NULL;

	if (!name)
		return 0;
	if (asprintf(&stub_name, "%.*s@plt", MAX_SYMBOL_NAME_BYTES, name) < 0)
		return -ENOMEM;
	return plt->fn(stub_name, address, size, false, plt->ctx);
}

/* jmp *slot(%rip), with or without a preceding endbr64 and a bnd prefix. */
static bool x86_slot(const uint8_t *code, size_t len, uint64_t address, uint64_t *ret_slot)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t distance;

	if (len >= sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr)))
		at = sizeof(endbr);
	if (at < len && code[at] == 0xf2)
		at++;
	if (len - at < 2 + sizeof(distance) || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof(distance));
	*ret_slot = address + at + 2 + sizeof(distance) + (uint64_t)(int64_t)distance;
	return true;
}

static int each_x86(struct plt *plt, const struct elf_section *code, bool bound_at_once)
{
	size_t stub = X86_STUB_BYTES;
	uint64_t slot;
	int result = 0;

	/* Short stubs have no room for an endbr64, so they begin with their jump. */
	if (bound_at_once && code->len >= X86_SHORT_STUB_BYTES && code->bytes[0] == 0xff)
		stub = X86_SHORT_STUB_BYTES;
	for (size_t at = 0; result == 0 && code->len - at >= stub; at += stub) {
		if (x86_slot(code->bytes + at, stub, code->address + at, &slot))
			result = report(plt, code->address + at, stub, slot);
	}
	return result;
}

static uint32_t instruction(const struct elf_section *code, size_t at)
{
	uint32_t value = 0;

	if (at < code->len && code->len - at >= sizeof(value))
		memcpy(&value, code->bytes + at, sizeof(value));
	return value;
}

/* adrp x16, page; ldr x17, [x16, #offset]. */
static bool arm64_slot(const struct elf_section *code, size_t at, uint64_t *ret_slot)
{
	uint32_t adrp = instruction(code, at), ldr = instruction(code, at + ARM64_INSTRUCTION);

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	uint64_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
	/* A signed number of 21 bits. */
	pages = (pages ^ 0x100000) - 0x100000;
	*ret_slot = ((code->address + at) & ~0xfffULL) + (pages << 12) +
	            (ldr >> 10 & 0xfff) * sizeof(uint64_t);
	return true;
}

static int each_arm64(struct plt *plt, const struct elf_section *code)
{
	enum { STUB = 4 * ARM64_INSTRUCTION, PADDING = ARM64_INSTRUCTION };
	uint64_t slot;
	int result = 0;

	for (size_t at = 0; result == 0 && at < code->len; at += ARM64_INSTRUCTION) {
		if (!arm64_slot(code, at, &slot))
			continue;
		bool marked = at >= ARM64_INSTRUCTION &&
		              instruction(code, at - ARM64_INSTRUCTION) == (uint32_t)ARM64_BTI_C;
		uint64_t start = code->address + at - (marked ? ARM64_INSTRUCTION : 0);
		result =
			report(plt, start, STUB + (marked ? ARM64_INSTRUCTION + PADDING : 0), slot);
	}
	return result;
}

static int each_in_section(struct plt *plt, const char *name)
{
	_cleanup_(section_release) struct elf_section code = {0};
	int err = read_section(plt->elf, name, &code);

	if (err < 0 || !code.len)
		return err;
	return plt->elf->machine == EM_X86_64 ? each_x86(plt, &code, !strcmp(name, ".plt.got"))
	                                      : each_arm64(plt, &code);
}

static int load(struct plt *plt)
{
	int err = read_section(plt->elf, ".dynsym", &plt->symbols);

	if (err == 0)
		err = read_section(plt->elf, ".dynstr", &plt->names);
	if (err == 0 && plt->names.len)
		err = gather(plt, ".rela.plt");
	/* .rela.dyn is by far the longest list in most files, so it is read only if needed. */
	if (err == 0 && plt->names.len && elf_has_section(plt->elf, ".plt.got"))
		err = gather(plt, ".rela.dyn");
	if (err == 0 && plt->count)
		qsort(plt->slots, plt->count, sizeof(*plt->slots), compare);
	return err;
}

int elf_each_stub(const struct elf *elf, elf_symbol_fn *fn, void *ctx)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	_cleanup_(plt_release) struct plt plt = {.elf = elf, .fn = fn, .ctx = ctx};
	uint8_t class;

	if ((elf->machine != EM_X86_64 && elf->machine != EM_AARCH64) ||
	    !elf_read_raw(elf, EI_CLASS, &class, 1) || class != ELFCLASS64)
		return 0;
	int result = load(&plt);
	for (size_t i = 0; result == 0 && plt.count && i < sizeof(sections) / sizeof(*sections);
	     i++)
		result = each_in_section(&plt, sections[i]);
	return result;
}
