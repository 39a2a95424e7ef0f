/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dek.h - keys by which memory keys encrypt data (crypt.h), and the logins that they are imported
 * under.
 *
 * Keys come as they are, or, when the adapter was given secrets (struct hca_secrets), wrapped: then
 * a user shows a credential first, and the key that this login names unwraps those of its data.
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
	LOGINS_MAX = 1 << 8, /* of all users; one has one */
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

/* What a login shows: a credential of the adapter's, by number, wrapped with one of its keys.
 * Returns NULL, or why it is none. */
const char *crypto_login_check(const struct hca *hca, uint64_t kek, uint64_t credential,
			       const uint8_t *wrapped);
/* Returns the login of the user for whom the command under way is, or NULL. */
struct crypto_login *crypto_login_of_user(struct hca *hca);
/* A login ends to be valid when its key is taken away from the adapter. */
bool crypto_login_is_valid(const struct hca *hca, const struct crypto_login *login);
/* Adds a login; the result is 0, ENOSPC or ENOMEM. */
int crypto_login_add(struct hca *hca, uint32_t kek, struct crypto_login **login);
void crypto_login_remove(struct hca *hca, struct crypto_login *login);

/* Takes the bytes of a key in the form in which commands have it, wrapped if LOGIN is not NULL, and
 * the tag behind it. It returns 0, EINVAL when it is no key, or ENOMEM. */
int dek_set_key(const struct hca *hca, struct dek *dek, const struct crypto_login *login,
		const uint8_t *bytes);
/* Adds a key to those of the PD; the result is 0, ENOSPC or ENOMEM. */
int dek_add(struct hca *hca, struct pd *pd, struct dek *dek);
void dek_remove(struct hca *hca, struct dek *dek);
void dek_free(struct dek *dek);

void dek_free_all(struct hca *hca);

#endif
