/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard.h - checksums that protect blocks of data: each goes on from a state, and a block's guard
 * is made of the state at its end.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_GUARD_H
#define SOFTHCA_DEVICE_MEMORY_GUARD_H

#include <stddef.h>
#include <stdint.h>

enum guard { GUARD_NONE, GUARD_DIF_CRC, GUARD_DIF_CSUM, GUARD_CRC32, GUARD_CRC32C, GUARD_CRC64 };

/* Returns the state behind LEN more bytes, of which the first is at an even place of its block if
 * the guard counts pairs. */
uint64_t guard_add(enum guard guard, uint64_t state, const uint8_t *bytes, size_t len,
		   size_t place);
/* Returns what is stored when a block ends in STATE. */
uint64_t guard_finish(enum guard guard, uint64_t state);

#endif
