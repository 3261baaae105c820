/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walk over a profile's locations. Each kind of mapping has one function here that ends in
 * builder_line(), so every location has a name afterwards, if only a placeholder. Locations in
 * files are collected first, because all locations of a file are asked about at once.
 */
#include "symbolize/symbolize.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "jit/jit_function.h"
#include "object/reach.h"
#include "symbolize/file_names.h"
#include "symbolize/kernel_names.h"
#include "symbolize/kernels.h"
#include "symbolize/mangled_names.h"
#include "symbolize/native.h"
#include "symbolize/told_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The time for asking about files in one run; the next run asks about the rest. */
#define RUN_NS (60 * NSEC_PER_SEC)
/* The time for checksums of all debug files in one run; later runs complete the rest. */
#define CHECK_NS (250 * NSEC_PER_MSEC)

/* After this time without a profile the names process is ended, and the kernel's names are
 * forgotten. This is checked every 20 seconds. */
#define REST_NS (20 * NSEC_PER_SEC)

struct symbolizer {
	struct file_names files;
	struct jit *jit;
	struct told_files told;
	struct kernel_names kernel;
	uint64_t ran_ns;                   /* end of the last run */
	uint64_t known_files, known_bytes; /* read by other threads */
	/* Of the current run. */
	struct wanted *wanted; /* locations in files */
	size_t wanted_count;
	uint32_t *in_kernel; /* locations in the kernel */
	size_t in_kernel_count;
	bool kernel_noted;
};

struct symbolizer *symbolizer_new(const struct symbolizer_config *config)
{
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->files = (struct file_names){
		.store = config->store,
		.fetch = config->fetch,
		.aside = aside_new(),
		/* The data that is read is much larger than the names found in it. */
		.client = names_client_new(config->program, config->max_bytes / 4 * 3),
		.files = {.max_bytes = config->max_bytes / 16 * 3},
		.max_answer_bytes = config->max_bytes / 2,
		.slow = slow_names_new(config->program, config->max_bytes / 4 * 3,
	                               config->max_bytes / 2),
	};
	symbolizer->jit = config->jit;
	symbolizer->told.max_bytes = config->max_bytes / 16;
	return symbolizer->files.client && symbolizer->files.slow && symbolizer->files.aside
	               ? TAKE_PTR(symbolizer)
	               : NULL;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	slow_names_free(symbolizer->files.slow);
	names_client_free(symbolizer->files.client);
	known_files_release(&symbolizer->files.files);
	told_files_release(&symbolizer->told);
	kernel_names_release(&symbolizer->kernel);
	aside_free(symbolizer->files.aside);
	free(symbolizer);
}

static void note_hidden(struct symbolizer *symbolizer, struct builder *builder)
{
	char comment[256];

	if (symbolizer->kernel_noted)
		return;
	symbolizer->kernel_noted = true;
	snprintf(comment, sizeof(comment), "kernel function names are hidden: /proc/kallsyms: %s%s",
	         strerror(-symbolizer->kernel.error),
	         symbolizer->kernel.error == -EACCES || symbolizer->kernel.error == -EPERM
	                 ? " (see kernel.kptr_restrict; profd needs CAP_SYSLOG)"
	                 : "");
	builder_comment(builder, comment);
}

static void move_to_module(struct builder *builder, uint32_t id, const char *module)
{
	char path[256];

	snprintf(path, sizeof(path), "[%s]", module);
	const struct mapping mapping = {
		.path = builder_text(builder, path),
		.kind = MAPPING_KERNEL,
	};
	builder_move(builder, id, builder_mapping(builder, &mapping),
	             builder_view(builder)->locations[id].address);
}

static int name_in_kernel(struct symbolizer *symbolizer, struct builder *builder, uint32_t id)
{
	uint64_t address = builder_view(builder)->locations[id].address;
	struct symbol symbol;

	if (!symbolizer->kernel.table) {
		if (symbolizer->kernel.error == -ENOMEM)
			return -ENOMEM;
		note_hidden(symbolizer, builder);
		builder_line(builder, id, native_label(builder, "[kernel]"), 0);
		return 0;
	}
	if (!symtab_find(symbolizer->kernel.table, address, &symbol)) {
		builder_line(builder, id, native_place(builder, "kernel", address), 0);
		return 0;
	}
	builder_line(builder, id, native_label(builder, symbol.name), 0);
	if (symbol.module)
		move_to_module(builder, id, symbol.module);
	return 0;
}

static int name_pseudo(struct builder *builder, uint32_t id, const struct mapping *mapping)
{
	/* A string of the profile, so nothing is copied. */
	const struct function function = {
		.name = mapping->path ? mapping->path : builder_text(builder, "[unknown]"),
	};

	builder_line(builder, id, builder_function(builder, &function), 0);
	return 0;
}

/* The GIL has its name already, and no address. */
static int name_lock(struct builder *builder, uint32_t id, const struct mapping *mapping)
{
	uint64_t address = builder_view(builder)->locations[id].address;

	if (!address)
		return name_pseudo(builder, id, mapping);
	builder_line(builder, id, native_lock(builder, NULL, NULL, address), 0);
	return 0;
}

struct naming {
	struct builder *builder;
	uint32_t location;
};

/* From now on the location is where code is that had its name from the beginning: in an exported
 * profile the process of the address is not known any more. */
static void name_place(const struct jit_place *place, void *ctx)
{
	const struct naming *naming = ctx;
	struct builder *builder = naming->builder;

	builder_line(builder, naming->location, jit_function(builder, place), place->line);
	builder_move(builder, naming->location, jit_mapping(builder), jit_address(place));
}

/* Code that had no name when it was sampled. */
static int name_jit(struct symbolizer *symbolizer, struct builder *builder, uint32_t id,
                    const struct mapping *mapping)
{
	uint64_t address = builder_view(builder)->locations[id].address;
	struct naming naming = {builder, id};
	enum jit_found found = JIT_UNKNOWN;

	if (symbolizer->jit && mapping->object)
		found = jit_find_later(symbolizer->jit, mapping->object, (uint32_t)mapping->offset,
		                       address, name_place, &naming);
	if (found == JIT_UNKNOWN)
		return name_pseudo(builder, id, mapping);
	if (found == JIT_REPLACED)
		builder_line(builder, id, native_label(builder, JIT_REPLACED_FRAME), 0);
	return 0;
}

static int name_location(struct symbolizer *symbolizer, struct builder *builder, uint32_t id)
{
	const struct profile *profile = builder_view(builder);
	/* Copies, because adding a name may move the tables. */
	const struct location location = profile->locations[id];
	const struct mapping mapping = profile->mappings[location.mapping];

	if (location.line_count)
		return 0;
	if (!location.mapping)
		return name_pseudo(builder, id, &(struct mapping){0});
	if (mapping.kind == MAPPING_LOCK && !mapping.object)
		return name_lock(builder, id, &mapping);
	switch (mapping.kind) {
	case MAPPING_FILE:
	case MAPPING_LOOP:
	case MAPPING_LOCK:
		symbolizer->wanted[symbolizer->wanted_count++] =
			(struct wanted){location.mapping, id, location.address};
		return 0;
	case MAPPING_KERNEL:
		symbolizer->in_kernel[symbolizer->in_kernel_count++] = id;
		return 0;
	case MAPPING_JIT:
		return name_jit(symbolizer, builder, id, &mapping);
	case MAPPING_PSEUDO:
	case MAPPING_INTERPRETED:
	case MAPPING_KINDS:
		return name_pseudo(builder, id, &mapping);
	}
	return -EINVAL;
}

static int name_files(struct symbolizer *symbolizer, struct builder *builder)
{
	struct wanted *wanted = symbolizer->wanted;
	size_t count = symbolizer->wanted_count, end;

	if (count)
		qsort(wanted, count, sizeof(*wanted), wanted_compare);
	for (size_t start = 0; start < count; start = end) {
		for (end = start + 1; end < count; end++)
			if (wanted[end].mapping != wanted[start].mapping)
				break;
		int err = file_names_add(&symbolizer->files, builder, wanted + start, end - start);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Does both at once: reading the kernel's names takes about as long as the reader process takes for
 * the files of a profile. */
static int name_all(struct symbolizer *symbolizer, struct builder *builder)
{
	int err;

	if (symbolizer->in_kernel_count)
		kernel_names_begin(&symbolizer->kernel);
	err = name_files(symbolizer, builder);
	kernel_names_finish(&symbolizer->kernel);
	for (size_t i = 0; i < symbolizer->in_kernel_count && !err; i++)
		err = name_in_kernel(symbolizer, builder, symbolizer->in_kernel[i]);
	return err;
}

static void note_lost(const struct symbolizer *symbolizer, struct builder *builder)
{
	char comment[128];

	if (symbolizer->files.late) {
		snprintf(comment, sizeof(comment),
		         "names of %" PRIu64 " files are not ready yet: ask again later",
		         symbolizer->files.late);
		builder_comment(builder, comment);
	}
	if (!symbolizer->files.lost)
		return;
	snprintf(comment, sizeof(comment), "names of %" PRIu64 " files could not be read",
	         symbolizer->files.lost);
	builder_comment(builder, comment);
}

static void publish(struct symbolizer *symbolizer)
{
	const struct known_files *files = &symbolizer->files.files;

	__atomic_store_n(&symbolizer->known_files, HASH_COUNT(files->by_object), __ATOMIC_RELAXED);
	__atomic_store_n(&symbolizer->known_bytes, known_files_memory(files), __ATOMIC_RELAXED);
}

int symbolizer_run(struct symbolizer *symbolizer, struct builder *builder)
{
	uint32_t count = builder_view(builder)->location_count;
	_cleanup_free_ struct wanted *wanted = calloc(count, sizeof(*wanted));
	_cleanup_free_ uint32_t *in_kernel = calloc(count, sizeof(*in_kernel));
	int err = wanted && in_kernel ? 0 : -ENOMEM;

	symbolizer->wanted = wanted;
	symbolizer->in_kernel = in_kernel;
	symbolizer->wanted_count = symbolizer->in_kernel_count = 0;
	symbolizer->files.lost = symbolizer->files.late = 0;
	symbolizer->files.until_ns = clock_mono_ns() + RUN_NS;
	symbolizer->files.check_ns = CHECK_NS;
	symbolizer->files.max_profile_bytes =
		builder_memory(builder) + symbolizer->files.max_answer_bytes;
	symbolizer->kernel_noted = false;
	/* Before other locations get names. */
	if (!err)
		err = told_files_note(&symbolizer->told, builder_view(builder));
	for (uint32_t id = 1; id < count && !err; id++)
		err = name_location(symbolizer, builder, id);
	if (!err)
		err = name_all(symbolizer, builder);
	if (!err)
		err = kernels_name(builder);
	if (!err && clock_mono_ns() < symbolizer->files.until_ns)
		err = mangled_names_read(symbolizer->files.client, builder);
	symbolizer->wanted = NULL;
	symbolizer->in_kernel = NULL;
	symbolizer->ran_ns = clock_mono_ns();
	note_lost(symbolizer, builder);
	publish(symbolizer);
	return err;
}

static bool is_root_of(uint32_t pid, const struct root_id *wanted)
{
	const struct root_id root = reach_root_id(pid);

	return root.inode && root.inode == wanted->inode && root.device == wanted->device;
}

/* The process may have ended, and a process in a container may have its pid now. */
static bool find_root(const struct known_file *known, struct source_root *ret_root)
{
	*ret_root = (struct source_root){.pid = known->pid};
	if (!known->pid || is_root_of(known->pid, &known->root))
		return true;
	ret_root->pid = 0;
	return is_root_of(0, &known->root);
}

bool symbolizer_knows_file(struct symbolizer *symbolizer, const char *file, const char *container,
                           struct source_root *ret_root)
{
	static const bool hosts_first[] = {true, false};

	for (size_t i = 0; i < 2; i++) {
		const struct known_file *known =
			known_files_with(&symbolizer->files.files, file, hosts_first[i]);

		if (known && find_root(known, ret_root))
			return true;
		if (told_files_find(&symbolizer->told, file, container, hosts_first[i], ret_root))
			return true;
	}
	return false;
}

struct aside *symbolizer_aside(struct symbolizer *symbolizer)
{
	return symbolizer->files.aside;
}

void symbolizer_cancel(struct symbolizer *symbolizer)
{
	names_client_cancel(symbolizer->files.client);
	slow_names_cancel(symbolizer->files.slow);
}

void symbolizer_rest(struct symbolizer *symbolizer)
{
	names_client_rest(symbolizer->files.client, REST_NS);
	if (clock_mono_ns() - symbolizer->ran_ns >= REST_NS)
		kernel_names_release(&symbolizer->kernel);
}

void symbolizer_get_stats(const struct symbolizer *symbolizer, struct symbolizer_stats *ret_stats)
{
	names_client_get_stats(symbolizer->files.client, &ret_stats->names);
	slow_names_add_stats(symbolizer->files.slow, &ret_stats->names);
	ret_stats->known_files = __atomic_load_n(&symbolizer->known_files, __ATOMIC_RELAXED);
	ret_stats->known_bytes = __atomic_load_n(&symbolizer->known_bytes, __ATOMIC_RELAXED);
}
