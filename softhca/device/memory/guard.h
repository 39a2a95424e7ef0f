/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard.h - checksums that protect blocks of data. A checksum continues from a state, so a block
 * may come in parts; the state at the block's end gives its guard.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_GUARD_H
#define SOFTHCA_DEVICE_MEMORY_GUARD_H

#include <stddef.h>
#include <stdint.h>

enum guard { GUARD_NONE, GUARD_DIF_CRC, GUARD_DIF_CSUM, GUARD_CRC32, GUARD_CRC32C, GUARD_CRC64 };

/* Returns the state after LEN more bytes. PLACE is the offset of the first one in its block: the IP
 * checksum adds words of two bytes, so it must know whether the offset is even. */
uint64_t guard_add(enum guard guard, uint64_t state, const uint8_t *bytes, size_t len,
		   size_t place);
uint64_t guard_finish(enum guard guard, uint64_t state);

#endif
