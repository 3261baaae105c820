/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns libyaml's events into values with their keys.
 */
#include "access/yaml_values.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct reading {
	yaml_parser_t *parser;
	yaml_value_fn *fn;
	void *ctx;
	const char *keys[YAML_MAX_DEPTH];
	int line; /* line of the value being read, from 1 */
	char *why;
};

static int complain(struct reading *reading, const char *what)
{
	snprintf(reading->why, YAML_WHY_BYTES, "%s", what);
	return -EINVAL;
}

static int next_event(struct reading *reading, yaml_event_t *ret_event)
{
	yaml_parser_t *parser = reading->parser;

	if (yaml_parser_parse(parser, ret_event)) {
		reading->line = (int)ret_event->start_mark.line + 1;
		return 0;
	}
	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	/* For bytes that are not text only the offset is known. */
	if (parser->error != YAML_READER_ERROR)
		reading->line = (int)parser->problem_mark.line + 1;
	return complain(reading, parser->problem ? parser->problem : "not YAML");
}

static bool is_nothing(const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return !text[0] || !strcmp(text, "~") || !strcmp(text, "null");
}

/* Refuses anchors, aliases, tags and NUL bytes, with which a value would not be what its text says.
 */
static int check_plain(struct reading *reading, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
			return complain(reading, "it contains a NUL byte");
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		return complain(reading, "anchors and aliases are not supported");
	}
	return anchor || tag ? complain(reading, "anchors and tags are not supported") : 0;
}

static int tell(struct reading *reading, enum yaml_kind kind, size_t depth, bool item,
                const yaml_event_t *event)
{
	struct yaml_value value = {
		.kind = kind,
		.depth = depth,
		.item = item,
		.line = reading->line,
	};

	memcpy(value.keys, reading->keys, depth * sizeof(value.keys[0]));
	if (kind == YAML_TEXT) {
		value.text = (const char *)event->data.scalar.value;
		value.nothing = is_nothing(event);
	}
	return reading->fn(&value, reading->ctx, reading->why);
}

static int read_list(struct reading *reading, size_t depth)
{
	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {0};
		int err = next_event(reading, &event);

		if (err || event.type == YAML_SEQUENCE_END_EVENT)
			return err;
		err = check_plain(reading, &event);
		if (!err && event.type != YAML_SCALAR_EVENT)
			err = complain(reading, "an item of a list must be a text");
		if (!err)
			err = tell(reading, YAML_TEXT, depth, true, &event);
		if (err)
			return err;
	}
}

static int read_node(struct reading *reading, const yaml_event_t *event, size_t depth);

static int read_mapping(struct reading *reading, size_t depth)
{
	if (depth == YAML_MAX_DEPTH)
		return complain(reading, "nesting is too deep");
	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t key = {0}, event = {0};
		int err = next_event(reading, &key);

		if (err || key.type == YAML_MAPPING_END_EVENT)
			return err;
		err = check_plain(reading, &key);
		if (!err && key.type != YAML_SCALAR_EVENT)
			err = complain(reading, "a key must be a text");
		if (!err) {
			reading->keys[depth] = (const char *)key.data.scalar.value;
			err = next_event(reading, &event);
		}
		if (!err)
			err = read_node(reading, &event, depth + 1);
		if (err)
			return err;
	}
}

static int read_node(struct reading *reading, const yaml_event_t *event, size_t depth)
{
	int err = check_plain(reading, event);

	if (err)
		return err;
	switch (event->type) {
	case YAML_SEQUENCE_START_EVENT:
		err = tell(reading, YAML_LIST, depth, false, NULL);
		return err ? err : read_list(reading, depth);
	case YAML_MAPPING_START_EVENT:
		err = tell(reading, YAML_MAPPING, depth, false, NULL);
		return err ? err : read_mapping(reading, depth);
	default:
		return tell(reading, YAML_TEXT, depth, false, event);
	}
}

/* Reads a stream of at most one document. */
static int read_stream(struct reading *reading)
{
	size_t documents = 0;

	for (;;) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {0};
		int err = next_event(reading, &event);

		if (err || event.type == YAML_STREAM_END_EVENT)
			return err;
		switch (event.type) {
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			if (documents++)
				err = complain(reading, "the file has a second document");
			break;
		default:
			err = read_node(reading, &event, 0);
		}
		if (err)
			return err;
	}
}

int yaml_read(const char *bytes, size_t len, yaml_value_fn *fn, void *ctx, int *ret_line,
              char ret_why[YAML_WHY_BYTES])
{
	_cleanup_(yaml_parser_delete) yaml_parser_t parser;
	struct reading reading = {
		.parser = &parser,
		.fn = fn,
		.ctx = ctx,
		.line = 1,
		.why = ret_why,
	};
	int err;

	ret_why[0] = '\0';
	if (!yaml_parser_initialize(&parser)) {
		memset(&parser, 0, sizeof(parser));
		return -ENOMEM;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
	err = read_stream(&reading);
	*ret_line = reading.line;
	return err;
}
