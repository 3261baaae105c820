/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The command line, and how it is combined with the file and the defaults. Options are first read
 * into a separate config, because one of them names the file whose settings they override.
 */
#include "config_load.h"

#include "base/buf.h"
#include "base/log.h"
#include "commands.h"
#include "settings.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* argp prints this for --version and --help. */
const char *argp_program_version = "profd " PROFD_VERSION;

enum { GROUP_COMMANDS = 1, GROUP_SETTINGS, GROUP_APART };
enum { KEY_PORT = 'p' }; /* commonly tried */

#define COMMAND(command, words, help) \
	{words, 0, NULL, OPTION_DOC | OPTION_NO_USAGE, help, GROUP_COMMANDS},
#define SETTING(key, name, argument, kind, field, initial, min, max, live, accepted, help, more) \
	{name, key, argument, 0, help, GROUP_SETTINGS},
#define OPTION(key, name, argument, help) {name, key, argument, 0, help, GROUP_APART},
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Commands:", GROUP_COMMANDS},
	COMMANDS(COMMAND){NULL, 0, NULL, 0, "Settings:", GROUP_SETTINGS},
	SETTINGS(SETTING){NULL, 0, NULL, 0, "Other options:", GROUP_APART},
	OPTIONS(OPTION){"port", KEY_PORT, "N", OPTION_HIDDEN, NULL, 0},
	{0},
};
#undef OPTION
#undef SETTING
#undef COMMAND

struct parse {
	struct config config;
	bool given[SETTING_COUNT];
	const char *file;
	char words[64]; /* the words so far, each after a blank */
	bool complete;  /* the words are a command */
	char *why;
};

static error_t set(struct parse *parse, const struct setting *setting, const char *text)
{
	if (setting->kind == SETTING_SWITCH)
		text = "yes";
	parse->given[setting - settings] = true;
	if (setting_set(setting, &parse->config, text) == 0)
		return 0;
	snprintf(parse->why, 256, "bad --%s %.64s: %s is accepted", setting->name, text,
	         setting->accepted);
	return EINVAL;
}

static void complain_of_words(struct parse *parse)
{
	int len = snprintf(parse->why, 256, "unknown command \"%.60s\": ", parse->words + 1);

	for (size_t i = 0; i < COMMAND_COUNT && len < 256; i++)
		len += snprintf(parse->why + len, 256 - len, "%s%s", commands[i].words,
		                i + 2 < COMMAND_COUNT    ? ", "
		                : i + 2 == COMMAND_COUNT ? " or "
		                                         : "");
	if (len < 256)
		snprintf(parse->why + len, 256 - len, " is accepted");
}

static error_t on_word(struct parse *parse, const char *word)
{
	size_t len = strlen(parse->words);

	if (parse->complete) {
		snprintf(parse->why, 256, "unexpected argument \"%.64s\" after%s", word,
		         parse->words);
		return EINVAL;
	}
	snprintf(parse->words + len, sizeof(parse->words) - len, " %s", word);
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(parse->words + 1, commands[i].words)) {
			parse->config.command = commands[i].command;
			parse->complete = true;
		}
		if (!strncmp(parse->words + 1, commands[i].words, strlen(parse->words + 1)))
			return 0;
	}
	complain_of_words(parse);
	return EINVAL;
}

static error_t on_end(struct parse *parse)
{
	if (!parse->complete)
		snprintf(parse->why, 256, "no command; try: profd serve, or profd --help");
	else if (parse->config.json && parse->config.command != COMMAND_DOCTOR)
		snprintf(parse->why, 256, "only profd doctor accepts --json");
	else
		return 0;
	return EINVAL;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;

	/* Suppresses argp's additional line "Try --help". */
	if (key == ARGP_KEY_INIT)
		state->err_stream = NULL;
	if (key == ARGP_KEY_ARG)
		return on_word(parse, text);
	if (key == ARGP_KEY_END)
		return on_end(parse);
	if (key == KEY_CONFIG)
		parse->file = text;
	if (key == KEY_JSON)
		parse->config.json = true;
	if (key == KEY_PORT) {
		snprintf(parse->why, 256, "there is no option --port; use --listen 127.0.0.1:%.64s",
		         text);
		return EINVAL;
	}
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].key == key)
			return set(parse, &settings[i], text);
	return key == KEY_CONFIG || key == KEY_JSON ? 0 : ARGP_ERR_UNKNOWN;
}

/* argp calls this for each text before it prints it, and frees the result if it is another text. */
static char *with_default(int key, const char *help, void *input)
{
	char *text;

	(void)input;
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].key == key && settings[i].argument && settings[i].initial[0] &&
		    asprintf(&text, "%s (default %s)", help, settings[i].initial) >= 0)
			return text;
	return (char *)(uintptr_t)help;
}

#define COMMAND(command, words, help) "\n" words
static const struct argp parser = {
	.options = options,
	.parser = on_option,
	.args_doc = &COMMANDS(COMMAND)[1],
	.doc = "profd - profiles every program of a Linux host continuously, and serves pprof over "
	       "HTTP\v"
	       "`serve` needs root, or CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, "
	       "CAP_SYSLOG and CAP_CHECKPOINT_RESTORE. GET / lists the endpoints. See also "
	       "profd(1), profd(8) and profd.conf(5).",
	.help_filter = with_default,
};
#undef COMMAND

static int read_file(struct config *config, const char *path, bool must_be, char why[256])
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct stat stat_buf;
	int err = stat(path, &stat_buf) ? -errno : 0;

	/* A pipe would be empty on the second reading, or block the daemon. */
	if (!err && (S_ISFIFO(stat_buf.st_mode) || S_ISSOCK(stat_buf.st_mode))) {
		snprintf(why, 256, "cannot read %.160s: it is a pipe or a socket", path);
		return -EBADMSG;
	}
	if (!err)
		err = buf_read_file(&text, path, MAX_CONFIG_BYTES);

	if (err == -ENOENT && !must_be)
		return 0;
	if (err) {
		snprintf(why, 256, "cannot read %.160s: %s", path, strerror(-err));
		return -EBADMSG;
	}
	config->file = path;
	if (text.len && memchr(text.data, '\0', text.len)) {
		snprintf(why, 256, "%.160s: the file contains a NUL byte", path);
		return -EBADMSG;
	}
	return config_read(config, path, buf_text(&text), why);
}

int config_load(int argc, char **argv, struct config *ret_config, char ret_why[256])
{
	_cleanup_(config_release) struct config config = {0};
	struct parse parse = {.why = ret_why};
	int err;

	ret_why[0] = '\0';
	/* getopt refuses unknown options and prints the error itself. */
	if (argp_parse(&parser, argc, argv, 0, NULL, &parse) != 0)
		return -EINVAL;
	settings_default(&config);
	err = read_file(&config, parse.file ? parse.file : CONFIG_FILE, parse.file != NULL,
	                ret_why);
	if (err)
		return err;
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (parse.given[i])
			setting_copy(&settings[i], &config, &parse.config);
	if (!config.listen_count)
		setting_set(setting_find("listen"), &config, setting_find("listen")->initial);
	config.command = parse.config.command;
	config.json = parse.config.json;
	config.argc = argc;
	config.argv = argv;
	*ret_config = config;
	config = (struct config){0};
	return 0;
}

int config_show(const struct config *config)
{
	char buffer[SETTING_TEXT_BYTES];

	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		printf("%s# %s\n", i ? "\n" : "", setting->help);
		for (size_t n = 0; n < setting_count(setting, config); n++)
			printf("%s = %s\n", setting->name,
			       setting_text(setting, config, n, buffer));
	}
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

/* Texts belong to the config that was read, so they are copied. */
static int take_over(const struct setting *setting, struct config *config, struct config *now)
{
	char buffer[SETTING_TEXT_BYTES];
	const char *text = setting_words(setting, now);

	if (!setting_is_text(setting)) {
		setting_copy(setting, config, now);
		return 0;
	}
	text = config_keep(config, text ? text : setting_text(setting, now, 0, buffer));
	return text ? setting_set(setting, config, text) : -ENOMEM;
}

void config_reload(struct config *config, config_changed_fn *changed, void *ctx)
{
	_cleanup_(config_release) struct config now = {0};
	char why[256], buffer[SETTING_TEXT_BYTES];
	const char *text;

	if (config_load(config->argc, config->argv, &now, why) < 0) {
		log_error("%s; profd keeps its settings", why);
		return;
	}
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		if (setting_equal(setting, config, &now))
			continue;
		if (!setting->live) {
			log_warning("%s has changed, which requires a restart", setting->name);
			continue;
		}
		if (take_over(setting, config, &now) < 0) {
			log_error("out of memory; %s keeps its value", setting->name);
			continue;
		}
		text = setting_text(setting, config, 0, buffer);
		log_info("%s is %s now", setting->name, text[0] ? text : "not set");
		changed(config, ctx);
	}
}
