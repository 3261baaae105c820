/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sets, evaluates and prints findings.
 */
#include "doctor/finding.h"

#include "base/text.h"
#include "http/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STATE(name, meaning) #name,
static const char *const state_names[FINDING_STATE_COUNT] = {FINDING_STATES(STATE)};
#undef STATE

/* The other control characters that terminals know are two bytes of UTF-8. */
static bool is_control(const char *text)
{
	unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];

	return first < ' ' || first == 0x7f || (first == 0xc2 && second >= 0x80 && second < 0xa0);
}

static void make_printable(char *text)
{
	size_t len = strlen(text), valid = 0;

	while ((valid += text_utf8_prefix(text + valid, len - valid)) < len)
		text[valid++] = '?';
	for (; *text; text++)
		if (is_control(text)) {
			if ((unsigned char)text[0] == 0xc2)
				text[1] = '?';
			text[0] = '?';
		}
}

__attribute__((format(printf, 2, 0))) static void print_value(struct finding *finding,
                                                              const char *format, va_list arguments)
{
	vsnprintf(finding->value, sizeof(finding->value), format, arguments);
	make_printable(finding->value);
}

void finding_good(struct finding *finding, const char *format, ...)
{
	va_list arguments;

	finding->state = FINDING_good;
	finding->fix[0] = '\0';
	va_start(arguments, format);
	print_value(finding, format, arguments);
	va_end(arguments);
}

void finding_bad(struct finding *finding, enum finding_state state, const char *fix,
                 const char *format, ...)
{
	va_list arguments;

	finding->state = state;
	snprintf(finding->fix, sizeof(finding->fix), "%s", fix);
	make_printable(finding->fix);
	va_start(arguments, format);
	print_value(finding, format, arguments);
	va_end(arguments);
}

int findings_status(const struct finding *findings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (findings[i].needed && findings[i].state == FINDING_missing)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

void findings_text(const struct finding *findings, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct finding *finding = &findings[i];

		buf_printf(out, "%-8s %-18s %s%s%s\n", state_names[finding->state], finding->check,
		           finding->value, finding->fix[0] ? ". " : "", finding->fix);
	}
}

static json_t *finding_json(const struct finding *finding)
{
	const char *fix = finding->fix[0] ? finding->fix : NULL;

	return json_pack("{s:s, s:s, s:o, s:o}", "check", finding->check, "state",
	                 state_names[finding->state], "value",
	                 json_text(finding->value, strlen(finding->value)), "fix",
	                 fix ? json_text(fix, strlen(fix)) : json_null());
}

int findings_json(const struct finding *findings, size_t count, struct buf *out)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, finding_json(&findings[i]))) {
			json_decref(list);
			return -ENOMEM;
		}
	return json_write(list, out);
}
