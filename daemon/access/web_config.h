/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct web_config - which clients may send requests and how connections are protected, as a YAML
 * file states it in the form of web.config.yml of the Prometheus exporters:
 * https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md
 *
 * The file is read strictly: a setting that is unknown, or not supported by profd, is an error with
 * its line. Pure; any thread. Whether the files that it names can be used is checked by the code
 * that reads these files.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KEY(section, name, reader): the reader is a function of web_config.c. */
#define WEB_KEYS(KEY)                                             \
	KEY(tls_server_config, cert, text)                        \
	KEY(tls_server_config, key, text)                         \
	KEY(tls_server_config, client_ca, text)                   \
	KEY(tls_server_config, cert_file, text)                   \
	KEY(tls_server_config, key_file, text)                    \
	KEY(tls_server_config, client_ca_file, text)              \
	KEY(tls_server_config, client_auth_type, client_auth)     \
	KEY(tls_server_config, client_allowed_sans, list)         \
	KEY(tls_server_config, min_version, version)              \
	KEY(tls_server_config, max_version, version)              \
	KEY(tls_server_config, cipher_suites, list)               \
	KEY(tls_server_config, curve_preferences, list)           \
	KEY(tls_server_config, prefer_server_cipher_suites, flag) \
	KEY(http_server_config, http2, no_flag)                   \
	KEY(rate_limit, interval, duration)                       \
	KEY(rate_limit, burst, count)

#define KEY(section, name, reader) WEB_##name,
enum web_key { WEB_KEYS(KEY) WEB_KEY_COUNT };
#undef KEY

/* HEADER(name, values): a header that may be added to answers, and its allowed values; NULL: any
 * value. */
#define WEB_HEADERS(HEADER)                          \
	HEADER("Content-Security-Policy", NULL)      \
	HEADER("X-Frame-Options", "deny sameorigin") \
	HEADER("X-Content-Type-Options", "nosniff")  \
	HEADER("X-XSS-Protection", NULL)             \
	HEADER("Strict-Transport-Security", NULL)

#define HEADER(name, values) +1
enum { WEB_HEADER_COUNT = 0 WEB_HEADERS(HEADER) };
#undef HEADER

extern const char *const web_header_names[WEB_HEADER_COUNT];

/* In ascending order of strictness. */
enum client_auth {
	CLIENT_AUTH_NONE,     /* NoClientCert */
	CLIENT_AUTH_REQUEST,  /* RequestClientCert: any certificate will do */
	CLIENT_AUTH_ANY,      /* RequireAnyClientCert: any certificate will do */
	CLIENT_AUTH_IF_GIVEN, /* VerifyClientCertIfGiven */
	CLIENT_AUTH_VERIFY,   /* RequireAndVerifyClientCert */
};

struct web_item {
	const char *text;
	int line;
};

struct web_list {
	struct web_item items[MAX_WEB_ITEMS];
	size_t count;
};

struct web_user {
	const char *name;
	const char *hash; /* bcrypt; the form has been checked */
};

struct web_config {
	const char *texts[WEB_KEY_COUNT]; /* of keys that are texts; NULL: absent */
	uint64_t numbers[WEB_KEY_COUNT];  /* of the others; durations in ns, versions 12 and 13 */
	int lines[WEB_KEY_COUNT];         /* 0: absent */
	struct web_list client_allowed_sans, cipher_suites, curve_preferences;
	bool tls; /* tls_server_config is not empty */
	int tls_line;
	const char *headers[WEB_HEADER_COUNT]; /* NULL: not added */
	struct web_user *users;
	size_t user_count;

	char **kept; /* what the members above point to */
	size_t kept_count;
};

enum { WEB_WHY_BYTES = 200 };

/* -EINVAL with `why`, which begins with the line number ("3: there is no ..."); -ENOMEM, also with
 * `why`. */
int web_config_read(struct web_config *ret_config, const char *bytes, size_t len,
                    char ret_why[WEB_WHY_BYTES]);
void web_config_release(struct web_config *config); /* wipes secrets */
/* A name such as "RequireAndVerifyClientCert". */
const char *client_auth_name(enum client_auth auth);
