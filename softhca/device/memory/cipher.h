/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cipher.h - the adapter's cryptography: AES-XTS of data units (IEEE 1619), and unwrapping of keys
 * (RFC 3394). OpenSSL does the work; only cipher.c includes it.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_CIPHER_H
#define SOFTHCA_DEVICE_MEMORY_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CIPHER_BLOCK = 16,
	CIPHER_TWEAK = 16,
	CIPHER_WRAP_EXTRA = 8, /* bytes that wrapping adds to a key: RFC 3394's check value */
};

struct cipher;

/* Creates a cipher from the two keys of XTS, concatenated: 32 or 64 bytes in all. Returns 0, EINVAL
 * if XTS refuses the keys, or ENOMEM. */
int cipher_create(const uint8_t *keys, size_t len, struct cipher **cipher);
void cipher_free(struct cipher *cipher);

/* Encrypt or decrypt a data unit of LEN bytes in place. The tweak's first byte is its lowest, as in
 * IEEE 1619. Return 0, or EINVAL for units shorter than a block. */
int cipher_encrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len);
int cipher_decrypt(struct cipher *cipher, const uint8_t *tweak, uint8_t *unit, size_t len);

/* Unwraps a key of LEN - CIPHER_WRAP_EXTRA bytes into KEY. Returns false if WRAPPED was not wrapped
 * with KEK. */
bool cipher_unwrap(const uint8_t *kek, size_t kek_len, const uint8_t *wrapped, size_t len,
		   uint8_t *key);

#endif
