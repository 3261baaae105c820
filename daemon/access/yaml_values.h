/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The values of a YAML file of settings, one at a time, each with the keys that lead to it and its
 * line. Only what settings need is supported: mappings three levels deep, lists of texts, texts.
 * Anchors, aliases and tags are refused, so nothing expands beyond the size of the text. Pure; any
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { YAML_MAX_DEPTH = 3 };

enum yaml_kind {
	YAML_TEXT,
	YAML_LIST,    /* its items follow, as texts */
	YAML_MAPPING, /* its values follow */
};

struct yaml_value {
	enum yaml_kind kind;
	const char *keys[YAML_MAX_DEPTH]; /* outermost first */
	size_t depth;                     /* number of keys; 0: the file itself */
	const char *text;                 /* contains no NUL byte; NULL: not a text */
	bool nothing;                     /* the text means no value: empty, ~ or null */
	bool item;                        /* the value is an item of a list */
	int line;
};

enum { YAML_WHY_BYTES = 160 };

/* 0, or -EINVAL with `why`, which ends the reading. What the value points to is valid during the
 * call only. */
typedef int yaml_value_fn(const struct yaml_value *value, void *ctx, char why[YAML_WHY_BYTES]);

/* 0; -EINVAL with the line and why; -ENOMEM. An empty file has no values. */
int yaml_read(const char *bytes, size_t len, yaml_value_fn *fn, void *ctx, int *ret_line,
              char ret_why[YAML_WHY_BYTES]);
