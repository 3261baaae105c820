/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A walk meets the DIEs of a well-formed unit at ascending positions. In a malformed unit the walk
 * could run in a loop, or reach the same DIEs through each of many parents; so a DIE at a position
 * that does not ascend is skipped.
 */
#include "names/dwarf_die.h"

#include <dwarf.h>

void die_walk(Dwarf_Die *root, die_fn *fn, void *ctx)
{
	Dwarf_Die path[MAX_DIE_DEPTH];
	const void *last = root->addr;
	size_t depth = 0;

	if (dwarf_child(root, &path[0]) != 0)
		return;
	for (;;) {
		last = path[depth].addr;
		enum die_step step = fn(&path[depth], depth, ctx);
		if (step == DIE_STOP)
			return;
		if (step == DIE_CHILDREN && depth + 1 < MAX_DIE_DEPTH &&
		    dwarf_child(&path[depth], &path[depth + 1]) == 0 &&
		    path[depth + 1].addr > last) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]) != 0 ||
		       path[depth].addr <= last) {
			if (!depth--)
				return;
		}
	}
}

void die_ranges(Dwarf_Die *die, die_range_fn *fn, void *ctx)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start < end && !fn(start, end, ctx))
			return;
	}
}

struct function_ranges {
	die_range_fn *fn;
	void *ctx;
};

static enum die_step add_function(Dwarf_Die *die, size_t depth, void *ctx)
{
	const struct function_ranges *to = ctx;

	(void)depth;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		die_ranges(die, to->fn, to->ctx);
		return DIE_NEXT;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return DIE_CHILDREN;
	default:
		return DIE_NEXT;
	}
}

void die_function_ranges(Dwarf_Die *unit, die_range_fn *fn, void *ctx)
{
	die_walk(unit, add_function, &(struct function_ranges){fn, ctx});
}

const char *die_function_name(Dwarf_Die *die)
{
	/* Compilers wrote the second one before DWARF 4. */
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
	                                     DW_AT_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
		if (name && *name)
			return name;
	}
	return NULL;
}

uint32_t die_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) != 0 ||
	    number > UINT32_MAX)
		return 0;
	return (uint32_t)number;
}

const char *die_file(Dwarf_Die *die, unsigned int name, Dwarf_Files *files)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (!files || dwarf_formudata(dwarf_attr(die, name, &attribute), &number) != 0)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}
