/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * encryption.h - computes encrypted data: an oracle for keys that encrypt. It follows the standard
 * alone and shares no code with the adapter. OpenSSL provides AES of single blocks only.
 */
#ifndef TESTS_LIB_ENCRYPTION_H
#define TESTS_LIB_ENCRYPTION_H

#include <stddef.h>
#include <stdint.h>

/* Two keys of AES-128 or AES-256, and the tweak of the first unit, lowest byte first */
struct encryption {
	const uint8_t *keys;
	size_t keys_len;
	uint8_t tweak[16];
	uint32_t unit;
};

void encryption_apply(const struct encryption *of, uint8_t *bytes, size_t len);
void encryption_undo(const struct encryption *of, uint8_t *bytes, size_t len);

#endif
