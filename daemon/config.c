/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory that a config owns.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

void config_release(struct config *config)
{
	for (size_t i = 0; i < config->text_count; i++)
		free(config->texts[i]);
	free(config->texts);
	*config = (struct config){0};
}

const char *config_keep(struct config *config, const char *text)
{
	char **texts = realloc(config->texts, (config->text_count + 1) * sizeof(*texts));
	char *copy = strdup(text);

	if (texts)
		config->texts = texts;
	if (!texts || !copy) {
		free(copy);
		return NULL;
	}
	return config->texts[config->text_count++] = copy;
}
