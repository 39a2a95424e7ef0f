/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cipher.c - AES-XTS and unwrapping of keys. See cipher.h.
 */
#include "softhca/device/memory/cipher.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

/* OpenSSL contexts, one for each direction. They hold the expanded keys, so encrypting a data unit
 * needs to set only its tweak. */
struct cipher {
	EVP_CIPHER_CTX *encrypt, *decrypt;
};

static int context_create(const EVP_CIPHER *kind, const uint8_t *key, int encrypt,
			  EVP_CIPHER_CTX **out)
{
	*out = EVP_CIPHER_CTX_new();
	if (!*out)
		return ENOMEM;
	EVP_CIPHER_CTX_set_flags(*out, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
	if (EVP_CipherInit_ex(*out, kind, NULL, key, NULL, encrypt) == 1)
		return 0;
	EVP_CIPHER_CTX_free(*out);
	*out = NULL;
	return EINVAL;
}

int cipher_create(const uint8_t *keys, size_t len, struct cipher **out)
{
	const EVP_CIPHER *kind = len == 32 ? EVP_aes_128_xts() : EVP_aes_256_xts();
	struct cipher *cipher;
	int ret;

	if (len != 32 && len != 64)
		return EINVAL;
	cipher = calloc(1, sizeof(*cipher));
	if (!cipher)
		return ENOMEM;
	ret = context_create(kind, keys, 1, &cipher->encrypt);
	if (!ret)
		ret = context_create(kind, keys, 0, &cipher->decrypt);
	if (ret) {
		cipher_free(cipher);
		return ret;
	}
	*out = cipher;
	return 0;
}

void cipher_free(struct cipher *cipher)
{
	if (!cipher)
		return;
	EVP_CIPHER_CTX_free(cipher->encrypt);
	EVP_CIPHER_CTX_free(cipher->decrypt);
	free(cipher);
}

static int unit_change(EVP_CIPHER_CTX *ctx, const uint8_t *tweak, uint8_t *unit, size_t len)
{
	int done;

	if (len < CIPHER_BLOCK || len > INT_MAX)
		return EINVAL;
	if (EVP_CipherInit_ex(ctx, NULL, NULL, NULL, tweak, -1) != 1 ||
	    EVP_CipherUpdate(ctx, unit, &done, unit, (int)len) != 1)
		return EINVAL;
	return 0;
}

int cipher_encrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len)
{
	return unit_change(cipher->encrypt, tweak, unit, len);
}

int cipher_decrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len)
{
	return unit_change(cipher->decrypt, tweak, unit, len);
}

bool cipher_unwrap(const uint8_t *kek, size_t kek_len, const uint8_t *wrapped, size_t len,
		   uint8_t *key)
{
	const EVP_CIPHER *kind = kek_len == 16 ? EVP_aes_128_wrap() : EVP_aes_256_wrap();
	EVP_CIPHER_CTX *ctx;
	int done = 0;
	bool right = !context_create(kind, kek, 0, &ctx) &&
		     EVP_CipherUpdate(ctx, key, &done, wrapped, (int)len) == 1 &&
		     (size_t)done == len - CIPHER_WRAP_EXTRA;

	EVP_CIPHER_CTX_free(ctx);
	return right;
}
