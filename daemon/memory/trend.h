/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The line through TREND_POINTS equally spaced values, and how sure it is: the median of the slopes
 * between all pairs (Theil and Sen), which a quarter of the values may miss without moving it, and
 * bounds that are slopes of that set as well (Sen, 1968: by the variance of Kendall's S). Also what
 * tells a steady rise from other shapes. All in units of the values and of their distance. Pure;
 * any thread.
 */
#pragma once

#include <stdint.h>

enum { TREND_POINTS = 16 };

struct trend {
	double slope;
	double low, high;  /* 95 % of all such lines, where the noise is independent, are between */
	double surely;     /* as `low`, but for three standard deviations */
	double begin, end; /* of the line */
	double fall;       /* the most that a value was below one before it */
	double jumps;      /* the two largest steps up together */
	double early,
		late; /* rise from the first third to the middle one, and from that to the last */
	double noise; /* standard deviation around the line; robust */
};

void trend_of(const uint32_t values[TREND_POINTS], struct trend *ret_trend);
