/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table, and the operations on its rows.
 */
#include "settings.h"

#include "base/clock.h"
#include "base/text.h"
#include "export/exporter.h"
#include "http/listen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD_BYTES = 160, MAX_NAME_BYTES = 64, MAX_SETTING_PATH_BYTES = 160 };

#define SETTING(key, name, argument, kind, field, initial, min, max, live, accepted, help, more) \
	{key,  name,     argument, kind, offsetof(struct config, field), initial, min, max,      \
	 live, accepted, help,     more},
const struct setting settings[SETTING_COUNT] = {SETTINGS(SETTING)};
#undef SETTING

const struct setting *setting_find(const char *name)
{
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

static uint64_t *number_of(struct config *config, const struct setting *setting)
{
	return (uint64_t *)(void *)((char *)config + setting->offset);
}

static uint64_t number(const struct config *config, const struct setting *setting)
{
	return *(const uint64_t *)(const void *)((const char *)config + setting->offset);
}

/* For settings that are kept as text. */
static const char **text_field(struct config *config, const struct setting *setting)
{
	return (const char **)(void *)((char *)config + setting->offset);
}

static const char *text_value(const struct config *config, const struct setting *setting)
{
	return *(const char *const *)(const void *)((const char *)config + setting->offset);
}

static int set_address(struct config *config, const char *text)
{
	struct listen_address address;

	if (config->listen_count >= MAX_LISTENERS || listen_parse(text, &address) < 0)
		return -EINVAL;
	config->listen[config->listen_count++] = text;
	return 0;
}

static bool is_url(struct text word)
{
	static const char *const schemes[] = {"http://", "https://"};
	size_t len = (size_t)(word.end - word.at);

	for (size_t i = 0; i < 2; i++)
		if (len > strlen(schemes[i]) && !memcmp(word.at, schemes[i], strlen(schemes[i])))
			return len <= MAX_WORD_BYTES;
	return false;
}

static bool is_letter_or_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_host(struct text word)
{
	for (const char *at = word.at; at < word.end; at++)
		if (!is_letter_or_digit(*at) && *at != '-' && *at != '_' && *at != '.')
			return false;
	return word.end - word.at <= MAX_WORD_BYTES;
}

static int set_words(const struct setting *setting, struct config *config, const char *text)
{
	struct text rest = text_of(text, strlen(text)), word;

	while (text_word(&rest, &word))
		if (setting->kind == SETTING_URLS ? !is_url(word) : !is_host(word))
			return -EINVAL;
	*text_field(config, setting) = text[0] ? text : NULL;
	return 0;
}

/* The names that /etc/group can contain, without those that profd's configuration file cannot. */
static int set_name(const struct setting *setting, struct config *config, const char *text)
{
	if (strlen(text) > MAX_NAME_BYTES)
		return -EINVAL;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at == 0x7f || strchr(":,;#", *at))
			return -EINVAL;
	*text_field(config, setting) = text[0] ? text : NULL;
	return 0;
}

static int set_path(const struct setting *setting, struct config *config, const char *text)
{
	if (strlen(text) > MAX_SETTING_PATH_BYTES)
		return -EINVAL;
	*text_field(config, setting) = text[0] ? text : NULL;
	return 0;
}

static int set_export(const struct setting *setting, struct config *config, const char *text)
{
	const char *place;

	return !text[0] || exporter_find(text, &place) ? set_path(setting, config, text) : -EINVAL;
}

static int read_number(const struct setting *setting, const char *text, uint64_t *ret_value)
{
	switch (setting->kind) {
	case SETTING_DURATION:
		return text_parse_duration(text, ret_value);
	case SETTING_SIZE:
		return text_parse_size(text, ret_value);
	case SETTING_SWITCH:
	case SETTING_YES_NO:
		*ret_value = !strcmp(text, "yes");
		return *ret_value || !strcmp(text, "no") ? 0 : -EINVAL;
	case SETTING_AUTO:
		*ret_value = !strcmp(text, "auto") ? AUTO_CHOOSES : !strcmp(text, "yes");
		return *ret_value || !strcmp(text, "no") ? 0 : -EINVAL;
	default:
		return text_parse_u64(text, setting->min, setting->max, ret_value);
	}
}

int setting_set(const struct setting *setting, struct config *config, const char *text)
{
	uint64_t value = 0;

	switch (setting->kind) {
	case SETTING_ADDRESSES:
		return set_address(config, text);
	case SETTING_URLS:
	case SETTING_HOSTS:
		return set_words(setting, config, text);
	case SETTING_NAME:
		return set_name(setting, config, text);
	case SETTING_PATH:
		return set_path(setting, config, text);
	case SETTING_EXPORT:
		return set_export(setting, config, text);
	default:
		break;
	}
	if (read_number(setting, text, &value) < 0 || value < setting->min || value > setting->max)
		return -EINVAL;
	*number_of(config, setting) = value;
	return 0;
}

void settings_default(struct config *ret_config)
{
	*ret_config = (struct config){0};
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].kind != SETTING_ADDRESSES)
			setting_set(&settings[i], ret_config, settings[i].initial);
}

void setting_copy(const struct setting *setting, struct config *to, const struct config *from)
{
	switch (setting->kind) {
	case SETTING_ADDRESSES:
		memcpy(to->listen, from->listen, sizeof(to->listen));
		to->listen_count = from->listen_count;
		break;
	case SETTING_URLS:
	case SETTING_HOSTS:
	case SETTING_NAME:
	case SETTING_PATH:
	case SETTING_EXPORT:
		*text_field(to, setting) = text_value(from, setting);
		break;
	default:
		*number_of(to, setting) = number(from, setting);
	}
}

bool setting_equal(const struct setting *setting, const struct config *a, const struct config *b)
{
	const char *one, *other;

	switch (setting->kind) {
	case SETTING_ADDRESSES:
		for (size_t i = 0; i < a->listen_count && i < b->listen_count; i++)
			if (strcmp(a->listen[i], b->listen[i]) != 0)
				return false;
		return a->listen_count == b->listen_count;
	case SETTING_URLS:
	case SETTING_HOSTS:
	case SETTING_NAME:
	case SETTING_PATH:
	case SETTING_EXPORT:
		one = text_value(a, setting);
		other = text_value(b, setting);
		return !strcmp(one ? one : "", other ? other : "");
	default:
		return number(a, setting) == number(b, setting);
	}
}

/* Uses the largest unit in which the value is an integer. */
static void print_scaled(uint64_t value, const uint64_t *units, const char *const *names,
                         char buffer[SETTING_TEXT_BYTES])
{
	while (*units > 1 && value % *units != 0) {
		units++;
		names++;
	}
	snprintf(buffer, SETTING_TEXT_BYTES, "%" PRIu64 "%s", value / *units, *names);
}

static bool has_words(const struct setting *setting)
{
	return setting->kind == SETTING_URLS || setting->kind == SETTING_HOSTS;
}

bool setting_is_list(const struct setting *setting)
{
	return setting->kind == SETTING_ADDRESSES || has_words(setting);
}

bool setting_is_text(const struct setting *setting)
{
	return setting->kind == SETTING_NAME || has_words(setting);
}

const char *setting_words(const struct setting *setting, const struct config *config)
{
	return has_words(setting) ? text_value(config, setting) : NULL;
}

/* The `i`th word, or "". */
static const char *word_text(const char *words, size_t i, char buffer[SETTING_TEXT_BYTES])
{
	struct text rest = text_of(words ? words : "", words ? strlen(words) : 0), word;

	buffer[0] = '\0';
	for (size_t n = 0; n <= i; n++)
		if (!text_word(&rest, &word))
			return buffer;
	snprintf(buffer, SETTING_TEXT_BYTES, "%.*s", (int)(word.end - word.at), word.at);
	return buffer;
}

size_t setting_count(const struct setting *setting, const struct config *config)
{
	const char *words = setting_words(setting, config);
	char buffer[SETTING_TEXT_BYTES];
	size_t count = 1;

	if (setting->kind == SETTING_ADDRESSES)
		return config->listen_count;
	while (words && word_text(words, count, buffer)[0])
		count++;
	return count;
}

const char *setting_text(const struct setting *setting, const struct config *config, size_t i,
                         char buffer[SETTING_TEXT_BYTES])
{
	static const uint64_t bytes[] = {GIB, MIB, 1024, 1};
	static const char *const byte_names[] = {"GiB", "MiB", "KiB", ""};
	static const uint64_t times[] = {60 * NSEC_PER_SEC, NSEC_PER_SEC, NSEC_PER_MSEC, 1};
	static const char *const time_names[] = {"m", "s", "ms", "ns"};

	switch (setting->kind) {
	case SETTING_ADDRESSES:
		return config->listen[i];
	case SETTING_URLS:
	case SETTING_HOSTS:
		return word_text(text_value(config, setting), i, buffer);
	case SETTING_NAME:
	case SETTING_PATH:
	case SETTING_EXPORT:
		return text_value(config, setting) ? text_value(config, setting) : "";
	case SETTING_SWITCH:
	case SETTING_YES_NO:
		return number(config, setting) ? "yes" : "no";
	case SETTING_AUTO:
		if (number(config, setting) == AUTO_CHOOSES)
			return "auto";
		return number(config, setting) ? "yes" : "no";
	case SETTING_SIZE:
		print_scaled(number(config, setting), bytes, byte_names, buffer);
		break;
	case SETTING_DURATION:
		print_scaled(number(config, setting), times, time_names, buffer);
		break;
	case SETTING_NUMBER:
		snprintf(buffer, SETTING_TEXT_BYTES, "%" PRIu64, number(config, setting));
		break;
	}
	return buffer;
}
