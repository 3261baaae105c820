/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both walks are given the leaf, so agreement about it proves nothing and it is not counted. In the
 * walker's stacks a caller's address is one byte before its return address; libdw says of each
 * address whether it is a return address.
 */
#include "tests/bpf/compare.h"

#include <string.h>

enum { MAX_PARTINGS = 512, NAME_BYTES = 96 };

/* A frame after which the two walks differ. */
struct parting {
	enum verdict verdict;
	u64 own;
	size_t count;
	char file[NAME_BYTES], function[NAME_BYTES], why[NAME_BYTES];
};

struct comparison {
	size_t stops, frames, agreeing, by_pointer;
	size_t ours_complete, libdw_complete;
	size_t verdicts[VERDICTS];
	struct parting partings[MAX_PARTINGS];
	size_t parting_count, partings_not_kept;
};

struct comparison *comparison_new(void)
{
	return calloc(1, sizeof(struct comparison));
}

void comparison_free(struct comparison *comparison)
{
	free(comparison);
}

/* Whether an address of the walker's is the address of libdw's frame `at`. A signal frame's address
 * is that of its restorer, which was not called: both the address and the byte before it are
 * right. */
static bool same_frame(u64 ours, const struct libdw_stack *libdw, size_t at)
{
	const struct libdw_frame *frame = &libdw->frames[at];
	bool restorer = at + 1 < libdw->len && libdw->frames[at + 1].exact;

	if (!frame->exact)
		return ours == frame->pc - 1;
	return ours == frame->pc || (restorer && ours == frame->pc - 1);
}

static size_t common_frames(const struct walker_result *ours, const struct libdw_stack *libdw)
{
	size_t at = 1;

	while (at < ours->len && at < libdw->len && same_frame(ours->frames[at], libdw, at))
		at++;
	return at;
}

static enum verdict judge(const struct walker_result *ours, const struct libdw_stack *libdw,
                          size_t common)
{
	bool complete = ours->outcome == COUNTER_walk_complete;
	bool truncated = ours->outcome == COUNTER_cut_truncated;

	if (common == ours->len && truncated)
		return AGREED;
	if (common == ours->len && common == libdw->len && complete == libdw->complete)
		return complete ? AGREED : BOTH_STOPPED;
	if (complete && !libdw->complete)
		return LIBDW_STOPPED_FIRST;
	if (common == ours->len && !complete)
		return WE_STOPPED_FIRST;
	return DIFFERED;
}

static void say_why(struct parting *parting, const struct walker_result *ours,
                    const struct libdw_stack *libdw, size_t common)
{
	if (parting->verdict == LIBDW_STOPPED_FIRST)
		snprintf(parting->why, sizeof(parting->why), "libdw: %s", libdw->why);
	else if (parting->verdict == WE_STOPPED_FIRST || parting->verdict == BOTH_STOPPED)
		snprintf(parting->why, sizeof(parting->why), "ours: %s", ours->ended);
	else if (common == ours->len)
		snprintf(parting->why, sizeof(parting->why), "outermost frame for us only");
	else if (common == libdw->len)
		snprintf(parting->why, sizeof(parting->why), "outermost frame for libdw only");
	else
		snprintf(parting->why, sizeof(parting->why), "another caller (ours: %s)",
		         ours->ended);
}

static void keep_parting(struct comparison *comparison, const struct parting *parting)
{
	for (size_t i = 0; i < comparison->parting_count; i++) {
		struct parting *known = &comparison->partings[i];

		if (known->verdict == parting->verdict && known->own == parting->own &&
		    strcmp(known->file, parting->file) == 0 &&
		    strcmp(known->why, parting->why) == 0) {
			known->count++;
			return;
		}
	}
	if (comparison->parting_count == MAX_PARTINGS)
		comparison->partings_not_kept++;
	else
		comparison->partings[comparison->parting_count++] = *parting;
}

enum verdict comparison_add(struct comparison *comparison, struct live *live,
                            const struct walker_result *ours, const struct libdw_stack *libdw)
{
	size_t common = common_frames(ours, libdw);
	struct parting parting = {.verdict = judge(ours, libdw, common), .count = 1};

	comparison->stops++;
	comparison->by_pointer += ours->by_pointer;
	comparison->ours_complete += ours->outcome == COUNTER_walk_complete;
	comparison->libdw_complete += libdw->complete;
	comparison->verdicts[parting.verdict]++;
	comparison->agreeing += common - 1;
	if (parting.verdict <= LIBDW_STOPPED_FIRST) {
		comparison->frames += common - 1;
	} else {
		size_t longest = libdw->len > ours->len ? libdw->len : ours->len;

		comparison->frames += longest < MAX_USER_FRAMES ? longest - 1 : MAX_USER_FRAMES - 1;
	}
	if (parting.verdict != AGREED) {
		struct spot spot = live_spot(live, ours->frames[common - 1]);

		parting.own = spot.own;
		snprintf(parting.file, sizeof(parting.file), "%s", spot.file);
		snprintf(parting.function, sizeof(parting.function), "%s", spot.function);
		say_why(&parting, ours, libdw, common);
		keep_parting(comparison, &parting);
	}
	return parting.verdict;
}

double comparison_agreement(const struct comparison *comparison)
{
	if (comparison->frames == 0)
		return 0;
	return 100.0 * (double)comparison->agreeing / (double)comparison->frames;
}

size_t comparison_stops(const struct comparison *comparison)
{
	return comparison->stops;
}

static const char *const headings[VERDICTS] = {
	[BOTH_STOPPED] = "both stopped",
	[LIBDW_STOPPED_FIRST] = "libdw stopped first",
	[WE_STOPPED_FIRST] = "we stopped first",
	[DIFFERED] = "different",
};

void comparison_print(const struct comparison *comparison, FILE *out)
{
	double share = comparison->stops ? 100.0 / (double)comparison->stops : 0;

	fprintf(out, "%zu stops, %zu frames compared, %.3f%% agree, %zu found by frame pointer\n",
	        comparison->stops, comparison->frames, comparison_agreement(comparison),
	        comparison->by_pointer);
	fprintf(out, "complete stacks: ours %.2f%%, libdw %.2f%%\n",
	        share * (double)comparison->ours_complete,
	        share * (double)comparison->libdw_complete);
	fprintf(out, "stacks: %zu agreed", comparison->verdicts[AGREED]);
	for (int verdict = BOTH_STOPPED; verdict < VERDICTS; verdict++)
		fprintf(out, ", %s %zu", headings[verdict], comparison->verdicts[verdict]);
	fputc('\n', out);
	for (int verdict = DIFFERED; verdict > AGREED; verdict--) {
		for (size_t i = 0; i < comparison->parting_count; i++) {
			const struct parting *parting = &comparison->partings[i];

			if ((int)parting->verdict == verdict)
				fprintf(out, "  %6zu %s: %s+0x%llx %s, %s\n", parting->count,
				        headings[verdict], parting->file,
				        (unsigned long long)parting->own, parting->function,
				        parting->why);
		}
	}
	if (comparison->partings_not_kept)
		fprintf(out, "  %6zu more places\n", comparison->partings_not_kept);
}
