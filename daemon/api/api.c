/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /api: the machine-readable description of profd's interface: endpoints and their parameters,
 * kinds of profile, formats. It is made from the tables that serve requests and never changes;
 * /status says which of it works.
 */
#include "encode/encoder.h"
#include "http/json.h"
#include "http/route.h"
#include "ingest/source.h"
#include "profile/select.h"

static json_t *parameters_json(const struct parameter *parameters)
{
	json_t *list = json_array();

	for (const struct parameter *p = parameters; p->name; p++)
		json_array_append_new(list,
		                      json_pack("{s:s, s:b, s:s}", "name", p->name, "repeatable",
		                                p->repeatable, "values", p->values));
	return list;
}

/* All endpoints except aliases. */
static json_t *endpoints_json(void)
{
	json_t *list = json_array();

	for (const struct route *route = routes; route->path; route++)
		if (route->summary)
			json_array_append_new(list,
			                      json_pack("{s:s, s:s, s:s, s:o}", "path", route->path,
			                                "example", route->example, "summary",
			                                route->summary, "parameters",
			                                parameters_json(route->parameters)));
	return list;
}

static json_t *values_json(const struct source *source)
{
	json_t *list = json_array();

	for (size_t i = 0; i < PROFILE_VALUES && source->values[i].type; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "type", source->values[i].type,
		                                      "unit", source->values[i].unit));
	return list;
}

static json_t *kinds_json(void)
{
	json_t *list = json_array();

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct source *source = sources[kind];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o}", "name", source->name,
		                        "title", source->title, "summary", source->summary, "idle",
		                        source->has_idle, "dims", source->has_dims, "in_use",
		                        source->in_use != NULL, "values", values_json(source)));
	}
	/* What they have is recorded as other kinds; they work if this one does. */
	for (int view = VIEW_NONE + 1; view < VIEW_COUNT; view++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:[{s:s, s:s}, {s:s, s:s}]}",
		                  "name", views[view].name, "title", views[view].title, "summary",
		                  views[view].summary, "of", sources[KIND_offcpu]->name, "idle", 0,
		                  "dims", 0, "in_use", 0, "values", "type", views[view].counted,
		                  "unit", "count", "type", views[view].name, "unit",
		                  "nanoseconds"));
	return list;
}

static json_t *formats_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; encoders[i]; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", encoders[i]->name, "summary",
		                  encoders[i]->summary, "content_type", encoders[i]->content_type,
		                  "suffix", encoders[i]->suffix, "rows", encoders[i]->has_rows));
	return list;
}

static json_t *groupings_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < GROUPING_COUNT; i++)
		json_array_append_new(list, json_string(grouping_names[i]));
	return list;
}

void handle_api(struct request *request)
{
	json_answer(request, json_pack("{s:s, s:o, s:o, s:o, s:o}", "version", PROFD_VERSION,
	                               "endpoints", endpoints_json(), "kinds", kinds_json(),
	                               "formats", formats_json(), "by", groupings_json()));
}
