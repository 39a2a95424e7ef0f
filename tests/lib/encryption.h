/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * encryption.h - what data look like encrypted: an oracle for keys that encrypt. It is made from
 * the standard alone, and shares no code with the adapter; of OpenSSL it takes single blocks of
 * AES.
 */
#ifndef TESTS_LIB_ENCRYPTION_H
#define TESTS_LIB_ENCRYPTION_H

#include <stddef.h>
#include <stdint.h>

/* The keys are two of AES-128 or AES-256; the tweak of the first unit has its lowest byte in
 * front. */
struct encryption {
	const uint8_t *keys;
	size_t keys_len;
	uint8_t tweak[16];
	uint32_t unit;
};

void encryption_apply(const struct encryption *of, uint8_t *bytes, size_t len);
void encryption_undo(const struct encryption *of, uint8_t *bytes, size_t len);

#endif
