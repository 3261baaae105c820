/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_name.h"

#include <string.h>

static bool skip_prefix(struct text *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, prefix, len) != 0)
		return false;
	text->at += len;
	return true;
}

static bool begins_with(struct text text, const char *prefix)
{
	return skip_prefix(&text, prefix);
}

/* Takes ":NUMBER" off the end. */
static bool cut_number(struct text *text, uint32_t *ret_number)
{
	const char *colon = memrchr(text->at, ':', (size_t)(text->end - text->at));
	struct text digits = {colon ? colon + 1 : text->end, text->end};
	uint64_t number;

	if (!text_decimal(&digits, &number) || digits.at < digits.end || number > UINT32_MAX)
		return false;
	text->end = colon;
	*ret_number = (uint32_t)number;
	return true;
}

/* The space between a function's name and its script. Both may have spaces: the script begins at
 * the first one behind which something begins as scripts do, or else at the first one. */
static const char *find_script(struct text text)
{
	static const char *const begins[] = {" /", " file:", " node:", " http:", " https:"};
	const char *first = NULL;

	for (; text.at < text.end; text.at++) {
		if (*text.at != ' ')
			continue;
		first = first ?: text.at;
		for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
			if (begins_with(text, begins[i]))
				return text.at;
	}
	return first;
}

static bool split_v8(struct text name, struct jit_name *ret_name)
{
	static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
	static const char anonymous[] = "(anonymous)";
	struct jit_name split = {0};
	const char *space;
	uint32_t column;
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(kinds[0]) && !skip_prefix(&name, kinds[i]))
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return false;
	if (name.at < name.end && strchr("~^+*", *name.at))
		name.at++;
	if (!cut_number(&name, &column) || !cut_number(&name, &split.line))
		return false;
	space = find_script(name);
	if (!space)
		return false;
	split.function = (struct text){name.at, space};
	split.file = (struct text){space + 1, name.end};
	skip_prefix(&split.file, "file://");
	if (split.function.at == split.function.end)
		split.function = text_of(anonymous, strlen(anonymous));
	*ret_name = split;
	return true;
}

static bool split_python(struct text name, struct jit_name *ret_name)
{
	const char *colon;

	if (!skip_prefix(&name, "py::"))
		return false;
	colon = memchr(name.at, ':', (size_t)(name.end - name.at));
	if (!colon || colon == name.at)
		return false;
	*ret_name = (struct jit_name){
		.function = {name.at, colon},
		.file = {colon + 1, name.end},
		.is_trampoline = true,
	};
	return true;
}

struct jit_name jit_name_split(struct text name)
{
	struct jit_name split = {.function = name, .file = {name.end, name.end}};

	if (!split_v8(name, &split))
		split_python(name, &split);
	return split;
}
