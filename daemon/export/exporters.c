/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of exporters.
 */
#include "export/exporter.h"

#include <string.h>

#define EXPORTER(name) &exporter_##name,
static const struct exporter *const exporters[] = {EXPORTERS(EXPORTER)};
#undef EXPORTER

const struct exporter *exporter_find(const char *target, const char **ret_place)
{
	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		size_t len = strlen(exporters[i]->name);

		if (strncmp(target, exporters[i]->name, len) != 0 || target[len] != ':')
			continue;
		*ret_place = target + len + 1;
		return exporters[i]->accepts(*ret_place) ? exporters[i] : NULL;
	}
	return NULL;
}
