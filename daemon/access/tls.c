/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GnuTLS, which libmicrohttpd uses: makes credentials from files, and verifies clients.
 */
#include "access/tls.h"

#include "access/tls_priority.h"
#include "base/buf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CHAIN = 16, /* certificates that one client presents */
	MAX_SAN_BYTES = 1024,
};

struct tls {
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	enum client_auth client_auth;
	char *sans[MAX_WEB_ITEMS];
	size_t san_count;
	size_t refs;
};

/* PEM text from a file, or from the configuration itself. */
struct pem {
	struct buf bytes;
	int line;
	const char *key; /* of the setting */
};

static void pem_release(struct pem *pem)
{
	if (pem->bytes.data)
		explicit_bzero(pem->bytes.data, pem->bytes.len);
	buf_release(&pem->bytes);
}

static int complain(char why[WEB_WHY_BYTES], const struct pem *pem, const char *what)
{
	snprintf(why, WEB_WHY_BYTES, "%d: %s: %s", pem->line, pem->key, what);
	return -EINVAL;
}

static int pem_read(struct pem *ret_pem, const struct web_config *config, const char *folder,
                    enum web_key file, const char *file_key, enum web_key text,
                    const char *text_key, char why[WEB_WHY_BYTES])
{
	const char *name = config->texts[file];
	char path[MAX_PATH_BYTES];
	int err;

	if (!name) {
		*ret_pem = (struct pem){.line = config->lines[text], .key = text_key};
		buf_add_text(&ret_pem->bytes, config->texts[text]);
		return buf_error(&ret_pem->bytes);
	}
	*ret_pem = (struct pem){.line = config->lines[file], .key = file_key};
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : folder,
	                     name[0] == '/' ? "" : "/", name) >= sizeof(path))
		return complain(why, ret_pem, strerror(ENAMETOOLONG));
	err = buf_read_file(&ret_pem->bytes, path, MAX_CERTIFICATE_BYTES);
	if (err == -ENOMEM)
		return err;
	return err ? complain(why, ret_pem, strerror(-err)) : 0;
}

#define PEM_READ(pem, name) \
	pem_read(pem, config, folder, WEB_##name##_file, #name "_file", WEB_##name, #name, why)

static gnutls_datum_t datum_of(const struct pem *pem)
{
	return (gnutls_datum_t){pem->bytes.data, (unsigned int)pem->bytes.len};
}

static int load_key_pair(struct tls *tls, const struct web_config *config, const char *folder,
                         char why[WEB_WHY_BYTES])
{
	_cleanup_(pem_release) struct pem cert = {0}, key = {0};
	gnutls_datum_t cert_bytes, key_bytes;
	gnutls_x509_privkey_t alone;
	int err = PEM_READ(&cert, cert);

	if (!err)
		err = PEM_READ(&key, key);
	if (err)
		return err;
	cert_bytes = datum_of(&cert);
	key_bytes = datum_of(&key);
	err = gnutls_certificate_set_x509_key_mem2(tls->credentials, &cert_bytes, &key_bytes,
	                                           GNUTLS_X509_FMT_PEM, NULL, 0);
	if (err >= 0)
		return 0;
	if (err == GNUTLS_E_MEMORY_ERROR)
		return -ENOMEM;
	if (err == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return complain(why, &key, "the key does not match the certificate");
	/* GnuTLS does not say which of the two is invalid. */
	if (gnutls_x509_privkey_init(&alone))
		return -ENOMEM;
	if (gnutls_x509_privkey_import2(alone, &key_bytes, GNUTLS_X509_FMT_PEM, NULL, 0) < 0)
		complain(why, &key, "not an unencrypted private key in PEM");
	else
		complain(why, &cert, "not a certificate in PEM");
	gnutls_x509_privkey_deinit(alone);
	return -EINVAL;
}

static int load_client_ca(struct tls *tls, const struct web_config *config, const char *folder,
                          char why[WEB_WHY_BYTES])
{
	_cleanup_(pem_release) struct pem ca = {0};
	gnutls_datum_t bytes;
	int err;

	if (tls->client_auth < CLIENT_AUTH_IF_GIVEN)
		return 0;
	err = PEM_READ(&ca, client_ca);
	if (err)
		return err;
	bytes = datum_of(&ca);
	/* Returns the number of certificates. */
	if (gnutls_certificate_set_x509_trust_mem(tls->credentials, &bytes, GNUTLS_X509_FMT_PEM) <
	    1)
		return complain(why, &ca, "not a certificate in PEM");
	return 0;
}

static int copy_sans(struct tls *tls, const struct web_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		tls->sans[i] = strdup(list->items[i].text);
		if (!tls->sans[i])
			return -ENOMEM;
		tls->san_count++;
	}
	return 0;
}

int tls_new(const struct web_config *config, const char *folder, struct tls **ret_tls,
            char ret_why[WEB_WHY_BYTES])
{
	_cleanup_(tls_unrefp) struct tls *tls = calloc(1, sizeof(*tls));
	int err;

	if (!tls)
		return -ENOMEM;
	tls->refs = 1;
	tls->client_auth = (enum client_auth)config->numbers[WEB_client_auth_type];
	if (gnutls_certificate_allocate_credentials(&tls->credentials))
		return -ENOMEM;
	err = tls_priority(config, &tls->priority, ret_why);
	if (!err)
		err = load_key_pair(tls, config, folder, ret_why);
	if (!err)
		err = load_client_ca(tls, config, folder, ret_why);
	if (!err)
		err = copy_sans(tls, &config->client_allowed_sans);
	if (!err)
		*ret_tls = TAKE_PTR(tls);
	return err;
}

struct tls *tls_ref(struct tls *tls)
{
	tls->refs++;
	return tls;
}

void tls_unref(struct tls *tls)
{
	if (!tls || --tls->refs)
		return;
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	gnutls_priority_deinit(tls->priority);
	for (size_t i = 0; i < tls->san_count; i++)
		free(tls->sans[i]);
	free(tls);
}

static bool is_allowed(const struct tls *tls, const char *name)
{
	for (size_t i = 0; i < tls->san_count; i++)
		if (!strcmp(tls->sans[i], name))
			return true;
	return false;
}

/* Converts a name to text; false when it has no form that the configuration could contain. */
static bool san_text(int type, const char *bytes, size_t len, char text[MAX_SAN_BYTES])
{
	switch (type) {
	case GNUTLS_SAN_IPADDRESS:
		return (len == 4 && inet_ntop(AF_INET, bytes, text, MAX_SAN_BYTES)) ||
		       (len == 16 && inet_ntop(AF_INET6, bytes, text, MAX_SAN_BYTES));
	case GNUTLS_SAN_DNSNAME:
	case GNUTLS_SAN_RFC822NAME:
	case GNUTLS_SAN_URI:
		/* A NUL byte would hide the rest of the name. */
		if (len >= MAX_SAN_BYTES || memchr(bytes, '\0', len))
			return false;
		memcpy(text, bytes, len);
		text[len] = '\0';
		return true;
	default:
		return false;
	}
}

static bool has_allowed_san(const struct tls *tls, gnutls_x509_crt_t certificate)
{
	char bytes[MAX_SAN_BYTES], text[MAX_SAN_BYTES];

	for (unsigned int i = 0;; i++) {
		size_t len = sizeof(bytes);
		int type = gnutls_x509_crt_get_subject_alt_name(certificate, i, bytes, &len, NULL);

		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (type < 0)
			return false;
		if (san_text(type, bytes, len, text) && is_allowed(tls, text))
			return true;
	}
}

static bool is_verified(const struct tls *tls, gnutls_x509_crt_t *chain, unsigned int count)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	gnutls_x509_trust_list_t trusted;
	unsigned int status = GNUTLS_CERT_INVALID;

	gnutls_certificate_get_trust_list(tls->credentials, &trusted);
	if (gnutls_x509_trust_list_verify_crt2(trusted, chain, count, &purpose, 1, 0, &status,
	                                       NULL) < 0 ||
	    status)
		return false;
	return !tls->san_count || has_allowed_san(tls, chain[0]);
}

static int check_chain(const struct tls *tls, gnutls_session_t session)
{
	gnutls_x509_crt_t chain[MAX_CHAIN];
	const gnutls_datum_t *shown;
	unsigned int count = 0, read = 0;
	bool verified = false;

	shown = gnutls_certificate_get_peers(session, &count);
	if (!shown || !count)
		return tls->client_auth == CLIENT_AUTH_ANY || tls->client_auth == CLIENT_AUTH_VERIFY
		               ? -EACCES
		               : 0;
	if (tls->client_auth < CLIENT_AUTH_IF_GIVEN)
		return 0;
	if (count > MAX_CHAIN)
		return -EACCES;
	for (; read < count; read++) {
		if (gnutls_x509_crt_init(&chain[read]))
			break;
		if (gnutls_x509_crt_import(chain[read], &shown[read], GNUTLS_X509_FMT_DER)) {
			gnutls_x509_crt_deinit(chain[read]);
			break;
		}
	}
	if (read == count)
		verified = is_verified(tls, chain, count);
	while (read)
		gnutls_x509_crt_deinit(chain[--read]);
	return verified ? 1 : -EACCES;
}

static int on_certificate(gnutls_session_t session)
{
	const struct tls *tls = gnutls_session_get_ptr(session);

	return check_chain(tls, session) < 0 ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

int tls_begin(struct tls *tls, gnutls_session_t session)
{
	static const gnutls_certificate_request_t requests[] = {
		[CLIENT_AUTH_NONE] = GNUTLS_CERT_IGNORE,
		[CLIENT_AUTH_REQUEST] = GNUTLS_CERT_REQUEST,
		[CLIENT_AUTH_ANY] = GNUTLS_CERT_REQUIRE,
		[CLIENT_AUTH_IF_GIVEN] = GNUTLS_CERT_REQUEST,
		[CLIENT_AUTH_VERIFY] = GNUTLS_CERT_REQUIRE,
	};

	if (gnutls_priority_set(session, tls->priority) ||
	    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials))
		return -ENOMEM;
	gnutls_certificate_server_set_request(session, requests[tls->client_auth]);
	/* libmicrohttpd stores its connection there, and uses it for pre-shared keys only. */
	gnutls_session_set_ptr(session, tls);
	gnutls_session_set_verify_function(session, on_certificate);
	return 0;
}

int tls_check_client(struct tls *tls, gnutls_session_t session)
{
	unsigned int count = 0;

	if (gnutls_session_get_ptr(session) != tls)
		return check_chain(tls, session);
	/* The handshake has verified the certificates. */
	return tls->client_auth >= CLIENT_AUTH_IF_GIVEN &&
	       gnutls_certificate_get_peers(session, &count) && count;
}
