/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "profile/view.h"

#include "profile/builder.h"

#include <string.h>

#define VIEW(name, title, summary, counted) [VIEW_##name] = {#name, title, summary, counted},
const struct view_about views[] = {VIEWS(VIEW)};
#undef VIEW

enum view view_find(const char *name)
{
	for (int view = VIEW_NONE + 1; view < VIEW_COUNT; view++)
		if (!strcmp(name, views[view].name))
			return (enum view)view;
	return VIEW_NONE;
}

void view_describe(enum view view, struct builder *into)
{
	builder_value_type(into, views[view].counted, "count");
	builder_value_type(into, views[view].name, "nanoseconds");
	builder_period(into, views[view].name, "nanoseconds", 1);
}
