/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the configuration file: accepted values are within their bounds and mean the same
 * when they are written and read again; a refusal names the line.
 */
#include "base/buf.h"
#include "config_load.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the configuration as a file, and reads it again. */
static void check(const struct config *config)
{
	_cleanup_(config_release) struct config again = {0};
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	char buffer[SETTING_TEXT_BYTES], why[256];

	for (size_t i = 0; i < SETTING_COUNT; i++)
		for (size_t n = 0; n < setting_count(&settings[i], config); n++)
			buf_printf(&text, "%s = %s\n", settings[i].name,
			           setting_text(&settings[i], config, n, buffer));
	settings_default(&again);
	if (config_read(&again, "f", buf_text(&text), why) < 0)
		abort();
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (!setting_words(&settings[i], config) &&
		    !setting_equal(&settings[i], config, &again))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(config_release) struct config config = {0};
	_cleanup_free_ char *text = strndup((const char *)data, size);
	char why[256] = "";

	settings_default(&config);
	if (config_read(&config, "f", text, why) < 0) {
		if (strncmp(why, "f:", 2) != 0)
			abort();
		return 0;
	}
	check(&config);
	return 0;
}
