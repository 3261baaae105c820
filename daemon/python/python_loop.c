/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The loop is the function _PyEval_EvalFrameDefault, which is always exported. Its rarely executed
 * code may be elsewhere, with a separate symbol that a stripped file has lost. In that case a part
 * is recognized as code that the loop jumps to and that jumps back to somewhere inside the loop; a
 * function that the loop ends with (a tail call) does not jump back.
 */
#include "python/python_loop.h"

#include "base/cleanup.h"
#include "cfi/function_bounds.h"
#include "python/python_jumps.h"

#include <errno.h>
#include <string.h>

#define LOOP "_PyEval_EvalFrameDefault"

enum {
	MAX_TARGETS = 4096, /* jumps that leave the loop; there are a few hundred */
	MAX_PARTS = 32,     /* candidates that are examined */
};

struct part {
	struct bounds bounds;
	size_t jumps; /* number of jumps into it */
};

struct parts {
	struct bounds loop;
	struct part found[MAX_PARTS];
	size_t count;
};

static void add_part(struct parts *parts, const struct bounds *bounds)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->found[i].bounds.start == bounds->start) {
			parts->found[i].jumps++;
			return;
		}
	}
	if (parts->count < MAX_PARTS)
		parts->found[parts->count++] = (struct part){*bounds, 1};
}

static int note_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct parts *parts = ctx;
	struct bounds bounds = {address, address + size};

	(void)global;
	if (strncmp(name, LOOP, strlen(LOOP)) != 0 || bounds.end <= bounds.start)
		return 0;
	if (!name[strlen(LOOP)])
		parts->loop = bounds;
	else if (strstr(name + strlen(LOOP), ".cold"))
		add_part(parts, &bounds);
	return 0;
}

struct targets {
	const struct bounds *loop;
	uint64_t *addresses;
	size_t count;
};

static bool is_inside(const struct bounds *bounds, uint64_t address)
{
	return address >= bounds->start && address < bounds->end;
}

static int note_target(uint64_t target, void *ctx)
{
	struct targets *targets = ctx;

	if (!is_inside(targets->loop, target))
		targets->addresses[targets->count++] = target;
	return targets->count == MAX_TARGETS;
}

/* Whether the jump goes back into the loop. The loop's first instruction is the target of calls and
 * does not count. */
static int leads_back(uint64_t target, void *ctx)
{
	const struct bounds *loop = ctx;

	return is_inside(loop, target) && target != loop->start;
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int by_jumps(const void *a, const void *b)
{
	const struct part *left = a, *right = b;

	return (left->jumps < right->jumps) - (left->jumps > right->jumps);
}

/* Finds the functions, or parts of functions, that the loop jumps to. */
static int find_targets(const struct elf *elf, struct parts *parts)
{
	_cleanup_free_ uint64_t *addresses = calloc(MAX_TARGETS, sizeof(*addresses));
	_cleanup_free_ struct bounds *bounds = calloc(MAX_TARGETS, sizeof(*bounds));
	struct targets targets = {&parts->loop, addresses, 0};

	if (!addresses || !bounds)
		return -ENOMEM;
	int err = python_jumps(elf, parts->loop.start, parts->loop.end, note_target, &targets);
	if (err < 0)
		return err;
	qsort(addresses, targets.count, sizeof(*addresses), by_address);
	err = function_bounds(elf, addresses, targets.count, bounds);
	if (err)
		return err;
	for (size_t i = 0; i < targets.count; i++) {
		if (bounds[i].end && !is_inside(&parts->loop, bounds[i].start))
			add_part(parts, &bounds[i]);
	}
	return 0;
}

/* Keeps the parts that jump back. */
static int find_split(const struct elf *elf, struct parts *parts)
{
	int err = find_targets(elf, parts);
	size_t kept = 0;

	if (err)
		return err;
	for (size_t i = 0; i < parts->count; i++) {
		const struct bounds *bounds = &parts->found[i].bounds;
		int back = python_jumps(elf, bounds->start, bounds->end, leads_back, &parts->loop);

		if (back == -ENOMEM)
			return back;
		if (back > 0)
			parts->found[kept++] = parts->found[i];
	}
	parts->count = kept;
	return 0;
}

int python_loop_find(const struct elf *elf, uint64_t ret_parts[PYTHON_LOOPS][2])
{
	struct parts parts = {0};
	int err = elf_each_symbol(elf, note_symbol, &parts);

	if (err)
		return err == -ENOMEM ? err : -EBADMSG;
	if (!parts.loop.end)
		return -EBADMSG;
	if (!parts.count)
		err = find_split(elf, &parts);
	if (err)
		return err;
	qsort(parts.found, parts.count, sizeof(*parts.found), by_jumps);
	memset(ret_parts, 0, PYTHON_LOOPS * sizeof(*ret_parts));
	ret_parts[0][0] = parts.loop.start;
	ret_parts[0][1] = parts.loop.end;
	for (size_t i = 0; i < parts.count && i + 1 < PYTHON_LOOPS; i++) {
		ret_parts[i + 1][0] = parts.found[i].bounds.start;
		ret_parts[i + 1][1] = parts.found[i].bounds.end;
	}
	return 0;
}
