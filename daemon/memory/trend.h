/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The line through TREND_POINTS equally spaced values, and its confidence bounds. The slope is the
 * median of the slopes between all pairs (Theil and Sen), which tolerates a quarter of the values
 * as outliers. The bounds are slopes of that set as well (Sen, 1968: by the variance of Kendall's
 * S). Further results distinguish a steady rise from other shapes. All are in units of the values
 * and of their distance. Pure; any thread.
 */
#pragma once

#include <stdint.h>

enum { TREND_POINTS = 16 };

struct trend {
	double slope;
	double low, high;  /* bounds at 95 % confidence, if the noise is independent */
	double surely;     /* as `low`, but for three standard deviations */
	double begin, end; /* of the line */
	double fall;       /* the largest fall from a value to a later one */
	double jumps;      /* the sum of the two largest steps up */
	double early,
		late; /* rise from the first third to the middle one, and from that to the last */
	double noise; /* standard deviation around the line; robust */
};

void trend_of(const uint32_t values[TREND_POINTS], struct trend *ret_trend);
