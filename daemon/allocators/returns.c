/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Follows every straight run and every jump, from piece of code to piece of code. A piece is what
 * one entry of the call frame information covers. A run leaves its piece only by a jump. So code
 * behind a call that never returns is not taken for part of the function.
 */
#include "allocators/returns.h"

#include "cfi/function_bounds.h"
#include "code/decode.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	MAX_PIECE_BYTES = 64 << 10,
	SEEN_SLOTS = 4 * MAX_RETURN_STEPS, /* a power of two, and never more than a quarter full */
	MAX_WAITING = 512,
};

struct piece {
	uint64_t start, end;
	uint8_t *code;
};

struct search {
	const struct elf *elf;
	const struct stubs *stubs;
	struct returns *returns;
	struct piece pieces[MAX_RETURN_PIECES];
	size_t piece_count, steps, waiting_count;
	uint64_t waiting[MAX_WAITING]; /* targets of jumps that were not followed yet */
	uint64_t seen[SEEN_SLOTS];     /* instructions; 0: free */
};

static void search_free(struct search *search)
{
	if (!search)
		return;
	for (size_t i = 0; i < search->piece_count; i++)
		free(search->pieces[i].code);
	free(search);
}
DEFINE_CLEANUP(struct search *, search_free)

/* False when the address was marked before. */
static bool mark_seen(struct search *search, uint64_t address)
{
	size_t slot = (size_t)((address * 0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;

	for (; search->seen[slot]; slot = (slot + 1) % SEEN_SLOTS) {
		if (search->seen[slot] == address)
			return false;
	}
	search->seen[slot] = address;
	return true;
}

static int add_piece(struct search *search, struct bounds bounds)
{
	if (search->piece_count == MAX_RETURN_PIECES || bounds.end - bounds.start > MAX_PIECE_BYTES)
		return -E2BIG;
	size_t len = bounds.end - bounds.start;
	_cleanup_free_ uint8_t *code = malloc(len);
	if (!code)
		return -ENOMEM;
	if (elf_read_address(search->elf, bounds.start, code, len) < 0)
		return -ENOTSUP;
	search->pieces[search->piece_count++] =
		(struct piece){bounds.start, bounds.end, TAKE_PTR(code)};
	return 0;
}

static const struct piece *known_piece(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->piece_count; i++) {
		if (address >= search->pieces[i].start && address < search->pieces[i].end)
			return &search->pieces[i];
	}
	return NULL;
}

static int find_piece(struct search *search, uint64_t address, const struct piece **ret_piece)
{
	struct bounds bounds;

	*ret_piece = known_piece(search, address);
	if (*ret_piece)
		return 0;
	if (!search->returns->lookups)
		return -E2BIG;
	search->returns->lookups--;
	int err = function_bounds(search->elf, &address, 1, &bounds);
	if (err < 0)
		return err;
	if (bounds.start > address || bounds.end <= address)
		return -ENOTSUP;
	err = add_piece(search, bounds);
	*ret_piece = known_piece(search, address);
	return err;
}

static int add_return(struct returns *returns, uint64_t address)
{
	size_t at = returns->count;

	if (at == returns->max)
		return -E2BIG;
	for (; at && returns->at[at - 1] > address; at--)
		returns->at[at] = returns->at[at - 1];
	returns->at[at] = address;
	returns->count++;
	return 0;
}

static void add_call(struct returns *returns, uint64_t address)
{
	if (returns->call_count < MAX_RETURN_CALLS)
		returns->calls[returns->call_count++] = address;
}

/* Records where a jump goes. A jump that leaves the piece may also be a tail call, so its target is
 * added to the calls as well. */
static int wait_for(struct search *search, const struct piece *piece, uint64_t target)
{
	const struct stub *stub = stubs_find(search->stubs, target);

	if (search->waiting_count == MAX_WAITING)
		return -E2BIG;
	if (target < piece->start || target >= piece->end)
		add_call(search->returns, target);
	if (stub && !stub->function)
		return -ENOTSUP;
	target = stub ? stub->function : target;
	search->waiting[search->waiting_count++] = target;
	return 0;
}

static int take_insn(struct search *search, const struct piece *piece, uint64_t at,
                     const struct decoded_insn *insn)
{
	switch (insn->kind) {
	case DECODED_RETURN:
		return add_return(search->returns, at);
	case DECODED_CALL:
		if (insn->has_target)
			add_call(search->returns, insn->target);
		return 0;
	case DECODED_JUMP:
	case DECODED_BRANCH:
		return insn->has_target ? wait_for(search, piece, insn->target) : -ENOTSUP;
	default:
		return 0;
	}
}

static bool goes_on(const struct decoded_insn *insn)
{
	return insn->kind != DECODED_RETURN && insn->kind != DECODED_JUMP &&
	       insn->kind != DECODED_END;
}

static int follow_run(struct search *search, uint64_t at)
{
	const struct piece *piece;
	struct decoded_insn insn;
	int err = find_piece(search, at, &piece);

	if (err < 0)
		return err;
	for (; at < piece->end && mark_seen(search, at); at += insn.len) {
		if (++search->steps > MAX_RETURN_STEPS)
			return -E2BIG;
		if (!decode_insn(piece->code + (at - piece->start), piece->end - at, at, &insn))
			return -ENOTSUP;
		err = take_insn(search, piece, at, &insn);
		if (err < 0 || !goes_on(&insn))
			return err;
	}
	return 0;
}

int returns_find(const struct elf *elf, const struct stubs *stubs, uint64_t address, uint64_t size,
                 struct returns *returns)
{
	returns->count = returns->call_count = 0;
	returns->complete = true;
	if (elf_machine(elf) != EM_X86_64 || !address)
		return -ENOTSUP;
	_cleanup_(search_freep) struct search *search = calloc(1, sizeof(*search));
	if (!search)
		return -ENOMEM;
	search->elf = elf;
	search->stubs = stubs;
	search->returns = returns;
	search->waiting[search->waiting_count++] = address;
	if (size && address + size > address &&
	    add_piece(search, (struct bounds){address, address + size}) == -ENOMEM)
		return -ENOMEM;

	while (search->waiting_count) {
		int err = follow_run(search, search->waiting[--search->waiting_count]);
		if (err == -ENOMEM)
			return err;
		if (err < 0)
			returns->complete = false;
	}
	return returns->count ? 0 : -ENOTSUP;
}
