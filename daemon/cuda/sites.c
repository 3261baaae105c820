/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the symbols, then one place for each address, then the first cheap instruction there.
 */
#include "cuda/sites.h"

#include "code/decode.h"
#include "code/slide.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CODE_BYTES = 64 << 10,     /* of a function that is searched for jumps */
	MAX_NAMES = 4 * MAX_GPU_SITES, /* symbols that are calls; each is in two tables */
};

/* Symbols that identify a library. */
enum {
	MARK_ALLOC = 1 << 0,
	MARK_LAUNCH = 1 << 1,
	MARK_MALLOC = 1 << 2,
	MARK_MEMCPY = 1 << 3,
	MARKS_DRIVER = MARK_ALLOC | MARK_LAUNCH,
	MARKS_RUNTIME = MARK_MALLOC | MARK_MEMCPY,
};

struct named {
	uint64_t address, size;
	uint8_t call;
};

struct survey {
	uint32_t libraries; /* that are looked for */
	uint32_t marks;
	uint32_t frameworks; /* frameworks whose functions were found */
	size_t count;
	struct named names[MAX_NAMES];
};

static uint32_t mark_of(const char *name, bool global)
{
	if (!strcmp(name, "cuMemAlloc_v2"))
		return global ? MARK_ALLOC : 0;
	if (!strcmp(name, "cuLaunchKernel"))
		return global ? MARK_LAUNCH : 0;
	if (!strcmp(name, "cudaMalloc"))
		return MARK_MALLOC;
	return strcmp(name, "cudaMemcpyAsync") ? 0 : MARK_MEMCPY;
}

static int look_at(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct survey *survey = ctx;
	enum gpu_library library;
	uint8_t call = gpu_call_of(name, survey->libraries, &library);

	/* Only exported functions are the driver's interface. */
	if (!call || (library == GPU_LIBRARY_DRIVER && !global))
		return 0;
	if (survey->count == MAX_NAMES)
		return -E2BIG;
	survey->marks |= mark_of(name, global);
	survey->frameworks |= library & GPU_LIBRARIES_TENSOR;
	survey->names[survey->count++] = (struct named){address, size, call};
	return 0;
}

static uint32_t found(const struct survey *survey)
{
	uint32_t libraries = survey->frameworks;

	if ((survey->marks & MARKS_DRIVER) == MARKS_DRIVER)
		libraries |= GPU_LIBRARY_DRIVER;
	if ((survey->marks & MARKS_RUNTIME) == MARKS_RUNTIME)
		libraries |= GPU_LIBRARY_RUNTIME;
	return libraries;
}

static int by_address(const void *a, const void *b)
{
	const struct named *left = a, *right = b;
	int order = (left->address > right->address) - (left->address < right->address);

	return order ? order : (int)left->call - (int)right->call;
}

static bool is_one(const struct survey *survey, uint64_t address)
{
	const struct named key = {.address = address};
	size_t first = 0, last = survey->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (survey->names[middle].address < key.address)
			first = middle + 1;
		else
			last = middle;
	}
	return first < survey->count && survey->names[first].address == address;
}

/* Whether a function is only a jump to another one, which finds all arguments unchanged. */
static bool is_alias(const struct elf *elf, const struct survey *survey, const struct named *named)
{
	uint8_t code[16];
	struct decoded_insn insn;

	return elf_machine(elf) == EM_X86_64 && named->size >= 2 &&
	       elf_read_address(elf, named->address, code, sizeof(code)) == 0 &&
	       decode_insn(code, sizeof(code), named->address, &insn) &&
	       insn.kind == DECODED_JUMP && insn.has_target && insn.target != named->address &&
	       is_one(survey, insn.target);
}

/* Finds where the probe goes. Where the code is not understood, that is the first byte. */
static int slide_site(const struct elf *elf, const struct named *named, struct gpu_site *site)
{
	size_t len = named->size < MAX_CODE_BYTES ? named->size : MAX_CODE_BYTES;
	bool returns = gpu_call_cookie(named->call).flags & GPU_SITE_RETURNS;
	_cleanup_free_ uint8_t *code = malloc(len ? len : 1);
	struct slide slide = {0};

	if (!code)
		return -ENOMEM;
	if (elf_read_address(elf, named->address, code, len) == 0)
		slide_find(elf_machine(elf), code, len, gpu_call_arguments(named->call), returns,
		           &slide);
	if (slide.pushed > MAX_GPU_PUSHED)
		slide = (struct slide){0};
	site->offset += slide.offset;
	site->pushed = (uint8_t)slide.pushed;
	site->emulated = slide.emulated;
	return 0;
}

/* Two probes in one place would count one call twice. */
static bool has_place(const struct gpu_site *sites, size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++) {
		if (sites[i].offset == offset)
			return true;
	}
	return false;
}

static int add_sites(const struct elf *elf, const struct survey *survey, struct gpu_file *file)
{
	for (size_t i = 0; i < survey->count; i++) {
		const struct named *named = &survey->names[i];
		struct gpu_site site = {.call = named->call};

		if (!(gpu_call_library(named->call) & file->libraries) ||
		    (i && named->address == named[-1].address) || is_alias(elf, survey, named) ||
		    !elf_offset(elf, named->address, &site.offset))
			continue;
		if (file->count == MAX_GPU_SITES)
			return -E2BIG;
		int err = slide_site(elf, named, &site);
		if (err)
			return err;
		if (!has_place(file->sites, file->count, site.offset))
			file->sites[file->count++] = site;
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct gpu_site *left = a, *right = b;
	int order = (int)gpu_call_order(left->call) - (int)gpu_call_order(right->call);

	return order ? order : (left->offset > right->offset) - (left->offset < right->offset);
}

int gpu_sites_find(const struct elf *elf, uint32_t libraries, struct gpu_file *ret_file)
{
	_cleanup_free_ struct survey *survey = calloc(1, sizeof(*survey));

	memset(ret_file, 0, sizeof(*ret_file));
	if (!survey)
		return -ENOMEM;
	survey->libraries = libraries;
	int err = elf_each_symbol(elf, look_at, survey);
	if (err)
		return err == -ENOEXEC ? -ENOENT : err;
	ret_file->libraries = found(survey);
	qsort(survey->names, survey->count, sizeof(*survey->names), by_address);
	err = add_sites(elf, survey, ret_file);
	if (err)
		return err;
	qsort(ret_file->sites, ret_file->count, sizeof(*ret_file->sites), by_order);
	return ret_file->count ? 0 : -ENOENT;
}

static bool is_site(const struct gpu_site *site, uint32_t libraries)
{
	bool returns = gpu_call_cookie(site->call).flags & GPU_SITE_RETURNS;

	return gpu_call_library(site->call) & libraries && site->offset > 0 &&
	       site->offset <= INT64_MAX && site->pushed <= MAX_GPU_PUSHED &&
	       site->pushed % sizeof(uint64_t) == 0 && !(returns && site->pushed) &&
	       site->emulated <= 1;
}

int gpu_sites_check(const uint8_t *bytes, size_t len, uint32_t libraries)
{
	_cleanup_free_ struct gpu_file *file = NULL;

	if (len != sizeof(*file))
		return -EBADMSG;
	file = malloc(sizeof(*file));
	if (!file)
		return -EBADMSG;
	memcpy(file, bytes, sizeof(*file));
	if (!file->count || file->count > MAX_GPU_SITES || !file->libraries ||
	    file->libraries & ~libraries)
		return -EBADMSG;
	for (size_t i = 0; i < file->count; i++) {
		const struct gpu_site *site = &file->sites[i];

		if (!is_site(site, file->libraries) || has_place(file->sites, i, site->offset) ||
		    (i && gpu_call_order(site->call) < gpu_call_order(site[-1].call)))
			return -EBADMSG;
	}
	return 0;
}

union gpu_site_cookie gpu_site_cookie(const struct gpu_site *site)
{
	union gpu_site_cookie cookie = gpu_call_cookie(site->call);

	cookie.pushed = site->pushed;
	return cookie;
}

uint32_t gpu_libraries_named(const char *path)
{
	static const struct {
		const char *begin;
		uint32_t libraries;
	} names[] = {
		{"libcuda.so", GPU_LIBRARY_DRIVER},
		{"libcudart", GPU_LIBRARY_RUNTIME},
		{"libc10.so", GPU_LIBRARY_TORCH},
		/* It contains a runtime of its own. */
		{"xla_cuda_plugin.so", GPU_LIBRARY_XLA | GPU_LIBRARY_RUNTIME},
	};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(base, names[i].begin, strlen(names[i].begin)))
			return names[i].libraries;
	}
	return 0;
}
