/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The web configuration: what its file means, which errors it has and where, and the names that it
 * has in GnuTLS. IANA's registry has the cipher suites that Go's names stand for.
 */
#include "tests/unit/suites.h"

#include "access/access.h"
#include "access/tls_priority.h"
#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HASH "$2b$04$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG"
#define PAIR "tls_server_config:\n  cert_file: c\n  key_file: k\n"

static const struct {
	const char *text;
	const char *says; /* part of the error; NULL: accepted */
} files[] = {
	{"", NULL},
	{"# nothing\n", NULL},
	{"---\n...\n", NULL},
	{"tls_server_config:\n", NULL},
	{"tls_server_config: {}\nhttp_server_config: ~\nbasic_auth_users: null\n", NULL},
	{PAIR, NULL},
	{PAIR "  client_auth_type: RequireClientCert\n", NULL},
	{PAIR "  client_auth_type:\n", NULL},
	{"{basic_auth_users: {\"a b\": '" HASH "'}}", NULL},
	{"http_server_config:\n  headers:\n    Content-Security-Policy: ''\n", NULL},
	{"rate_limit:\n  interval: 200ms\n  burst: 3\n", NULL},
	{"rate_limit:\n  interval: 0\n", NULL},
	{"a", "1: neither a section"},
	{"- a\n", "1: neither a section"},
	{"a: b\n", "1: a: there is no such section"},
	{"\n\ntls: {}\n", "3: tls: there is no such section"},
	{"basic_auth_users: " HASH "\n", "1: basic_auth_users: keys and their values"},
	{PAIR "  cert_files: x\n", "4: cert_files: there is no such key"},
	{PAIR "  cert_file: x\n", "4: cert_file: it is set a second time"},
	{PAIR "  client_ca_file: [x]\n", "4: client_ca_file: one value"},
	{PAIR "  client_ca_file: {x: y}\n", "4: client_ca_file: one value"},
	{PAIR "  cipher_suites: x\n", "4: cipher_suites: a list"},
	{PAIR "  cipher_suites:\n  - [x]\n", "5: an item of a list must be a text"},
	{PAIR "  min_version: TLS10\n", "4: min_version: TLS10 is not safe: TLS12 or TLS13"},
	{PAIR "  min_version: TLS14\n", "4: min_version: TLS14: TLS12 or TLS13"},
	{PAIR "  min_version: TLS13\n  max_version: TLS12\n", "4: min_version: it is above"},
	{PAIR "  client_auth_type: Yes\n", "4: client_auth_type: Yes: NoClientCert, "},
	{PAIR "  client_auth_type: RequireAndVerifyClientCert\n",
         "4: client_auth_type: RequireAndVerifyClientCert requires a client_ca_file"},
	{PAIR "  client_ca_file: x\n",
         "2: tls_server_config: a client CA requires a client_auth_type"},
	{PAIR "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: [x]\n",
         "5: client_allowed_sans: unverified names"},
	{PAIR "  prefer_server_cipher_suites: 1\n", "4: prefer_server_cipher_suites: 1: true or"},
	{PAIR "  cert: x\n", "2: tls_server_config: one of cert_file and cert"},
	{"tls_server_config:\n  cert_file: c\n", "2: tls_server_config: one of key_file"},
	{"http_server_config:\n  http2: true\n", "2: http2: profd serves only HTTP/1.1"},
	{"http_server_config:\n  headers: x\n", "2: headers: names of headers"},
	{"http_server_config:\n  headers:\n    Server: x\n", "3: Server: the header Server cannot"},
	{"http_server_config:\n  headers:\n    X-Frame-Options: x\n", "one of deny sameorigin"},
	{"http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\r\\nb: c\"\n", "one line"},
	{"http_server_config:\n  headers:\n    X-XSS-Protection: {a: {b: c}}\n", "3: X-XSS"},
	{"rate_limit:\n  burst: 3\n", "2: burst: an interval is required"},
	{"rate_limit:\n  interval: 1s\n", "2: interval: a burst of 1 or more"},
	{"rate_limit:\n  interval: 5\n  burst: 1\n", "2: interval: 5: a duration"},
	{"basic_auth_users:\n  a: " HASH "x\n", "2: basic_auth_users: not a bcrypt hash"},
	{"basic_auth_users:\n  a: $1$saltsalt$2vnaRpHa6Jxjz5n83ok8Z0\n", "not a bcrypt hash"},
	{"basic_auth_users:\n  a: $2x$04$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG\n",
         "not a bcrypt hash"},
	{"basic_auth_users:\n  a: $2b$17$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG\n",
         "a cost of 17: 04 to 16"},
	{"basic_auth_users:\n  a:b: " HASH "\n", "2: basic_auth_users: a user's name"},
	{"basic_auth_users:\n  '': " HASH "\n", "2: basic_auth_users: a user's name"},
	{"basic_auth_users:\n  a: [" HASH "]\n", "2: basic_auth_users: a user has one hash"},
	{"basic_auth_users:\n  a: " HASH "\n  a: " HASH "\n", "3: basic_auth_users: the user is"},
	{"basic_auth_users: &x {}\n", "1: anchors and tags"},
	{"basic_auth_users: *x\n", "1: anchors and aliases"},
	{"basic_auth_users: !!map {}\n", "1: anchors and tags"},
	{"--- {}\n--- {}\n", "2: the file has a second document"},
	{"? {a: b}\n: c\n", "1: a key must be a text"},
	{"a: \"\\0\"\n", "it contains a NUL byte"},
	{"tls_server_config: [\n", "tls_server_config: keys and their values"},
	{"tls_server_config:\n\tcert_file: x\n", "2: "},
	{"\xff\xfe\xff", "1: "},
};

START_TEST(each_file)
{
	struct web_config config;
	char why[WEB_WHY_BYTES] = "";
	int err = web_config_read(&config, files[_i].text, strlen(files[_i].text), why);

	if (!files[_i].says) {
		ck_assert_msg(err == 0, "%s: %s", files[_i].text, why);
		web_config_release(&config);
		return;
	}
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_msg(strstr(why, files[_i].says) != NULL, "%s: %s", files[_i].text, why);
}
END_TEST

START_TEST(what_it_means)
{
	static const char text[] = "tls_server_config:\n"
				   "  cert: |\n    line\n    another\n"
				   "  key_file: /k\n"
				   "  client_ca_file: ca\n"
				   "  client_auth_type: VerifyClientCertIfGiven\n"
				   "  client_allowed_sans: [a, 'b']\n"
				   "  max_version: TLS12\n"
				   "http_server_config: {headers: {X-Frame-Options: sameorigin}}\n"
				   "rate_limit: {interval: 1m, burst: 7}\n"
				   "basic_auth_users: {u: " HASH "}\n";
	struct web_config config;
	char why[WEB_WHY_BYTES];

	ck_assert_int_eq(web_config_read(&config, text, strlen(text), why), 0);
	ck_assert_str_eq(config.texts[WEB_cert], "line\nanother\n");
	ck_assert_ptr_null(config.texts[WEB_cert_file]);
	ck_assert_str_eq(config.texts[WEB_key_file], "/k");
	ck_assert_uint_eq(config.numbers[WEB_client_auth_type], CLIENT_AUTH_IF_GIVEN);
	ck_assert_uint_eq(config.numbers[WEB_min_version], 12);
	ck_assert_uint_eq(config.numbers[WEB_max_version], 12);
	ck_assert_uint_eq(config.numbers[WEB_prefer_server_cipher_suites], 1);
	ck_assert_uint_eq(config.numbers[WEB_interval], 60 * NSEC_PER_SEC);
	ck_assert_uint_eq(config.numbers[WEB_burst], 7);
	ck_assert_uint_eq(config.client_allowed_sans.count, 2);
	ck_assert_str_eq(config.client_allowed_sans.items[1].text, "b");
	ck_assert_uint_eq(config.user_count, 1);
	ck_assert_str_eq(config.users[0].name, "u");
	ck_assert_str_eq(config.users[0].hash, HASH);
	ck_assert(config.tls);
	ck_assert_int_eq(config.tls_line, 2);
	web_config_release(&config);
	ck_assert_str_eq(client_auth_name(CLIENT_AUTH_VERIFY), "RequireAndVerifyClientCert");
}
END_TEST

START_TEST(bounds)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct web_config config;
	char why[WEB_WHY_BYTES];

	buf_add_text(&text, PAIR "  cipher_suites:\n");
	for (int i = 0; i <= MAX_WEB_ITEMS; i++)
		buf_add_text(&text, "  - x\n");
	ck_assert_int_eq(web_config_read(&config, buf_text(&text), text.len, why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "69: cipher_suites: more than 64 items"));
	buf_clear(&text);
	buf_add_text(&text, "basic_auth_users:\n");
	for (int i = 0; i <= MAX_WEB_USERS; i++)
		buf_printf(&text, "  u%d: " HASH "\n", i);
	ck_assert_int_eq(web_config_read(&config, buf_text(&text), text.len, why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "more than 1024 users"));
	buf_clear(&text);
	buf_add_text(&text, PAIR "  client_ca: ");
	for (int i = 0; i <= MAX_WEB_TEXT_BYTES; i++)
		buf_add_char(&text, 'x');
	ck_assert_int_eq(web_config_read(&config, buf_text(&text), text.len, why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "4: client_ca: longer than"));
}
END_TEST

static const struct {
	const char *text;
	const char *suites; /* their numbers; NULL: refused */
} priorities[] = {
	{"", "1301 1302 1303 c02b c02c cca9 c02f c030 cca8 "},
	{"  min_version: TLS13\n", "1301 1302 1303 "},
	/* The enabled versions are another matter: see tests/system. */
	{"  max_version: TLS12\n", "1301 1302 1303 c02b c02c cca9 c02f c030 cca8 "},
	{"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\n", "1302 c030 "},
	{"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
         "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n",
         "1302 1301 c030 c02f "},
	{"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n  max_version: TLS12\n", "c013 "},
	{"  cipher_suites: [TLS_AES_256_GCM_SHA384]\n  min_version: TLS13\n", "1302 "},
	{"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n  min_version: TLS13\n", NULL},
	{"  cipher_suites: [TLS_AES_256_GCM_SHA384]\n  max_version: TLS12\n", NULL},
	{"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
         "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n",
         NULL},
	{"  cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]\n", NULL},
	{"  curve_preferences: [CurveP256, P1]\n", NULL},
	{"  curve_preferences: [CurveP521]\n", "1301 1302 1303 c02b c02c cca9 c02f c030 cca8 "},
};

static void add_suites(struct buf *text, gnutls_priority_t priority)
{
	unsigned int index;

	for (unsigned int i = 0; gnutls_priority_get_cipher_suite_index(priority, i, &index) !=
	                         GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
	     i++) {
		unsigned char id[2];

		if (gnutls_cipher_suite_info(index, id, NULL, NULL, NULL, NULL))
			buf_printf(text, "%02x%02x ", id[0], id[1]);
	}
}

START_TEST(each_priority)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT, suites = BUF_INIT;
	gnutls_priority_t priority = NULL;
	struct web_config config;
	char why[WEB_WHY_BYTES] = "";
	int err;

	buf_printf(&text, PAIR "%s", priorities[_i].text);
	ck_assert_int_eq(web_config_read(&config, buf_text(&text), text.len, why), 0);
	err = tls_priority(&config, &priority, why);
	web_config_release(&config);
	if (!priorities[_i].suites) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_msg(!strncmp(why, "4: c", 4), "%s", why);
		return;
	}
	ck_assert_msg(err == 0, "%s", why);
	add_suites(&suites, priority);
	gnutls_priority_deinit(priority);
	ck_assert_str_eq(buf_text(&suites), priorities[_i].suites);
}
END_TEST

START_TEST(rates)
{
	struct access access = {0};
	uint64_t now_ns = 1000 * NSEC_PER_SEC;

	ck_assert(access_pays(&access, now_ns));
	access.config.numbers[WEB_interval] = NSEC_PER_SEC;
	access.config.numbers[WEB_burst] = 3;
	for (int i = 0; i < 3; i++)
		ck_assert(access_pays(&access, now_ns));
	ck_assert(!access_pays(&access, now_ns));
	ck_assert(!access_pays(&access, now_ns + NSEC_PER_SEC - 1));
	ck_assert(access_pays(&access, now_ns + NSEC_PER_SEC));
	ck_assert(!access_pays(&access, now_ns + NSEC_PER_SEC));
	/* A client that waits for long may make no more requests than the burst. */
	now_ns += 100 * NSEC_PER_SEC;
	for (int i = 0; i < 3; i++)
		ck_assert(access_pays(&access, now_ns));
	ck_assert(!access_pays(&access, now_ns));
}
END_TEST

Suite *web_config_suite(void)
{
	Suite *suite = suite_create("web_config");
	TCase *tests = tcase_create("web_config");

	tcase_add_loop_test(tests, each_file, 0, sizeof(files) / sizeof(files[0]));
	tcase_add_test(tests, what_it_means);
	tcase_add_test(tests, bounds);
	tcase_add_loop_test(tests, each_priority, 0, sizeof(priorities) / sizeof(priorities[0]));
	tcase_add_test(tests, rates);
	suite_add_tcase(suite, tests);
	return suite;
}
