/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the links in this process. A reader process would report the same links, and they are
 * checked in the same way.
 */
#include "tests/unit/debug_of.h"

#include "object/debugfile.h"

#include <check.h>

static struct links links_of(const struct object *object)
{
	struct links links;

	links_read(object->elf, &links);
	ck_assert_int_eq(links_check((const uint8_t *)&links, sizeof(links)), 0);
	return links;
}

int debug_of(const struct object *object, struct object **ret_debug)
{
	const struct links links = links_of(object);

	return debugfile_open_some(object, &links, NULL, ret_debug);
}

int supplement_of(const struct object *object)
{
	const struct links links = links_of(object);

	return debugfile_open_supplement(object, &links);
}
