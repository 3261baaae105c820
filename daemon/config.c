/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Settings: one table, from which the options, their bounds, defaults and --help are made.
 */
#include "config.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/listen.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* argp prints these for --version and --help. */
const char *argp_program_version = "profd " PROFD_VERSION;

enum kind { KIND_ADDRESSES, KIND_TEXT, KIND_FLAG, KIND_NUMBER, KIND_DURATION, KIND_SIZE };

#define GIB (1024ULL * 1024 * 1024)
#define MIB (1024ULL * 1024)

/* SETTING(key, name, argument, kind, field, default, min, max, accepted, help) */
#define SETTINGS(SETTING)                                                                         \
	SETTING('l', "listen", "ADDR:PORT|unix:PATH", KIND_ADDRESSES, listen_count, 0, 0,         \
	        MAX_LISTENERS,                                                                    \
	        "ADDR:PORT with a numeric address, [ADDR6]:PORT, :PORT or unix:PATH, at most 8 "  \
	        "of them",                                                                        \
	        "Where to answer HTTP; may be repeated (default 127.0.0.1:9090)")                 \
	SETTING('f', "freq", "HZ", KIND_NUMBER, sample_hz, 99, 1, MAX_SAMPLE_HZ,                  \
	        "an integer from 1 to 1000", "Samples per second and CPU (default 99)")           \
	SETTING('k', "history", "DURATION", KIND_DURATION, history_ns, 600 * NSEC_PER_SEC,        \
	        10 * NSEC_PER_SEC, MAX_CAPTURE_SECONDS * NSEC_PER_SEC,                            \
	        "a duration from 10s to 10m, such as 90s or 5m",                                  \
	        "How far back the past is kept (default 10m)")                                    \
	SETTING('m', "history-memory", "SIZE", KIND_SIZE, history_bytes, 64 * MIB, MIB, 4 * GIB,  \
	        "a size from 1MiB to 4GiB, such as 64MiB",                                        \
	        "How much memory the past may take (default 64MiB)")                              \
	SETTING('u', "unwind-memory", "SIZE", KIND_SIZE, unwind_bytes, 48 * MIB, 4 * MIB,         \
	        256 * MIB, "a size from 4MiB to 256MiB, such as 48MiB",                           \
	        "How much kernel memory unwind tables may take (default 48MiB)")                  \
	SETTING('s', "symbol-memory", "SIZE", KIND_SIZE, symbol_bytes, 128 * MIB, 16 * MIB,       \
	        4 * GIB, "a size from 16MiB to 4GiB, such as 128MiB",                             \
	        "How much memory names, source lines and what they are read from may take "       \
	        "(default 128MiB)")                                                               \
	SETTING('d', "debuginfod", "URLS", KIND_TEXT, debuginfod, 0, 0, 0,                        \
	        "a list of http:// and https:// URLs, separated by blanks,",                      \
	        "Fetch debug files that this host lacks from these servers (default: from none)") \
	SETTING('v', "verbose", NULL, KIND_FLAG, verbose, 0, 0, 1, "nothing",                     \
	        "Log more, for finding out what goes wrong")

struct setting {
	int key;
	const char *name, *argument;
	enum kind kind;
	size_t offset;
	uint64_t initial, min, max;
	const char *accepted;
};

#define SETTING(key, name, argument, kind, field, initial, min, max, accepted, help) \
	{key, name, argument, kind, offsetof(struct config, field), initial, min, max, accepted},
static const struct setting settings[] = {SETTINGS(SETTING)};
#undef SETTING

#define SETTING(key, name, argument, kind, field, initial, min, max, accepted, help) \
	{name, key, argument, 0, help, 0},
static const struct argp_option options[] = {SETTINGS(SETTING){0}};
#undef SETTING

enum { SETTING_COUNT = sizeof(settings) / sizeof(settings[0]) };

struct parse {
	struct config config;
	bool serve;
	char *why;
};

static uint64_t *field_of(struct config *config, const struct setting *setting)
{
	return (uint64_t *)(void *)((char *)config + setting->offset);
}

static const char **text_of_setting(struct config *config, const struct setting *setting)
{
	return (const char **)(void *)((char *)config + setting->offset);
}

static int add_address(struct config *config, const char *text)
{
	struct listen_address address;

	if (config->listen_count >= MAX_LISTENERS || listen_parse(text, &address) < 0)
		return -EINVAL;
	config->listen[config->listen_count++] = text;
	return 0;
}

static int add_text(const char **field, const char *text)
{
	if (strncmp(text, "http://", strlen("http://")) != 0 &&
	    strncmp(text, "https://", strlen("https://")) != 0)
		return -EINVAL;
	*field = text;
	return 0;
}

static int read_value(const struct setting *setting, const char *text, uint64_t *ret_value)
{
	uint64_t value = 1;
	int err = 0;

	switch (setting->kind) {
	case KIND_NUMBER:
		err = text_parse_u64(text, setting->min, setting->max, &value);
		break;
	case KIND_DURATION:
		err = text_parse_duration(text, &value);
		break;
	case KIND_SIZE:
		err = text_parse_size(text, &value);
		break;
	case KIND_FLAG:
	case KIND_ADDRESSES:
	case KIND_TEXT:
		break;
	}
	if (err || value < setting->min || value > setting->max)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static error_t set(struct parse *parse, const struct setting *setting, const char *text)
{
	int err;

	if (setting->kind == KIND_ADDRESSES)
		err = add_address(&parse->config, text);
	else if (setting->kind == KIND_TEXT)
		err = add_text(text_of_setting(&parse->config, setting), text);
	else
		err = read_value(setting, text, field_of(&parse->config, setting));
	if (!err)
		return 0;
	snprintf(parse->why, 256, "bad --%s %.64s: %s is accepted", setting->name, text,
	         setting->accepted);
	return EINVAL;
}

static error_t on_word(struct parse *parse, const char *word)
{
	if (parse->serve)
		snprintf(parse->why, 256, "unexpected argument \"%.64s\" after serve", word);
	else if (strcmp(word, "serve") != 0)
		snprintf(parse->why, 256,
		         "unknown command \"%.64s\"; the one there is: profd serve", word);
	else
		parse->serve = true;
	return parse->why[0] ? EINVAL : 0;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;

	/* One line is enough: not also "Try --help". */
	if (key == ARGP_KEY_INIT)
		state->err_stream = NULL;
	if (key == ARGP_KEY_ARG)
		return on_word(parse, text);
	if (key == ARGP_KEY_END) {
		if (parse->serve)
			return 0;
		snprintf(parse->why, 256, "no command; try: profd serve, or profd --help");
		return EINVAL;
	}
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].key == key)
			return set(parse, &settings[i], text);
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	.options = options,
	.parser = on_option,
	.args_doc = "serve",
	.doc = "profd - profiles every program of a Linux host, all the time, and serves pprof "
	       "over HTTP\v"
	       "Needs root, or CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, "
	       "CAP_SYSLOG and CAP_CHECKPOINT_RESTORE. GET / lists what can be asked for.",
};

int config_parse(int argc, char **argv, struct config *ret_config, char ret_why[256])
{
	struct parse parse = {.why = ret_why};

	ret_why[0] = '\0';
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].kind != KIND_ADDRESSES && settings[i].kind != KIND_TEXT)
			*field_of(&parse.config, &settings[i]) = settings[i].initial;
	/* An option that does not exist is refused by getopt, which has then said so itself. */
	if (argp_parse(&parser, argc, argv, 0, NULL, &parse) != 0) {
		return -EINVAL;
	}
	if (!parse.config.listen_count)
		parse.config.listen[parse.config.listen_count++] = "127.0.0.1:9090";
	*ret_config = parse.config;
	return 0;
}
