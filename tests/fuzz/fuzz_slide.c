/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a function: the place of a probe stays inside the function and within the bound, and
 * the places where the function returns are inside the code.
 */
#include "allocators/returns.h"
#include "code/slide.h"
#include "tests/fuzz/wrapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOP_BYTES = 5 };

static void check_slide(const uint8_t *data, size_t size, uint32_t arguments, bool returns)
{
	struct slide slide;
	int result = slide_find(EM_X86_64, data, size, arguments, returns, &slide);

	/* A probe on an instruction that is not emulated may at most move behind a nop at the
	 * start. */
	if (slide.offset > MAX_SLIDE_BYTES || (slide.offset && slide.offset >= size) ||
	    (returns && slide.pushed) ||
	    ((result || !slide.emulated) && slide.offset && slide.offset != NOP_BYTES))
		abort();
}

static void check_returns(const struct elf *elf, uint64_t start, size_t size)
{
	const struct stubs stubs = {0};
	uint64_t at[16];
	struct returns returns = {.at = at, .max = 16, .lookups = 4};

	if (returns_find(elf, &stubs, start, size, &returns))
		return;
	if (!returns.count || returns.count > 16 || returns.call_count > MAX_RETURN_CALLS)
		abort();
	for (size_t i = 0; i < returns.count; i++) {
		if (at[i] < start || at[i] >= start + size || (i && at[i] <= at[i - 1]))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ struct wrapped *file = NULL;
	struct elf *elf;
	size_t len;

	for (uint32_t arguments = 0; arguments < 4; arguments++) {
		check_slide(data, size, arguments, false);
		check_slide(data, size, arguments, true);
	}
	file = wrapped_new(".text", data, size, &len);
	if (file && size && elf_open_bytes(file, len, &elf) == 0) {
		check_returns(elf, WRAPPED_SECTION, size);
		elf_free(elf);
	}
	return 0;
}
