/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Translates Go's names into a priority.
 */
#include "access/tls_priority.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Go's names of suites, https://pkg.go.dev/crypto/tls#CipherSuites, their IANA numbers, and their
 * parts in GnuTLS. */
static const struct suite {
	const char *name;
	uint16_t number;
	const char *exchange; /* NULL: TLS 1.3 has none */
	const char *cipher, *mac;
} suites[] = {
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b, "ECDHE-ECDSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f, "ECDHE-RSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c, "ECDHE-ECDSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030, "ECDHE-RSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9, "ECDHE-ECDSA",
         "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8, "ECDHE-RSA", "CHACHA20-POLY1305",
         "AEAD"},
	{"TLS_AES_128_GCM_SHA256", 0x1301, NULL, "AES-128-GCM", "AEAD"},
	{"TLS_AES_256_GCM_SHA384", 0x1302, NULL, "AES-256-GCM", "AEAD"},
	{"TLS_CHACHA20_POLY1305_SHA256", 0x1303, NULL, "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", 0xc009, "ECDHE-ECDSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", 0xc013, "ECDHE-RSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", 0xc00a, "ECDHE-ECDSA", "AES-256-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", 0xc014, "ECDHE-RSA", "AES-256-CBC", "SHA1"},
};

/* The default: all but the last four, whose padding has been attacked repeatedly. */
enum { SUITE_COUNT = sizeof(suites) / sizeof(suites[0]), DEFAULT_SUITES = SUITE_COUNT - 4 };

static const struct {
	const char *name, *group;
} curves[] = {
	{"CurveP256", "SECP256R1"},
	{"CurveP384", "SECP384R1"},
	{"CurveP521", "SECP521R1"},
	{"X25519", "X25519"},
};

enum { CURVE_COUNT = sizeof(curves) / sizeof(curves[0]) };

static int find_suites(const struct web_list *list, const struct suite *ret_found[MAX_WEB_ITEMS],
                       size_t *ret_count, char why[WEB_WHY_BYTES])
{
	size_t count = list->count ? list->count : DEFAULT_SUITES;

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		if (!list->count) {
			ret_found[i] = &suites[i];
			continue;
		}
		while (at < SUITE_COUNT && strcmp(suites[at].name, list->items[i].text) != 0)
			at++;
		if (at == SUITE_COUNT) {
			snprintf(why, WEB_WHY_BYTES,
			         "%d: cipher_suites: %.60s is unknown or not safe",
			         list->items[i].line, list->items[i].text);
			return -EINVAL;
		}
		ret_found[i] = &suites[at];
	}
	*ret_count = count;
	return 0;
}

static void add_once(struct buf *text, const char *what)
{
	char item[64];

	snprintf(item, sizeof(item), ":+%s", what);
	for (const char *at = buf_text(text); (at = strstr(at, item)); at++)
		if (!at[strlen(item)] || at[strlen(item)] == ':')
			return;
	buf_add_text(text, item);
}

static int add_curves(struct buf *text, const struct web_list *list, char why[WEB_WHY_BYTES])
{
	char group[32];

	if (list->count)
		buf_add_text(text, ":-GROUP-ALL");
	for (size_t i = 0; i < list->count; i++) {
		size_t at = 0;

		while (at < CURVE_COUNT && strcmp(curves[at].name, list->items[i].text) != 0)
			at++;
		if (at == CURVE_COUNT) {
			snprintf(why, WEB_WHY_BYTES,
			         "%d: curve_preferences: %.40s: CurveP256, CurveP384, CurveP521 or "
			         "X25519 is accepted",
			         list->items[i].line, list->items[i].text);
			return -EINVAL;
		}
		snprintf(group, sizeof(group), "GROUP-%s", curves[at].group);
		add_once(text, group);
	}
	return 0;
}

/* In the syntax of gnutls_priority_init(3). */
static int write_priority(struct buf *text, const struct web_config *config,
                          const struct suite *const *chosen, size_t count, char why[WEB_WHY_BYTES])
{
	buf_add_text(text, "NORMAL:-VERS-ALL");
	if (config->numbers[WEB_max_version] >= 13)
		buf_add_text(text, ":+VERS-TLS1.3");
	if (config->numbers[WEB_min_version] <= 12)
		buf_add_text(text, ":+VERS-TLS1.2");
	buf_add_text(text, ":-KX-ALL:-CIPHER-ALL:-MAC-ALL");
	for (size_t i = 0; i < count; i++) {
		if (chosen[i]->exchange)
			add_once(text, chosen[i]->exchange);
		add_once(text, chosen[i]->cipher);
		add_once(text, chosen[i]->mac);
	}
	if (config->numbers[WEB_prefer_server_cipher_suites])
		buf_add_text(text, ":%SERVER_PRECEDENCE");
	return add_curves(text, &config->curve_preferences, why);
}

static bool is_chosen(uint16_t number, const struct suite *const *chosen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (chosen[i]->number == number)
			return true;
	return false;
}

static const char *name_of(uint16_t number)
{
	for (size_t i = 0; i < SUITE_COUNT; i++)
		if (suites[i].number == number)
			return suites[i].name;
	return "another suite";
}

/* Checks that the priority yields the chosen suites and no others. */
static int check_suites(gnutls_priority_t priority, const struct web_config *config,
                        const struct suite *const *chosen, size_t count, char why[WEB_WHY_BYTES])
{
	int line = config->lines[WEB_cipher_suites];
	bool usable = false;
	unsigned int index;

	for (unsigned int i = 0; gnutls_priority_get_cipher_suite_index(priority, i, &index) !=
	                         GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
	     i++) {
		gnutls_protocol_t version;
		unsigned char id[2];
		uint16_t number;

		/* The list also contains combinations that are not suites. */
		if (!gnutls_cipher_suite_info(index, id, NULL, NULL, NULL, &version))
			continue;
		/* It also contains suites of versions that are not allowed. */
		usable |= version == GNUTLS_TLS1_3 ? config->numbers[WEB_max_version] >= 13
		                                   : config->numbers[WEB_min_version] <= 12;
		number = (uint16_t)(id[0] << 8 | id[1]);
		if (version == GNUTLS_TLS1_3 || is_chosen(number, chosen, count))
			continue;
		snprintf(why, WEB_WHY_BYTES,
		         "%d: cipher_suites: GnuTLS cannot enable these without %.60s", line,
		         name_of(number));
		return -EINVAL;
	}
	if (usable)
		return 0;
	snprintf(why, WEB_WHY_BYTES, "%d: cipher_suites: no suite fits the enabled versions", line);
	return -EINVAL;
}

int tls_priority(const struct web_config *config, gnutls_priority_t *ret_priority,
                 char ret_why[WEB_WHY_BYTES])
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct suite *chosen[MAX_WEB_ITEMS];
	gnutls_priority_t priority;
	size_t count = 0;
	int err = find_suites(&config->cipher_suites, chosen, &count, ret_why);

	if (!err)
		err = write_priority(&text, config, chosen, count, ret_why);
	if (err)
		return err;
	err = buf_error(&text) ? GNUTLS_E_MEMORY_ERROR
	                       : gnutls_priority_init(&priority, buf_text(&text), NULL);
	if (err == GNUTLS_E_NO_PRIORITIES_WERE_SET) {
		snprintf(ret_why, WEB_WHY_BYTES,
		         "%d: cipher_suites: no suite fits the enabled versions",
		         config->lines[WEB_cipher_suites]);
		return -EINVAL;
	}
	if (err) {
		snprintf(ret_why, WEB_WHY_BYTES, "%d: tls_server_config: %s", config->tls_line,
		         gnutls_strerror(err));
		return err == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EINVAL;
	}
	err = check_suites(priority, config, chosen, count, ret_why);
	if (err)
		gnutls_priority_deinit(priority);
	else
		*ret_priority = priority;
	return err;
}
