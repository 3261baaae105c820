/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct doctor_options - the settings that the findings depend on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doctor_options {
	bool json;
	uint32_t sample_hz;
	const char *const *listen;
	size_t listen_count;
	const char *debuginfod; /* NULL: no servers */
};
