/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The values of a YAML file of settings, one by one, each with the keys that lead to it and its
 * line. Only what settings need is understood: mappings three deep, lists of texts, texts. Anchors,
 * aliases and tags are refused, so nothing here grows beyond what is written. Pure; any thread.
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
	const char *keys[YAML_MAX_DEPTH]; /* from the outermost in */
	size_t depth;                     /* how many of them; 0 is the file itself */
	const char *text;                 /* without a NUL byte in it; NULL: not a text */
	bool nothing;                     /* a text that stands for no value: empty, ~ or null */
	bool item;                        /* of a list */
	int line;
};

enum { YAML_WHY_BYTES = 160 };

/* 0, or -EINVAL with `why`, which ends the reading. What the value points to is gone afterwards. */
typedef int yaml_value_fn(const struct yaml_value *value, void *ctx, char why[YAML_WHY_BYTES]);

/* 0; -EINVAL with the line and why; -ENOMEM. A file with nothing in it has no values. */
int yaml_read(const char *bytes, size_t len, yaml_value_fn *fn, void *ctx, int *ret_line,
              char ret_why[YAML_WHY_BYTES]);
