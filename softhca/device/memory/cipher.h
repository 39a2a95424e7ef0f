/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cipher.h - what the adapter has of cryptography, which is OpenSSL's: AES-XTS of data units (IEEE
 * 1619), and keys that come wrapped (RFC 3394). Only cipher.c knows the library.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_CIPHER_H
#define SOFTHCA_DEVICE_MEMORY_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CIPHER_BLOCK = 16,
	CIPHER_TWEAK = 16,
	CIPHER_WRAP_EXTRA = 8, /* a wrapped key is longer than the key */
};

struct cipher;

/* KEYS are the two of XTS, one behind the other, of 32 or 64 bytes in all. Returns 0, EINVAL when
 * XTS does not take them, or ENOMEM. */
int cipher_create(const uint8_t *keys, size_t len, struct cipher **cipher);
void cipher_free(struct cipher *cipher);

/* Changes a data unit of LEN bytes in place; the tweak has its first byte lowest, as in IEEE 1619.
 * It returns 0, or EINVAL for units that are shorter than a block. */
int cipher_encrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len);
int cipher_decrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len);

/* Writes LEN - CIPHER_WRAP_EXTRA bytes to KEY, and tells whether WRAPPED was wrapped with KEK. */
bool cipher_unwrap(const uint8_t *kek, size_t kek_len, const uint8_t *wrapped, size_t len,
		   uint8_t *key);

#endif
