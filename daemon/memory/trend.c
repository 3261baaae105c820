/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sorts the 120 slopes between all pairs of values.
 */
#include "memory/trend.h"

#include <math.h>
#include <stdlib.h>

enum {
	PAIRS = TREND_POINTS * (TREND_POINTS - 1) / 2,
	/* The standard deviation of S is the root of n (n-1) (2n+5) / 18 = 493.3, so 22.2. A bound
	 * is the slope whose distance in rank from the median is half the tolerated deviation of
	 * S. */
	RANK_95_PERCENT = (PAIRS - 44) / 2, /* 1.96 standard deviations */
	RANK_SURELY = (PAIRS - 67) / 2,     /* 3 standard deviations */
	FIRST_THIRD = 5,                    /* the middle third has six values, the last five */
	LAST_THIRD = TREND_POINTS - FIRST_THIRD,
};

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void fit(const uint32_t values[TREND_POINTS], struct trend *trend)
{
	double slopes[PAIRS] = {0}, off[TREND_POINTS] = {0};
	int pairs = 0;

	for (int from = 0; from < TREND_POINTS; from++)
		for (int to = from + 1; to < TREND_POINTS; to++)
			slopes[pairs++] = ((double)values[to] - values[from]) / (to - from);
	trend->slope = median(slopes, PAIRS);
	trend->low = slopes[RANK_95_PERCENT];
	trend->high = slopes[PAIRS - 1 - RANK_95_PERCENT];
	trend->surely = slopes[RANK_SURELY];
	for (int i = 0; i < TREND_POINTS; i++)
		off[i] = values[i] - i * trend->slope;
	trend->begin = median(off, TREND_POINTS);
	trend->end = trend->begin + (TREND_POINTS - 1) * trend->slope;
}

/* Estimated from neighbouring values, so that a bend in the curve does not count as noise. */
static double noise_of(const uint32_t values[TREND_POINTS])
{
	double bends[TREND_POINTS - 2] = {0};

	for (int i = 1; i < TREND_POINTS - 1; i++)
		bends[i - 1] = fabs((double)values[i - 1] - 2.0 * values[i] + values[i + 1]);
	/* The median of absolute normally distributed values is 0.6745 standard deviations; a bend
	 * has six times the variance of a value. */
	return median(bends, TREND_POINTS - 2) / 0.6745 / sqrt(6);
}

static void walk(const uint32_t values[TREND_POINTS], struct trend *trend)
{
	double high = values[0], largest = 0, second = 0;

	for (int i = 1; i < TREND_POINTS; i++) {
		double step = (double)values[i] - values[i - 1];

		if (step > largest) {
			second = largest;
			largest = step;
		} else if (step > second) {
			second = step;
		}
		if (high - values[i] > trend->fall)
			trend->fall = high - values[i];
		if (values[i] > high)
			high = values[i];
	}
	trend->jumps = largest + second;
}

static double mean(const uint32_t *values, int from, int to)
{
	double sum = 0;

	for (int i = from; i < to; i++)
		sum += values[i];
	return sum / (to - from);
}

void trend_of(const uint32_t values[TREND_POINTS], struct trend *ret_trend)
{
	struct trend trend = {0};
	double middle = mean(values, FIRST_THIRD, LAST_THIRD);

	fit(values, &trend);
	walk(values, &trend);
	trend.noise = noise_of(values);
	trend.early = middle - mean(values, 0, FIRST_THIRD);
	trend.late = mean(values, LAST_THIRD, TREND_POINTS) - middle;
	*ret_trend = trend;
}
