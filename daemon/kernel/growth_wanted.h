/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which growth of memory is recorded: the setting `growth`.
 */
#pragma once

#include <stdbool.h>

struct growth_wanted {
	bool at_all;
	bool at_any_price; /* also what slows programs down by 2 % or more */
};
