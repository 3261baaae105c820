/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as notes of static probes, alone and in a file, and as their arguments. An accepted
 * argument names registers that exist.
 */
#include "allocators/usdt.h"
#include "allocators/usdt_args.h"
#include "tests/fuzz/wrapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_args(uint16_t machine, const char *text, unsigned int registers)
{
	struct usdt_arg args[MAX_USDT_ARGS];
	int count = usdt_args_parse(machine, text, args);

	if (count > MAX_USDT_ARGS)
		abort();
	for (int i = 0; i < count; i++) {
		const struct usdt_arg *arg = &args[i];
		bool has_base = arg->base != USDT_NO_REGISTER;

		if ((has_base && arg->base >= registers) ||
		    (arg->index != USDT_NO_REGISTER && arg->index >= registers) ||
		    (arg->place == USDT_REGISTER && !has_base) || !arg->scale || arg->scale > 16 ||
		    !arg->bytes || arg->bytes > 8 || arg->shift > 8)
			abort();
	}
}

static int look_at_note(const struct usdt_note *note, void *ctx)
{
	(void)ctx;
	if (strlen(note->provider) + strlen(note->name) > 1 << 20)
		abort();
	check_args(EM_X86_64, note->arguments, 16);
	check_args(EM_AARCH64, note->arguments, 32);
	return 0;
}

static int look_at_probe(const struct usdt_probe *probe, void *ctx)
{
	if (probe->offset >= *(size_t *)ctx || probe->semaphore_offset >= *(size_t *)ctx)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ struct wrapped *file = NULL;
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct elf *elf;
	size_t len;

	usdt_notes(data, size, 8, look_at_note, NULL);
	usdt_notes(data, size, 4, look_at_note, NULL);
	if (text) {
		check_args(EM_X86_64, text, 16);
		check_args(EM_AARCH64, text, 32);
	}
	file = wrapped_new(".note.stapsdt", data, size, &len);
	if (file && elf_open_bytes(file, len, &elf) == 0) {
		usdt_each(elf, look_at_probe, &len);
		elf_free(elf);
	}
	return 0;
}
