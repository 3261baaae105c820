/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * bcrypt from libcrypt, and the remembered results.
 */
#include "access/passwords.h"

#include "base/clock.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <string.h>

enum { KEY_BYTES = 32 };

static const uint64_t remembered_ns = 300 * NSEC_PER_SEC;

struct remembered {
	uint8_t tag[PASSWORD_TAG_BYTES];
	uint64_t at_ns; /* 0: free */
	bool right;
};

struct passwords {
	uint8_t key[KEY_BYTES];
	struct remembered remembered[MAX_PASSWORDS_KNOWN];
};

struct passwords *passwords_new(void)
{
	_cleanup_(passwords_freep) struct passwords *passwords = calloc(1, sizeof(*passwords));

	if (!passwords || gnutls_rnd(GNUTLS_RND_KEY, passwords->key, KEY_BYTES))
		return NULL;
	return TAKE_PTR(passwords);
}

void passwords_free(struct passwords *passwords)
{
	if (passwords)
		explicit_bzero(passwords, sizeof(*passwords));
	free(passwords);
}

/* For an unknown user the most expensive hash is computed: the check must not be faster than that
 * of a known user. */
static const char *dearest_hash(const struct web_config *config)
{
	const char *dearest = config->users[0].hash;

	for (size_t i = 1; i < config->user_count; i++)
		if (strncmp(config->users[i].hash + 4, dearest + 4, 2) > 0)
			dearest = config->users[i].hash;
	return dearest;
}

static int make_tag(const struct passwords *passwords, struct password_check *check,
                    const char *user)
{
	gnutls_hmac_hd_t hmac;

	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, passwords->key, KEY_BYTES))
		return -1;
	/* Includes the final NULs, so that "ab" with "c" differs from "a" with "bc". */
	gnutls_hmac(hmac, user, strlen(user) + 1);
	gnutls_hmac(hmac, check->hash, strlen(check->hash) + 1);
	gnutls_hmac(hmac, &check->known, sizeof(check->known));
	gnutls_hmac(hmac, check->password, strlen(check->password) + 1);
	gnutls_hmac_deinit(hmac, check->tag);
	return 0;
}

enum password_answer passwords_ask(struct passwords *passwords, const struct web_config *config,
                                   const char *user, const char *password, uint64_t now_ns,
                                   struct password_check *ret_check)
{
	const char *hash = NULL;

	*ret_check = (struct password_check){0};
	if (strlen(user) + strlen(password) >= MAX_CREDENTIAL_BYTES)
		return PASSWORD_WRONG;
	for (size_t i = 0; i < config->user_count; i++)
		if (!strcmp(config->users[i].name, user))
			hash = config->users[i].hash;
	ret_check->known = hash != NULL;
	strcpy(ret_check->hash, hash ? hash : dearest_hash(config));
	strcpy(ret_check->password, password);
	if (make_tag(passwords, ret_check, user) < 0)
		return PASSWORD_WRONG;
	for (size_t i = 0; i < MAX_PASSWORDS_KNOWN; i++) {
		struct remembered *known = &passwords->remembered[i];

		if (!known->at_ns || now_ns - known->at_ns >= remembered_ns ||
		    gnutls_memcmp(known->tag, ret_check->tag, PASSWORD_TAG_BYTES))
			continue;
		/* Keeps a client that continues to send requests from queueing behind password
		 * guesses. */
		if (known->right)
			known->at_ns = now_ns;
		return known->right ? PASSWORD_RIGHT : PASSWORD_WRONG;
	}
	return PASSWORD_TO_CHECK;
}

int password_check_run(struct password_check *check)
{
	/* 32 KiB: too large for a stack. */
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *made;

	check->right = false;
	if (!data)
		return -ENOMEM;
	made = crypt_rn(check->password, check->hash, data, sizeof(*data));
	if (made && strlen(made) == strlen(check->hash))
		check->right =
			!gnutls_memcmp(made, check->hash, strlen(check->hash)) & check->known;
	explicit_bzero(data, sizeof(*data));
	free(data);
	return 0;
}

/* The entry to replace: a free or expired one, else the oldest wrong password, else the oldest
 * entry. */
static struct remembered *place(struct passwords *passwords, uint64_t now_ns)
{
	struct remembered *best = &passwords->remembered[0];

	for (size_t i = 0; i < MAX_PASSWORDS_KNOWN; i++) {
		struct remembered *this = &passwords->remembered[i];

		if (!this->at_ns || now_ns - this->at_ns >= remembered_ns)
			return this;
		if (this->right != best->right ? best->right : this->at_ns < best->at_ns)
			best = this;
	}
	return best;
}

void passwords_tell(struct passwords *passwords, const struct password_check *check,
                    uint64_t now_ns)
{
	struct remembered *to = place(passwords, now_ns);

	memcpy(to->tag, check->tag, PASSWORD_TAG_BYTES);
	to->right = check->right;
	to->at_ns = now_ns;
}
