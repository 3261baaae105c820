/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which of a process's files allocate, and in what order calls reach them.
 */
#include "heap/allocators.h"

#include "heap/allocators_private.h"

#include <errno.h>
#include <string.h>

/* In the order in which the dynamic linker would most likely find malloc(). */
enum rank { RANK_PROGRAM, RANK_KNOWN, RANK_OTHER, RANK_LIBC, RANK_PREFIXED, RANK_NONE };

static const struct {
	const char *name;
	uint32_t mark;
} marks[] = {
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

static void add_function(struct survey *survey, struct function_found found)
{
	const struct heap_call_info *info = heap_call_info(found.call);

	if (!found.prefixed && found.call == HEAP_CALL_MALLOC)
		survey->has_malloc = true;
	if (found.prefixed && info->role == HEAP_ALLOCATES)
		survey->allocates = true;
	if (found.prefixed && info->role == HEAP_FREES)
		survey->frees = true;
	for (size_t i = 0; i < survey->count; i++) {
		if (survey->functions[i].address != found.address)
			continue;
		/* Several names of one function: the least that may be done with it. */
		if (info->throws)
			survey->functions[i].call = found.call;
		return;
	}
	if (survey->count < MAX_HEAP_SITES)
		survey->functions[survey->count++] = found;
	else
		survey->overflow++;
}

static int look_at_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct survey *survey = ctx;
	struct function_found found = {.address = address, .size = size};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (!strcmp(name, marks[i].name))
			survey->marks |= marks[i].mark;
	}
	/* What only its own file can call by that name may be anything. */
	if (global && address && heap_call_named(name, &found.call, &found.prefixed)) {
		add_function(survey, found);
		if (!found.prefixed && !strcmp(name, "free"))
			survey->has_free = true;
	}
	return 0;
}

static enum heap_allocator_name name_of(const struct survey *survey)
{
	if (survey->marks & MARK_JEMALLOC)
		return HEAP_JEMALLOC;
	if (survey->marks & MARK_TCMALLOC)
		return HEAP_TCMALLOC;
	if (survey->marks & MARK_MIMALLOC)
		return HEAP_MIMALLOC;
	if (survey->marks & MARK_GLIBC)
		return HEAP_GLIBC;
	return survey->marks & MARK_LIBC ? HEAP_MUSL : HEAP_OTHER;
}

static enum rank rank_of(const struct survey *survey, bool is_program)
{
	/* Up to 2.34 glibc's dynamic linker has a malloc() for itself, in sight of everybody. */
	if (!is_program && survey->marks & MARK_LOADER && !(survey->marks & MARK_LIBC))
		return RANK_NONE;
	if (!survey->has_malloc || !survey->has_free)
		return survey->allocates && survey->frees ? RANK_PREFIXED : RANK_NONE;
	if (is_program)
		return RANK_PROGRAM;
	if (survey->marks & (MARK_JEMALLOC | MARK_TCMALLOC | MARK_MIMALLOC))
		return RANK_KNOWN;
	return survey->marks & MARK_LIBC ? RANK_LIBC : RANK_OTHER;
}

struct ranked {
	size_t file;
	enum rank rank;
};

/* Keeps the best in their order; files of equal rank stay in that of their mappings. */
static void insert(struct ranked best[MAX_ALLOCATORS], size_t *count, struct ranked ranked)
{
	size_t at = *count;

	while (at && best[at - 1].rank > ranked.rank)
		at--;
	if (at == MAX_ALLOCATORS)
		return;
	if (*count < MAX_ALLOCATORS)
		++*count;
	memmove(best + at + 1, best + at, (*count - at - 1) * sizeof(*best));
	best[at] = ranked;
}

static int take_survey(const struct elf *elf, struct survey *survey)
{
	memset(survey, 0, sizeof(*survey));
	int err = elf_each_symbol(elf, look_at_symbol, survey);

	/* A file that is none any more has no allocator. */
	return err == -ENOMEM ? err : 0;
}

int heap_allocators(const struct heap_file *files, size_t count,
                    struct heap_allocator **ret_allocators)
{
	_cleanup_free_ struct survey *survey = malloc(sizeof(*survey));
	struct ranked best[MAX_ALLOCATORS];
	size_t best_count = 0;

	*ret_allocators = NULL;
	if (!survey)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int err = take_survey(files[i].elf, survey);
		if (err < 0)
			return err;
		enum rank rank = rank_of(survey, files[i].is_program);
		if (rank != RANK_NONE)
			insert(best, &best_count, (struct ranked){i, rank});
	}
	if (!best_count)
		return 0;
	_cleanup_free_ struct heap_allocator *allocators = calloc(best_count, sizeof(*allocators));
	if (!allocators)
		return -ENOMEM;
	for (size_t i = 0; i < best_count; i++) {
		const struct elf *elf = files[best[i].file].elf;
		int err = take_survey(elf, survey);

		allocators[i].file = best[i].file;
		allocators[i].name = name_of(survey);
		if (!err)
			err = heap_sites_find(elf, survey, &allocators[i]);
		if (err < 0)
			return err;
	}
	*ret_allocators = TAKE_PTR(allocators);
	return (int)best_count;
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
