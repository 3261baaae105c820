/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the notes of a file, and their arguments, to what the kernel half needs.
 */
#include "probes/usdt_file.h"

#include "allocators/usdt.h"
#include "allocators/usdt_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *provider, *name;
	int arguments;
} probes[] = {
#define PROBE(probe, provider, name, arguments) [STATIC_##probe] = {provider, name, arguments},
	STATIC_PROBES(PROBE)
#undef PROBE
};

static struct static_arg as_told(const struct usdt_arg *arg)
{
	static const uint8_t places[] = {
		[USDT_CONSTANT] = STATIC_CONSTANT,
		[USDT_REGISTER] = STATIC_REGISTER,
		[USDT_MEMORY] = STATIC_MEMORY,
	};

	return (struct static_arg){
		.place = places[arg->place],
		.bytes = arg->bytes,
		.is_signed = arg->is_signed,
		.base = arg->base,
		.index = arg->index,
		.scale = arg->scale,
		.shift = arg->shift,
		.value = (uint64_t)arg->value,
	};
}

bool usdt_file_has(const struct usdt_file *file, enum static_probe probe)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->sites[i].probe == probe)
			return true;
	return false;
}

struct found_probes {
	uint16_t machine;
	struct usdt_file *file; /* NULL until there is a probe */
};

static enum static_probe find_probe(const struct usdt_probe *probe)
{
	int at = 0;

	while (at < STATIC_PROBE_COUNT && (strcmp(probe->provider, probes[at].provider) != 0 ||
	                                   strcmp(probe->name, probes[at].name) != 0))
		at++;
	return at;
}

/* A probe whose arguments are not understood is left out. */
static int add_probe(const struct usdt_probe *probe, void *ctx)
{
	enum static_probe which = find_probe(probe);
	struct found_probes *found = ctx;
	struct usdt_arg args[MAX_USDT_ARGS];
	struct usdt_site *place;

	if (which == STATIC_PROBE_COUNT)
		return 0;
	if (usdt_args_parse(found->machine, probe->arguments, args) < probes[which].arguments)
		return 0;
	if (!found->file)
		found->file = calloc(1, sizeof(*found->file));
	if (!found->file)
		return -ENOMEM;
	if (found->file->count == MAX_USDT_SITES)
		return -E2BIG;
	place = &found->file->sites[found->file->count++];
	place->offset = probe->offset;
	place->semaphore = probe->semaphore_offset;
	place->probe = (uint8_t)which;
	for (int i = 0; i < probes[which].arguments; i++)
		place->site.args[i] = as_told(&args[i]);
	return 0;
}

struct usdt_file *usdt_file_read(const struct elf *elf)
{
	struct found_probes found = {.machine = elf_machine(elf)};

	usdt_each(elf, add_probe, &found);
	return found.file;
}
