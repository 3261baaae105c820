/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which of a process's files allocate, and in what order calls reach them.
 */
#include "allocators/allocators.h"

#include "allocators/allocators_private.h"

#include <errno.h>
#include <string.h>

/* In the order in which the dynamic linker would most likely find malloc(). */
enum rank { RANK_PROGRAM, RANK_KNOWN, RANK_OTHER, RANK_LIBC, RANK_PREFIXED, RANK_NONE };

static const struct {
	const char *name;
	uint32_t mark;
} telling[] = {
	{"__libc_start_main", MARK_LIBC},
	{"gnu_get_libc_version", MARK_GLIBC},
	{"_int_malloc", MARK_GLIBC},
	{"__tls_get_addr", MARK_LOADER},
	{"mallctl", MARK_JEMALLOC},
	{"je_mallctl", MARK_JEMALLOC},
	{"_rjem_mallctl", MARK_JEMALLOC},
	{"tc_version", MARK_TCMALLOC},
	{"tc_new", MARK_TCMALLOC},
	{"TCMallocInternalMalloc", MARK_TCMALLOC},
	{"MallocExtension_Internal_GetNumericProperty", MARK_TCMALLOC},
	{"mi_version", MARK_MIMALLOC},
	{"mi_malloc", MARK_MIMALLOC},
	{"__cxa_throw", MARK_THROWS},
};

static void add_function(struct found *found, struct function_found function)
{
	const struct heap_call_info *info = heap_call_info(function.call);

	if (!function.prefixed && function.call == HEAP_CALL_MALLOC)
		found->marks |= MARK_MALLOC;
	if (function.prefixed && info->role == HEAP_ALLOCATES)
		found->marks |= MARK_OTHER_MALLOC;
	if (function.prefixed && info->role == HEAP_FREES)
		found->marks |= MARK_OTHER_FREE;
	for (size_t i = 0; i < found->count; i++) {
		if (found->functions[i].address != function.address)
			continue;
		/* One function with several names: if one of them may throw, it gets no return
		 * probe. */
		if (info->throws)
			found->functions[i].call = function.call;
		return;
	}
	if (found->count < MAX_HEAP_SITES)
		found->functions[found->count++] = function;
	else
		found->overflow++;
}

static int look_at_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct found *found = ctx;
	struct function_found function = {.address = address, .size = size};

	for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++) {
		if (!strcmp(name, telling[i].name))
			found->marks |= telling[i].mark;
	}
	/* A local symbol of that name may be any function. */
	if (global && address && heap_call_named(name, &function.call, &function.prefixed)) {
		add_function(found, function);
		if (!function.prefixed && !strcmp(name, "free"))
			found->marks |= MARK_FREE;
	}
	return 0;
}

/* Functions with these names in files other than libc may do anything. */
static void leave_pages_to_libc(struct found *found)
{
	size_t kept = 0;

	if (found->marks & MARK_LIBC)
		return;
	for (size_t i = 0; i < found->count; i++)
		if (!heap_call_is_of_pages(found->functions[i].call))
			found->functions[kept++] = found->functions[i];
	found->count = kept;
}

static int look(const struct elf *elf, struct found **ret_found)
{
	_cleanup_free_ struct found *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	int err = elf_each_symbol(elf, look_at_symbol, found);
	if (err)
		return err;
	leave_pages_to_libc(found);
	*ret_found = TAKE_PTR(found);
	return 0;
}

int heap_survey_read(const struct elf *elf, struct heap_survey *ret_survey)
{
	_cleanup_free_ struct found *found = NULL;
	int err = look(elf, &found);

	if (err)
		return err;
	/* A symbol that was not read may be an allocator. */
	if (!(found->marks & (MARK_MALLOC | MARK_OTHER_MALLOC)) && !elf_symbols_fit(elf))
		return -ENOMEM;
	*ret_survey = (struct heap_survey){found->marks, elf_machine(elf)};
	return 0;
}

static enum heap_allocator_name name_of(uint32_t marks)
{
	if (marks & MARK_JEMALLOC)
		return HEAP_JEMALLOC;
	if (marks & MARK_TCMALLOC)
		return HEAP_TCMALLOC;
	if (marks & MARK_MIMALLOC)
		return HEAP_MIMALLOC;
	if (marks & MARK_GLIBC)
		return HEAP_GLIBC;
	return marks & MARK_LIBC ? HEAP_MUSL : HEAP_OTHER;
}

int heap_allocator_read(const struct elf *elf, struct heap_allocator *ret_allocator)
{
	_cleanup_free_ struct found *found = NULL;
	int err = look(elf, &found);

	if (err)
		return err;
	memset(ret_allocator, 0, sizeof(*ret_allocator));
	ret_allocator->name = name_of(found->marks);
	return heap_sites_find(elf, found, ret_allocator);
}

static enum rank rank_of(uint32_t marks, bool is_program)
{
	/* Up to 2.34 glibc's dynamic linker has and exports a malloc() for itself. */
	if (!is_program && marks & MARK_LOADER && !(marks & MARK_LIBC))
		return RANK_NONE;
	if (!(marks & MARK_MALLOC) || !(marks & MARK_FREE))
		return marks & MARK_OTHER_MALLOC && marks & MARK_OTHER_FREE ? RANK_PREFIXED
		                                                            : RANK_NONE;
	if (is_program)
		return RANK_PROGRAM;
	if (marks & (MARK_JEMALLOC | MARK_TCMALLOC | MARK_MIMALLOC))
		return RANK_KNOWN;
	return marks & MARK_LIBC ? RANK_LIBC : RANK_OTHER;
}

/* Files of equal rank stay in the order of their mappings. */
bool heap_ranking_add(struct heap_ranking *ranking, size_t file, const struct heap_survey *survey,
                      bool is_program)
{
	enum rank rank = rank_of(survey->marks, is_program);
	struct heap_ranked *best = ranking->best;
	size_t at = ranking->count;

	while (at && best[at - 1].rank > rank)
		at--;
	if (rank == RANK_NONE || at == MAX_ALLOCATORS)
		return false;
	if (ranking->count < MAX_ALLOCATORS)
		ranking->count++;
	memmove(best + at + 1, best + at, (ranking->count - at - 1) * sizeof(*best));
	best[at] = (struct heap_ranked){file, rank};
	return true;
}

const char *heap_allocator_text(enum heap_allocator_name name)
{
	static const char *const texts[] = {
#define ALLOCATOR(name, text) [HEAP_##name] = text,
		HEAP_ALLOCATORS(ALLOCATOR)
#undef ALLOCATOR
	};

	return texts[name];
}
