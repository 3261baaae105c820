/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tests of growth.h, for each level of the floors.
 */
#include "memory/growth.h"

#include "memory/trend.h"

#define FIGURE(name) #name,
const char *const growth_of_names[GROWTH_OF_COUNT] = {GROWTH_OF(FIGURE)};
#undef FIGURE

_Static_assert((int)TREND_POINTS == (int)FLOORS_PARTS, "a line is fitted through a window");

/* The thresholds for a leak, as factors. */
struct bar {
	double growth; /* minimum growth, as a factor of least_growth() */
	double margin; /* this part of the largest earlier fall is subtracted from the growth */
	double fall;   /* at most this part of the growth may have been given back */
	double jumps;  /* at most this part of the growth may have come in two steps */
	double pace;   /* at least this part of the earlier pace must remain */
	double doubt;  /* tolerance of that, in standard deviations */
	bool surely;   /* use the bound at three standard deviations */
};

static const struct bar enter = {1, 0.5, 0.5, 0.4, 0.8, 1, true};
static const struct bar stay = {0.5, 0, 0.75, 0.75, 0.65, 2, false};

enum { MIN_KIB = GROWTH_MIN_BYTES / 1024, HURRIED_LEVELS = 2, MAX_DOUBTS = 4 };

struct level {
	bool known;
	struct floors_window window;
	struct trend trend;
};

/* Most levels of most processes do not rise, so no line has to be fitted for them. */
static bool may_rise(const struct floors_window *window)
{
	uint32_t last = window->kib[FLOORS_PARTS - 1], least = last;

	for (int i = 0; i < FLOORS_PARTS; i++)
		if (window->kib[i] < least)
			least = window->kib[i];
	return last - least >= MIN_KIB / 2;
}

static double least_growth(int level, double begin_kib)
{
	double factor = level < HURRIED_LEVELS ? 1 << (HURRIED_LEVELS - level) : 1;
	double share = begin_kib / 100 * GROWTH_MIN_PERCENT;

	return factor * (share > MIN_KIB ? share : MIN_KIB);
}

/* In KiB per millisecond, so that levels can be compared. */
static double pace_of(const struct level *level)
{
	return level->trend.slope * FLOORS_PARTS /
	       (double)(level->window.end_ms - level->window.begin_ms);
}

static bool slows_down(const struct level levels[FLOORS_LEVELS], int at, const struct bar *bar)
{
	const struct trend *trend = &levels[at].trend;

	/* These are differences of the means of five, six and five values. The difference between
	 * them has about the standard deviation of a single value. */
	if (trend->late + bar->doubt * trend->noise < bar->pace * trend->early)
		return true;
	for (int longer = at + 1; longer < FLOORS_LEVELS; longer++)
		if (levels[longer].known &&
		    pace_of(&levels[at]) < bar->pace * pace_of(&levels[longer]))
			return true;
	return false;
}

static bool leaks_in(const struct floors *floors, const struct level levels[FLOORS_LEVELS], int at,
                     double had_kib, const struct bar *bar)
{
	const struct level *level = &levels[at];
	const struct trend *trend = &level->trend;
	struct floors_past past;
	double high = trend->begin, growth, fall = trend->fall;

	if ((bar->surely ? trend->surely : trend->low) <= 0)
		return false;
	floors_before(floors, at, &level->window, &past);
	if (past.high_kib > high)
		high = past.high_kib;
	if (had_kib > high)
		high = had_kib;
	growth = trend->end - high - bar->margin * past.fall_kib;
	if (trend->end - floors->last_kib > fall)
		fall = trend->end - floors->last_kib;
	return growth >= bar->growth * least_growth(at, trend->begin) &&
	       fall <= bar->fall * growth && trend->jumps <= bar->jumps * growth &&
	       !slows_down(levels, at, bar);
}

static uint64_t bytes_per_second(const struct level *level, double kib_a_part)
{
	double part_seconds =
		(double)(level->window.end_ms - level->window.begin_ms) / FLOORS_PARTS / 1000;

	return kib_a_part > 0 ? (uint64_t)(kib_a_part * 1024 / part_seconds) : 0;
}

void growth_judge(const struct floors *floors, uint64_t had_bytes, struct growth *growth)
{
	const struct bar *bar = growth->leaking ? &stay : &enter;
	struct level levels[FLOORS_LEVELS] = {0};
	int at;

	for (at = 0; at < FLOORS_LEVELS; at++) {
		levels[at].known = floors_window(floors, at, &levels[at].window);
		if (levels[at].known && may_rise(&levels[at].window))
			trend_of(levels[at].window.kib, &levels[at].trend);
	}
	/* The longest window is the most reliable. The window of two minutes alone is not
	 * enough. */
	for (at = FLOORS_LEVELS - 1; at >= 0; at--)
		if (levels[1].known && levels[at].known &&
		    leaks_in(floors, levels, at, (double)had_bytes / 1024, bar))
			break;
	if (at < 0 && growth->leaking && ++growth->doubts < MAX_DOUBTS)
		return;
	*growth = (struct growth){.of = growth->of};
	if (at < 0)
		return;
	growth->leaking = true;
	growth->since_ms = levels[at].window.begin_ms;
	growth->bytes_per_second = bytes_per_second(&levels[at], levels[at].trend.slope);
	growth->low_bytes_per_second = bytes_per_second(&levels[at], levels[at].trend.low);
	growth->high_bytes_per_second = bytes_per_second(&levels[at], levels[at].trend.high);
}
