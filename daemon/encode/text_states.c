/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "encode/text_states.h"

#include "profile/sum.h"

#include <stddef.h>
#include <stdlib.h>

/* There are a few states, calls in which threads wait, and things to say of the GIL. */
enum { MAX_WORDS = 32 };

struct word {
	uint32_t text;
	uint64_t value;
};

struct words {
	struct word all[MAX_WORDS];
	size_t count;
	uint64_t total;
};

static void add(struct words *words, uint32_t text, uint64_t value)
{
	size_t i = 0;

	while (i < words->count && words->all[i].text != text)
		i++;
	if (i == MAX_WORDS)
		return;
	if (i == words->count)
		words->all[words->count++] = (struct word){.text = text};
	sum_add(&words->all[i].value, value);
	sum_add(&words->total, value);
}

/* The largest first. */
static int compare(const void *left, const void *right)
{
	const struct word *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return (a->text > b->text) - (a->text < b->text);
}

static struct words sorted(struct words words)
{
	qsort(words.all, words.count, sizeof(words.all[0]), compare);
	return words;
}

static const struct task *task_of(const struct profile *profile, uint32_t sample)
{
	return &profile->tasks[profile->samples[sample].task];
}

static void write_word(const struct profile *profile, const struct word *word, uint64_t total,
                       const char *before, struct buf *out)
{
	buf_printf(out, "%s%s %.1f %%", before, profile_string(profile, word->text),
	           100.0 * (double)word->value / (double)total);
}

/* The calls in which the threads of a state wait, as shares of everything. */
static void write_calls(const struct profile *profile, uint32_t value, uint32_t state,
                        uint64_t total, struct buf *out)
{
	struct words calls = {0};

	for (uint32_t i = 1; i < profile->sample_count; i++)
		if (task_of(profile, i)->state == state && task_of(profile, i)->wait)
			add(&calls, task_of(profile, i)->wait, profile->samples[i].values[value]);
	calls = sorted(calls);
	for (size_t i = 0; i < calls.count; i++)
		write_word(profile, &calls.all[i], total, i ? ", " : " (", out);
	if (calls.count)
		buf_add_char(out, ')');
}

static void write_states(const struct profile *profile, uint32_t value, const struct words *states,
                         struct buf *out)
{
	buf_add_text(out, "States:");
	for (size_t i = 0; i < states->count; i++) {
		write_word(profile, &states->all[i], states->total, i ? ", " : " ", out);
		write_calls(profile, value, states->all[i].text, states->total, out);
	}
	buf_add_char(out, '\n');
}

static void write_gil(const struct profile *profile, const struct words *gil, struct buf *out)
{
	buf_add_text(out, "GIL:");
	for (size_t i = 0; i < gil->count; i++)
		write_word(profile, &gil->all[i], gil->total, i ? ", " : " ", out);
	buf_add_char(out, '\n');
}

void text_states_write(const struct profile *profile, uint32_t value, struct buf *out)
{
	struct words states = {0}, gil = {0};

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct task *task = task_of(profile, i);

		if (!task->state)
			continue;
		add(&states, task->state, profile->samples[i].values[value]);
		if (task->gil)
			add(&gil, task->gil, profile->samples[i].values[value]);
	}
	states = sorted(states);
	gil = sorted(gil);
	if (states.total)
		write_states(profile, value, &states, out);
	if (gil.total)
		write_gil(profile, &gil, out);
}
