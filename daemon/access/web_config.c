/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The meaning of each value of the file, and which values go together.
 */
#include "access/web_config.h"

#include "access/yaml_values.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse {
	struct web_config *config;
	enum web_key key; /* the key being read */
	char *why;
};

#define HEADER(name, values) name,
const char *const web_header_names[WEB_HEADER_COUNT] = {WEB_HEADERS(HEADER)};
#undef HEADER

#define HEADER(name, values) values,
static const char *const header_values[WEB_HEADER_COUNT] = {WEB_HEADERS(HEADER)};
#undef HEADER

static const struct {
	const char *name;
	enum client_auth auth;
} client_auths[] = {
	{"NoClientCert", CLIENT_AUTH_NONE},
	{"RequestClientCert", CLIENT_AUTH_REQUEST},
	{"RequireAnyClientCert", CLIENT_AUTH_ANY},
	{"VerifyClientCertIfGiven", CLIENT_AUTH_IF_GIVEN},
	{"RequireAndVerifyClientCert", CLIENT_AUTH_VERIFY},
	/* The former name of RequireAnyClientCert. */
	{"RequireClientCert", CLIENT_AUTH_ANY},
};

enum { CLIENT_AUTH_NAMES = sizeof(client_auths) / sizeof(client_auths[0]) };

const char *client_auth_name(enum client_auth auth)
{
	return client_auths[auth].name;
}

__attribute__((format(printf, 2, 3))) static int complain(struct parse *parse, const char *format,
                                                          ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(parse->why, YAML_WHY_BYTES, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Makes a copy that lives as long as the config. */
static const char *keep(struct web_config *config, const char *text)
{
	char **kept = realloc(config->kept, (config->kept_count + 1) * sizeof(*kept));
	char *copy = strdup(text);

	if (kept)
		config->kept = kept;
	if (!kept || !copy) {
		free(copy);
		return NULL;
	}
	return config->kept[config->kept_count++] = copy;
}

static int keep_text(struct parse *parse, const char *text, const char **ret_text)
{
	if (strlen(text) > MAX_WEB_TEXT_BYTES)
		return complain(parse, "longer than %d bytes", MAX_WEB_TEXT_BYTES);
	*ret_text = keep(parse->config, text);
	return *ret_text ? 0 : -ENOMEM;
}

static int read_text(struct parse *parse, const char *text)
{
	if (!text[0])
		return complain(parse, "it is empty");
	return keep_text(parse, text, &parse->config->texts[parse->key]);
}

static int read_client_auth(struct parse *parse, const char *text)
{
	for (size_t i = 0; i < CLIENT_AUTH_NAMES; i++) {
		if (strcmp(client_auths[i].name, text) != 0)
			continue;
		parse->config->numbers[parse->key] = client_auths[i].auth;
		return 0;
	}
	return complain(parse,
	                "%.40s: NoClientCert, RequestClientCert, RequireAnyClientCert, "
	                "VerifyClientCertIfGiven or RequireAndVerifyClientCert",
	                text);
}

static int read_version(struct parse *parse, const char *text)
{
	bool older = !strcmp(text, "TLS11") || !strcmp(text, "TLS10");

	if (strcmp(text, "TLS12") != 0 && strcmp(text, "TLS13") != 0)
		return complain(parse, "%.20s%s: TLS12 or TLS13 is accepted", text,
		                older ? " is not safe" : "");
	parse->config->numbers[parse->key] = text[4] == '3' ? 13 : 12;
	return 0;
}

/* The words of YAML 1.1 that Go's reader also accepts. */
static int read_flag(struct parse *parse, const char *text)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], text) != 0)
			continue;
		parse->config->numbers[parse->key] = i % 2;
		return 0;
	}
	return complain(parse, "%.20s: true or false is accepted", text);
}

static int read_no_flag(struct parse *parse, const char *text)
{
	int err = read_flag(parse, text);

	if (!err && parse->config->numbers[parse->key])
		return complain(parse, "profd serves only HTTP/1.1: false is accepted");
	return err;
}

static int read_duration(struct parse *parse, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	/* A bare number would be nanoseconds in Go and seconds in profd. */
	if ((!text[digits] && strcmp(text, "0") != 0) ||
	    text_parse_duration(text, &parse->config->numbers[parse->key]) < 0)
		return complain(parse, "%.20s: a duration such as 1s or 200ms, or 0, is accepted",
		                text);
	return 0;
}

static int read_count(struct parse *parse, const char *text)
{
	if (text_parse_u64(text, 0, UINT32_MAX, &parse->config->numbers[parse->key]) < 0)
		return complain(parse, "%.20s: a number is accepted", text);
	return 0;
}

static struct web_list *list_of(struct web_config *config, enum web_key key)
{
	if (key == WEB_client_allowed_sans)
		return &config->client_allowed_sans;
	return key == WEB_cipher_suites ? &config->cipher_suites : &config->curve_preferences;
}

/* Reads one item of a list. */
static int read_list(struct parse *parse, const char *text)
{
	struct web_list *list = list_of(parse->config, parse->key);

	if (list->count >= MAX_WEB_ITEMS)
		return complain(parse, "more than %d items", MAX_WEB_ITEMS);
	return keep_text(parse, text, &list->items[list->count].text);
}

#define KEY(section, name, reader) {#section, #name, read_##reader},
static const struct {
	const char *section, *name;
	int (*read)(struct parse *parse, const char *text);
} keys[WEB_KEY_COUNT] = {WEB_KEYS(KEY)};
#undef KEY

static int on_key(struct parse *parse, const struct yaml_value *value)
{
	struct web_config *config = parse->config;
	bool list = keys[parse->key].read == read_list;
	int err;

	if (!value->item && config->lines[parse->key])
		return complain(parse, "it is set a second time");
	if (!value->item)
		config->lines[parse->key] = value->line;
	if (value->kind == YAML_LIST && list)
		return 0;
	if (value->nothing && !value->item)
		return 0;
	if (value->kind != YAML_TEXT || value->item != list)
		return complain(parse, list ? "a list is accepted" : "one value is accepted");
	err = keys[parse->key].read(parse, value->text);
	if (!err && list) {
		struct web_list *items = list_of(config, parse->key);

		items->items[items->count++].line = value->line;
	}
	return err;
}

/* The form is that of crypt(5): $2b$, the cost, and 53 characters of salt and hash. */
static int check_hash(struct parse *parse, const char *hash)
{
	static const char alphabet[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	uint64_t cost;
	char digits[3];

	if (strlen(hash) != 60 || hash[0] != '$' || hash[1] != '2' || !strchr("aby", hash[2]) ||
	    hash[3] != '$' || hash[6] != '$' || strspn(hash + 7, alphabet) != 53)
		return complain(parse, "not a bcrypt hash; htpasswd -nBC 10 \"\" makes one");
	snprintf(digits, sizeof(digits), "%.2s", hash + 4);
	if (text_parse_u64(digits, 4, MAX_BCRYPT_COST, &cost) < 0)
		return complain(parse, "a cost of %s: 04 to %d is accepted", digits,
		                MAX_BCRYPT_COST);
	return 0;
}

static int on_user(struct parse *parse, const struct yaml_value *value)
{
	struct web_config *config = parse->config;
	struct web_user user = {0}, *users;
	int err;

	if (value->kind != YAML_TEXT)
		return complain(parse, "a user has one hash");
	/* A colon ends the name in basic authentication. */
	if (!value->keys[1][0] || strchr(value->keys[1], ':'))
		return complain(parse, "a user's name must not be empty or have a colon");
	for (size_t i = 0; i < config->user_count; i++)
		if (!strcmp(config->users[i].name, value->keys[1]))
			return complain(parse, "the user is set a second time");
	if (config->user_count >= MAX_WEB_USERS)
		return complain(parse, "more than %d users", MAX_WEB_USERS);
	err = check_hash(parse, value->text);
	if (!err)
		err = keep_text(parse, value->keys[1], &user.name);
	if (!err)
		err = keep_text(parse, value->text, &user.hash);
	if (err)
		return err;
	users = realloc(config->users, (config->user_count + 1) * sizeof(*users));
	if (!users)
		return -ENOMEM;
	config->users = users;
	config->users[config->user_count++] = user;
	return 0;
}

static bool is_word_of(const char *words, const char *text)
{
	struct text rest = text_of(words, strlen(words)), word;

	while (text_word(&rest, &word))
		if (text_equals(word, text))
			return true;
	return false;
}

static int on_header(struct parse *parse, const struct yaml_value *value)
{
	const char *name = value->keys[2];
	size_t i = 0;

	while (i < WEB_HEADER_COUNT && strcmp(web_header_names[i], name) != 0)
		i++;
	if (i == WEB_HEADER_COUNT)
		return complain(parse, "the header %.40s cannot be set", name);
	if (value->kind != YAML_TEXT)
		return complain(parse, "a header has one value");
	if (parse->config->headers[i])
		return complain(parse, "it is set a second time");
	if (!value->text[0])
		return 0;
	for (const char *at = value->text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return complain(parse, "a header is one line");
	if (header_values[i] && !is_word_of(header_values[i], value->text))
		return complain(parse, "%.20s: one of %s is accepted", value->text,
		                header_values[i]);
	return keep_text(parse, value->text, &parse->config->headers[i]);
}

/* Checks a section as a whole; it may be empty. */
static int on_section(struct parse *parse, const struct yaml_value *value)
{
	bool known = !strcmp(value->keys[0], "basic_auth_users");

	for (size_t i = 0; i < WEB_KEY_COUNT; i++)
		known |= !strcmp(keys[i].section, value->keys[0]);
	if (!known)
		return complain(parse, "there is no such section");
	if (value->kind != YAML_MAPPING && !value->nothing)
		return complain(parse, "keys and their values are accepted");
	return 0;
}

static int on_inner(struct parse *parse, const struct yaml_value *value)
{
	bool headers =
		!strcmp(value->keys[0], "http_server_config") && !strcmp(value->keys[1], "headers");

	if (!strcmp(value->keys[0], "basic_auth_users"))
		return on_user(parse, value);
	if (headers && value->depth == YAML_MAX_DEPTH)
		return on_header(parse, value);
	if (headers)
		return value->kind == YAML_MAPPING || value->nothing
		               ? 0
		               : complain(parse, "names of headers and their values are accepted");
	for (size_t i = 0; i < WEB_KEY_COUNT; i++) {
		if (strcmp(keys[i].section, value->keys[0]) != 0 ||
		    strcmp(keys[i].name, value->keys[1]) != 0)
			continue;
		parse->key = (enum web_key)i;
		if (!strcmp(keys[i].section, "tls_server_config") && !parse->config->tls) {
			parse->config->tls = true;
			parse->config->tls_line = value->line;
		}
		return on_key(parse, value);
	}
	return complain(parse, "there is no such key");
}

/* Reads one value, and prefixes an error's text with the key. */
static int on_value(const struct yaml_value *value, void *ctx, char why[YAML_WHY_BYTES])
{
	struct parse *parse = ctx;
	char what[YAML_WHY_BYTES];
	int err = 0;

	parse->why = why;
	if (value->depth == 0)
		return value->kind == YAML_MAPPING || value->nothing
		               ? 0
		               : complain(parse, "neither a section nor a comment");
	err = value->depth == 1 ? on_section(parse, value) : on_inner(parse, value);
	if (err == -EINVAL) {
		memcpy(what, why, sizeof(what));
		/* The text must not contain a user's name, which may be part of a password. */
		if (value->depth == 1 || !strcmp(value->keys[0], "basic_auth_users"))
			complain(parse, "%.40s: %.110s", value->keys[0], what);
		else
			complain(parse, "%.40s: %.110s", value->keys[value->depth - 1], what);
	}
	return err;
}

/* Checks keys that depend on each other. The line is that of the first key, or of the section. */
static int check_together(const struct web_config *config, int *ret_line, char why[YAML_WHY_BYTES])
{
	const char *const *texts = config->texts;
	const int *lines = config->lines;
	uint64_t auth = config->numbers[WEB_client_auth_type];
	struct parse parse = {.why = why};
	bool ca = texts[WEB_client_ca] || texts[WEB_client_ca_file];

#define REFUSE_IF(condition, at, ...)                         \
	do {                                                  \
		*ret_line = (at);                             \
		if (condition)                                \
			return complain(&parse, __VA_ARGS__); \
	} while (0)
	REFUSE_IF(lines[WEB_burst] && !lines[WEB_interval], lines[WEB_burst],
	          "burst: an interval is required");
	REFUSE_IF(config->numbers[WEB_interval] && !config->numbers[WEB_burst], lines[WEB_interval],
	          "interval: a burst of 1 or more is required");
	if (!config->tls)
		return 0;
	REFUSE_IF(!texts[WEB_cert_file] == !texts[WEB_cert], config->tls_line,
	          "tls_server_config: one of cert_file and cert is required");
	REFUSE_IF(!texts[WEB_key_file] == !texts[WEB_key], config->tls_line,
	          "tls_server_config: one of key_file and key is required");
	REFUSE_IF(texts[WEB_client_ca_file] && texts[WEB_client_ca], lines[WEB_client_ca],
	          "client_ca: client_ca_file is set as well; one is accepted");
	REFUSE_IF(ca && auth == CLIENT_AUTH_NONE, config->tls_line,
	          "tls_server_config: a client CA requires a client_auth_type");
	REFUSE_IF(!ca && auth >= CLIENT_AUTH_IF_GIVEN, lines[WEB_client_auth_type],
	          "client_auth_type: %s requires a client_ca_file",
	          client_auth_name((enum client_auth)auth));
	REFUSE_IF(config->client_allowed_sans.count && auth < CLIENT_AUTH_IF_GIVEN,
	          lines[WEB_client_allowed_sans],
	          "client_allowed_sans: unverified names prove nothing; set client_auth_type: "
	          "RequireAndVerifyClientCert");
	REFUSE_IF(config->numbers[WEB_min_version] > config->numbers[WEB_max_version],
	          lines[WEB_min_version], "min_version: it is above max_version");
#undef REFUSE_IF
	return 0;
}

int web_config_read(struct web_config *ret_config, const char *bytes, size_t len,
                    char ret_why[WEB_WHY_BYTES])
{
	struct web_config config = {0};
	struct parse parse = {.config = &config};
	char why[YAML_WHY_BYTES] = "";
	int line = 1, err = 0;

	config.numbers[WEB_min_version] = 12;
	config.numbers[WEB_max_version] = 13;
	config.numbers[WEB_prefer_server_cipher_suites] = true;
	err = yaml_read(bytes, len, on_value, &parse, &line, why);
	if (!err)
		err = check_together(&config, &line, why);
	if (!err) {
		*ret_config = config;
		return 0;
	}
	snprintf(ret_why, WEB_WHY_BYTES, "%d: %s", line, err == -ENOMEM ? "out of memory" : why);
	web_config_release(&config);
	return err;
}

void web_config_release(struct web_config *config)
{
	for (size_t i = 0; i < config->kept_count; i++) {
		explicit_bzero(config->kept[i], strlen(config->kept[i]));
		free(config->kept[i]);
	}
	free(config->kept);
	free(config->users);
	*config = (struct web_config){0};
}
