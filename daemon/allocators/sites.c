/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From an allocator's functions to the places in the file where they are probed.
 */
#include "allocators/allocators_private.h"
#include "allocators/returns.h"
#include "code/decode.h"
#include "code/slide.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	MAX_CODE_BYTES = 64 << 10, /* of a function that is searched for jumps */
	MAX_LOOKUPS = 32, /* of a file's call frame information; allocators need up to 10 */
	MAP_ARGUMENTS = 4,
};

struct sites {
	const struct elf *elf;
	const struct found *found;
	struct stubs stubs;
	size_t lookups; /* that are left */
};

static void sites_release(struct sites *sites)
{
	stubs_release(&sites->stubs);
}

/* Whether an address is a function that was found, or a stub for one of its kind. */
static bool leads_on(const struct sites *sites, uint64_t address)
{
	const struct stub *stub = stubs_find(&sites->stubs, address);
	enum heap_call call;
	bool prefixed;

	for (size_t i = 0; i < sites->found->count; i++) {
		if (sites->found->functions[i].address == address)
			return true;
	}
	return stub && heap_call_named(stub->name, &call, &prefixed);
}

static bool is_operator(enum heap_call call)
{
	return call == HEAP_CALL_NEW || call == HEAP_CALL_NEW_NOTHROW || call == HEAP_CALL_DELETE;
}

/* Whether a function calls one that is probed. The C++ library's operators call malloc() and
 * free(), which are probed; those of an allocator do the work themselves. */
static bool calls_another(const struct sites *sites, const struct returns *returns)
{
	for (size_t i = 0; i < returns->call_count; i++) {
		if (leads_on(sites, returns->calls[i]))
			return true;
	}
	return false;
}

/* A function that is only a jump to another one need not be probed: the other one finds all
 * arguments, and the return address, unchanged. */
static bool is_alias(const struct sites *sites, const struct function_found *found)
{
	uint8_t code[16];
	struct decoded_insn insn;

	if (elf_machine(sites->elf) != EM_X86_64 ||
	    elf_read_address(sites->elf, found->address, code, sizeof(code)) < 0 ||
	    !decode_insn(code, sizeof(code), found->address, &insn) || insn.kind != DECODED_JUMP ||
	    !insn.has_target || insn.target == found->address)
		return false;
	return leads_on(sites, insn.target);
}

static uint32_t arguments_of(const struct heap_call_info *info)
{
	/* Protection and flags, too. */
	uint32_t count = info->role == HEAP_MAPS ? MAP_ARGUMENTS : 0;
	const uint8_t arguments[] = {info->size, info->times, info->pointer};

	for (size_t i = 0; i < sizeof(arguments); i++) {
		if (arguments[i] != HEAP_NONE && arguments[i] >= count)
			count = arguments[i] + 1U;
	}
	return count;
}

/* Finds where the probe goes. Where the code is not understood, that is the first byte. */
static int slide_site(const struct elf *elf, const struct function_found *found,
                      struct heap_site *site)
{
	const struct heap_call_info *info = heap_call_info(found->call);
	size_t len = found->size < MAX_CODE_BYTES ? found->size : MAX_CODE_BYTES;
	_cleanup_free_ uint8_t *code = malloc(len ? len : 1);
	struct slide slide = {0};

	if (!code)
		return -ENOMEM;
	if (elf_read_address(elf, found->address, code, len) == 0)
		slide_find(elf_machine(elf), code, len, arguments_of(info),
		           !info->throws && info->role != HEAP_FREES, &slide);
	if (slide.pushed > UINT8_MAX)
		slide = (struct slide){0};
	site->entry = site->function + slide.offset;
	site->pushed = (uint8_t)slide.pushed;
	site->emulated = slide.emulated;
	return 0;
}

/* Converts a function's returns to file offsets. */
static bool take_returns(const struct elf *elf, const struct returns *returns,
                         struct heap_site *site)
{
	for (size_t i = 0; i < returns->count; i++) {
		if (!elf_offset(elf, returns->at[i], &site->returns[i]))
			return false;
	}
	site->return_count = (uint32_t)returns->count;
	site->all_returns = returns->complete;
	return returns->count > 0;
}

/* 1: the function is a site; 0: it is left out. *ret_unprobed: it should have been probed. */
static int make_site(struct sites *sites, const struct function_found *found,
                     struct heap_site *site, bool *ret_unprobed)
{
	uint64_t at[MAX_HEAP_RETURNS];
	struct returns returns = {.at = at, .max = MAX_HEAP_RETURNS, .lookups = sites->lookups};
	bool throws = heap_call_info(found->call)->throws;
	bool may_call = is_operator(found->call) && sites->found->marks & MARK_THROWS;
	int err = throws || may_call ? returns_find(sites->elf, &sites->stubs, found->address,
	                                            found->size, &returns)
	                             : 0;

	sites->lookups = returns.lookups;
	*ret_unprobed = false;
	if (err == -ENOMEM)
		return err;
	if (is_alias(sites, found))
		return 0;
	if (may_call && calls_another(sites, &returns))
		return 0;
	*ret_unprobed = true;
	*site = (struct heap_site){.call = (uint8_t)found->call};
	if ((throws && err < 0) || !elf_offset(sites->elf, found->address, &site->function) ||
	    (throws && !take_returns(sites->elf, &returns, site)))
		return 0;
	err = slide_site(sites->elf, found, site);
	return err < 0 ? err : 1;
}

int heap_sites_find(const struct elf *elf, const struct found *found,
                    struct heap_allocator *allocator)
{
	_cleanup_(sites_release) struct sites sites = {
		.elf = elf, .found = found, .lookups = MAX_LOOKUPS};
	bool unprobed;

	int err = stubs_read(elf, &sites.stubs);
	if (err < 0)
		return err;
	allocator->unprobed = found->overflow;
	for (size_t i = 0; i < found->count; i++) {
		struct heap_site *site = &allocator->sites[allocator->site_count];
		int result = make_site(&sites, &found->functions[i], site, &unprobed);

		if (result < 0)
			return result;
		if (result)
			allocator->site_count++;
		else
			allocator->unprobed += unprobed;
	}
	return 0;
}
