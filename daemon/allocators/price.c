/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sum, and its text.
 */
#include "allocators/price.h"

#include <math.h>

static double sane(double value)
{
	return isfinite(value) && value > 0 ? value : 0;
}

double heap_price_cores(const struct heap_price *price, const struct heap_hits *hits)
{
	double ns = sane(hits->emulated) * sane(price->emulated_ns) +
	            sane(hits->stepped) * sane(price->stepped_ns) +
	            sane(hits->returns) * sane(price->return_ns);

	return ns / 1e9;
}

/* 10,400,000 */
static void add_grouped(struct buf *buf, uint64_t value)
{
	if (value < 1000) {
		buf_printf(buf, "%u", (unsigned int)value);
		return;
	}
	add_grouped(buf, value / 1000);
	buf_printf(buf, ",%03u", (unsigned int)(value % 1000));
}

/* Less than a core is given as a percentage of one. */
static void add_cores(struct buf *buf, double cores)
{
	if (cores < 0.0095)
		buf_printf(buf, "%.1f %% of a core", cores * 100);
	else if (cores < 0.995)
		buf_printf(buf, "%.0f %% of a core", cores * 100);
	else
		buf_printf(buf, "%.1f cores", cores);
}

void heap_price_refusal(struct buf *buf, uint32_t pid, double hits_per_second, double cores,
                        double budget_cores)
{
	buf_printf(buf, "pid %u calls its allocator ", pid);
	add_grouped(buf, (uint64_t)fmin(sane(hits_per_second), 1e18));
	buf_add_text(buf, " times a second: probes would cost ");
	add_cores(buf, sane(cores));
	buf_add_text(buf, ", and the budget is ");
	add_cores(buf, sane(budget_cores));
	buf_add_text(buf, "; force=1 attaches them anyway");
}
