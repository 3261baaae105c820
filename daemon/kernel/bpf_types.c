/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types are copied depth first: the types that a type holds by value are copied before its
 * references to them are set. When a program follows a pointer, libbpf looks up the pointed-at type
 * by name. So all pointers in the copy point at void.
 */
#include "kernel/bpf_types.h"

#include "base/cleanup.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

DEFINE_CLEANUP(struct btf *, btf__free)

/* A type's name without "___" and what follows it. That suffix distinguishes variants of a type. */
struct name {
	const char *text;
	size_t length;
};

struct names {
	struct name *all;
	size_t count;
};

struct copy {
	const struct btf *from;
	struct btf *to;
	uint32_t *numbers; /* type ids in `to`, by type id in `from`; 0: not copied yet */
};

static struct name name_of(const struct btf *btf, const struct btf_type *type)
{
	const char *text = btf__name_by_offset(btf, type->name_off) ?: "";
	const char *variant = strstr(text, "___");

	return (struct name){text, variant ? (size_t)(variant - text) : strlen(text)};
}

static int compare(const void *a, const void *b)
{
	const struct name *one = a, *other = b;

	if (one->length != other->length)
		return one->length < other->length ? -1 : 1;
	return memcmp(one->text, other->text, one->length);
}

static bool is_looked_for(const struct btf_type *type)
{
	return type->name_off &&
	       (btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type));
}

static int names_collect(struct names *names, const struct btf *ours)
{
	uint32_t count = btf__type_cnt(ours);

	names->all = calloc(count, sizeof(*names->all));
	if (!names->all)
		return -ENOMEM;
	for (uint32_t i = 1; i < count; i++) {
		const struct btf_type *type = btf__type_by_id(ours, i);

		if (is_looked_for(type))
			names->all[names->count++] = name_of(ours, type);
	}
	qsort(names->all, names->count, sizeof(*names->all), compare);
	return 0;
}

static void names_release(struct names *names)
{
	free(names->all);
}

static bool names_have(const struct names *names, struct name name)
{
	return bsearch(&name, names->all, names->count, sizeof(name), compare) != NULL;
}

static int copy_type(struct copy *copy, uint32_t number);

/* Returns the copy of a type that another type refers to; 0 is void. */
static uint32_t copy_referred(struct copy *copy, uint32_t number, int *err)
{
	if (!*err && number >= btf__type_cnt(copy->from))
		*err = -EINVAL;
	if (!*err && number && !copy->numbers[number])
		*err = copy_type(copy, number);
	return *err ? 0 : copy->numbers[number];
}

/* Copies the types of the members. Each copied type may move the memory of `to`, so the type that
 * was added is looked up again for each member. */
static int copy_members(struct copy *copy, const struct btf_type *type, int added)
{
	int err = 0;

	for (uint16_t i = 0; i < btf_vlen(type) && !err; i++) {
		uint32_t member = copy_referred(copy, btf_members(type)[i].type, &err);

		btf_members(btf__type_by_id(copy->to, (uint32_t)added))[i].type = member;
	}
	return err;
}

static int copy_element(struct copy *copy, const struct btf_type *type, int added)
{
	int err = 0;
	uint32_t element = copy_referred(copy, btf_array(type)->type, &err);
	uint32_t index = copy_referred(copy, btf_array(type)->index_type, &err);
	struct btf_array *array = btf_array(btf__type_by_id(copy->to, (uint32_t)added));

	array->type = element;
	array->index_type = index;
	return err;
}

static int copy_named(struct copy *copy, const struct btf_type *type, int added)
{
	int err = 0;
	uint32_t named = btf_is_ptr(type) ? 0 : copy_referred(copy, type->type, &err);

	((struct btf_type *)(uintptr_t)btf__type_by_id(copy->to, (uint32_t)added))->type = named;
	return err;
}

static int copy_type(struct copy *copy, uint32_t number)
{
	const struct btf_type *type = btf__type_by_id(copy->from, number);
	int added;

	/* No type holds a function by value. */
	if (btf_is_func_proto(type))
		return 0;
	added = btf__add_type(copy->to, copy->from, type);
	if (added < 0)
		return added;
	copy->numbers[number] = (uint32_t)added;
	if (btf_is_composite(type))
		return copy_members(copy, type, added);
	if (btf_is_array(type))
		return copy_element(copy, type, added);
	if (btf_is_mod(type) || btf_is_ptr(type) || btf_is_typedef(type) || btf_is_type_tag(type))
		return copy_named(copy, type, added);
	return 0;
}

static int copy_what_is_named(struct copy *copy, const struct names *names)
{
	uint32_t count = btf__type_cnt(copy->from);
	int err = 0;

	for (uint32_t i = 1; i < count && !err; i++) {
		const struct btf_type *type = btf__type_by_id(copy->from, i);

		if (!copy->numbers[i] && is_looked_for(type) &&
		    names_have(names, name_of(copy->from, type)))
			err = copy_type(copy, i);
	}
	return err;
}

static int write_raw(const struct btf *btf, int fd)
{
	uint32_t bytes = 0;
	const char *raw = btf__raw_data(btf, &bytes);

	if (!raw)
		return -ENOMEM;
	for (ssize_t written; bytes; raw += written, bytes -= (uint32_t)written) {
		written = write(fd, raw, bytes);
		if (written < 0)
			return -errno;
	}
	return 0;
}

int bpf_types_write(const struct btf *ours, const char *kernel_file, int fd)
{
	_cleanup_(btf__freep) struct btf *kernel = btf__parse(kernel_file, NULL);
	_cleanup_(btf__freep) struct btf *small = btf__new_empty();
	_cleanup_(names_release) struct names names = {0};
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	if (!ours || !kernel || !small)
		return ours ? -errno : -EINVAL;
	numbers = calloc(btf__type_cnt(kernel), sizeof(*numbers));
	err = numbers ? names_collect(&names, ours) : -ENOMEM;
	if (!err)
		err = copy_what_is_named(&(struct copy){kernel, small, numbers}, &names);
	return err ?: write_raw(small, fd);
}
