/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dek.h - data encryption keys (DEKs), by which memory keys encrypt (crypt.h), and crypto logins.
 *
 * Without secrets (struct hca_secrets) a DEK is imported as plain text. With secrets it is wrapped:
 * the user first logs in with a credential, and the key encryption key that the login names unwraps
 * the user's DEKs.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_DEK_H
#define SOFTHCA_DEVICE_MEMORY_DEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/memory/cipher.h"

struct hca;
struct pd;

enum {
	DEK_LOG_MAX = 10,
	DEK_TAG_SIZE = 8,
	DEK_BYTES_MAX = 64 + DEK_TAG_SIZE,
	DEK_OPAQUE_SIZE = 8,
	LOGINS_MAX = 1 << 8, /* of all users; each user has one */
	CREDENTIAL_WRAPPED = 40 + CIPHER_WRAP_EXTRA,
};

struct crypto_login {
	uint32_t n;
	uint32_t kek;
};

struct dek {
	uint32_t n;
	struct pd *pd;
	struct cipher *cipher;
	bool is_256;
	bool has_tag;
	uint8_t tag[DEK_TAG_SIZE];
	uint8_t opaque[DEK_OPAQUE_SIZE];
};

/* Checks a login: WRAPPED must be the adapter's credential number CREDENTIAL, wrapped with its key
 * encryption key number KEK. Returns NULL or the reason for refusing the login. */
const char *crypto_login_check(const struct hca *hca, uint64_t kek, uint64_t credential,
			       const uint8_t *wrapped);
/* Returns the login of the user that sent the current command, or NULL. */
struct crypto_login *crypto_login_of_user(struct hca *hca);
/* Returns whether LOGIN is valid. A login becomes invalid when the adapter loses the key encryption
 * key that the login names. */
bool crypto_login_is_valid(const struct hca *hca, const struct crypto_login *login);
/* Adds a login. Returns 0, ENOSPC or ENOMEM. */
int crypto_login_add(struct hca *hca, uint32_t kek, struct crypto_login **login);
void crypto_login_remove(struct hca *hca, struct crypto_login *login);

/* Sets the key and its tag from the bytes of a command, which are wrapped if LOGIN is not NULL.
 * Returns 0; EINVAL if the bytes cannot be unwrapped, or XTS refuses the key; or ENOMEM. */
int dek_set_key(const struct hca *hca, struct dek *dek, const struct crypto_login *login,
		const uint8_t *bytes);
/* Adds a key to the PD. Returns 0, ENOSPC or ENOMEM. */
int dek_add(struct hca *hca, struct pd *pd, struct dek *dek);
void dek_remove(struct hca *hca, struct dek *dek);
void dek_free(struct dek *dek);

#endif
