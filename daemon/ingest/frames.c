/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns words into locations, from the root to the leaf.
 */
#include "ingest/frames.h"

#include "bpf/words.h"
#include "ingest/interpreted.h"
#include "profile/quality.h"

#include <stdio.h>
#include <string.h>

static bool is_offset(uint64_t word)
{
	return (word & WORD_KIND) == WORD_OFFSET;
}

static bool is_loop(uint64_t word)
{
	return (word & WORD_KIND) == WORD_LOOP;
}

static bool is_interpreted(uint64_t word)
{
	return is_offset(word) || runtimes_name(word);
}

static uint64_t address_of(uint64_t word)
{
	return is_loop(word) ? word & WORD_VALUE : word;
}

static bool is_cut(uint64_t word)
{
	return word >= COUNTER_cut_no_process && word <= COUNTER_cut_compat;
}

/* Adds the frame that stands for the missing ones. */
static uint32_t add_missing(struct frames *frames, uint32_t path, const char *why)
{
	char name[128];

	snprintf(name, sizeof(name), CUT_FRAME "%s]", why);
	return builder_node(frames->builder, path, places_pseudo(&frames->places, name));
}

static uint32_t add_cut(struct frames *frames, uint64_t why)
{
	const char *text = counter_help[why], *cut = CUT;

	if (strncmp(text, cut, strlen(cut)) == 0)
		text += strlen(cut);
	return add_missing(frames, frames->root, text);
}

/* How many words, counted from the leaf, lead up the stack. A native caller outside every mapping
 * was not a return address, so the native words behind it are not callers. */
static size_t count_valid(const struct image *image, const struct stack_words *stack)
{
	size_t valid = 0;

	while (valid < stack->len &&
	       (is_interpreted(stack->words[valid]) ||
	        (image && mapping_set_find(image->set, address_of(stack->words[valid])))))
		valid++;
	return valid;
}

bool frames_are_mapped(const struct image *image, const struct stack_words *stack)
{
	struct stack_words rest = *stack;

	if (rest.len && is_cut(rest.words[rest.len - 1]))
		rest.len--;
	return count_valid(image, &rest) == rest.len;
}

/* Adds the first frame of the path if the outermost frames are missing; 0 if none are missing.
 * `cut` is the word that says why the stack is truncated, or 0; stack->len does not include it. */
static uint32_t add_root(struct frames *frames, const struct stack_words *stack, size_t valid,
                         uint64_t cut)
{
	uint32_t path = cut ? add_cut(frames, cut) : frames->root;

	if (valid < stack->len) {
		frames->losses->frames_unmapped++;
		/* If the walker gave a reason, that reason stands. In a process that it did not
		 * know it could not recognize addresses outside every mapping. */
		return cut ? path : add_cut(frames, COUNTER_cut_unmapped);
	}
	if (!stack->whole) {
		frames->losses->frames_without_stack++;
		return add_missing(frames, path, "stack lost");
	}
	/* A native frame always runs the interpreted frames; here it is missing. */
	if (!cut && stack->len && is_interpreted(stack->words[stack->len - 1]))
		return add_missing(frames, path, "what runs these interpreted frames");
	return path;
}

static uint32_t add_interpreted(struct frames *frames, uint64_t word, uint64_t offset_word)
{
	struct runtime_frame frame;

	if (runtimes_find(frames->runtimes, word, offset_word, &frame, &frames->ran))
		return interpreted_location(frames->builder,
		                            interpreted_mapping(frames->builder, &frames->ran),
		                            &frame);
	frames->losses->codes_unknown++;
	return interpreted_unknown(frames->builder, runtimes_name(word));
}

/* Makes the location of the frame whose word nearest to the root is words[at]. Returns how many
 * words the frame has. `*ret_location` is 0 if the word is misplaced. */
static size_t add_word(struct frames *frames, const struct image *image, const uint64_t *words,
                       size_t at, uint32_t *ret_location)
{
	uint64_t word = words[at];

	if (is_offset(word) && at && runtimes_name(words[at - 1])) {
		*ret_location = add_interpreted(frames, words[at - 1], word);
		return 2;
	}
	if (is_interpreted(word)) {
		frames->losses->words_misplaced++;
		*ret_location = 0;
		return 1;
	}
	*ret_location = places_user(&frames->places, image, address_of(word),
	                            is_loop(word) ? MAPPING_LOOP : MAPPING_FILE);
	return 1;
}

static bool interprets(const struct stack_words *stack)
{
	for (size_t i = 0; i < stack->len; i++)
		if (is_interpreted(stack->words[i]))
			return true;
	return false;
}

uint32_t frames_add(struct frames *frames, const struct image *image,
                    const struct stack_words *stack)
{
	struct stack_words rest = *stack;
	uint64_t cut = 0;
	size_t valid;
	uint32_t path;

	frames->ran = (struct runtime_version){0};
	/* The interpreted frames say more. */
	frames->places.generated.no_trampolines = interprets(stack);
	if (rest.len && is_cut(rest.words[rest.len - 1]))
		cut = rest.words[--rest.len];
	valid = count_valid(image, &rest);
	path = add_root(frames, &rest, valid, cut);
	for (size_t left = rest.len; left;) {
		uint32_t location = 0;

		/* Interpreted frames are valid even if the native ones are not. */
		if (left > valid && !is_interpreted(rest.words[left - 1])) {
			left--;
			continue;
		}
		left -= add_word(frames, image, rest.words, left - 1, &location);
		if (location)
			path = builder_node(frames->builder, path, location);
	}
	return path;
}
