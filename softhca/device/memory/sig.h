/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig.h - signatures of blocks, which a memory key inserts, checks, strips and copies between
 * memory and wire. An address of such a key is a place in the wire side's data.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_SIG_H
#define SOFTHCA_DEVICE_MEMORY_SIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/memory/guard.h"

struct dma_batch;
struct hca;
struct mkey;
struct qp;

struct sig_domain {
	enum guard guard;
	uint32_t block; /* data bytes before each signature */
	uint32_t psv;
	uint64_t start;    /* value that the PSV should have, in the same layout */
	bool ref_counts;   /* each block's reference tag is one higher, as in T10-DIF type 1 */
	uint16_t app_mask; /* bits of the application tag to check */
	/* Blocks with these tag values are not checked: all ones in the application tag (T10-DIF
	 * type 1), or in both tags (type 3). */
	bool escape_app, escape_app_ref;
};

struct sig {
	bool on;
	struct sig_domain mem, wire;
	/* bytes of a signature to check, and to copy; bit 7 is the first byte */
	uint8_t check, copy;
};

/* The last error noted for software. The next one is noted after software has changed
 * sig_count.expected. */
struct sig_error {
	bool on_wire; /* domain of the error */
	enum { SIG_BAD_GUARD, SIG_BAD_APP, SIG_BAD_REF } kind;
	enum guard guard;
	uint64_t expected, actual; /* in the signature, and computed from the data */
	uint64_t offset;           /* of the block, in its domain */
};

enum { SIG_BYTES_MAX = 8 };

struct sig_state {
	/* If the last message ended within a signature, PART has the bytes of the signature that
	 * came before place WIRE_AT. */
	uint64_t wire_at;
	uint8_t part[SIG_BYTES_MAX];
	struct sig_error error;
	bool unreported;
};

/* One-bit numbers of errors. An error is noted only if its number is the EXPECTED one, which
 * software sets, so that software cannot mistake the error for the previous one. */
struct sig_count {
	bool happened, expected;
};

uint64_t sig_wire_length(const struct mkey *mkey);
/* Finds the range of memory from START to END that a transfer of LEN bytes at place WIRE needs. */
void sig_memory(const struct mkey *mkey, uint64_t wire, uint64_t len, uint64_t *start,
		uint64_t *end);
/* Moves LEN bytes at the key's address WIRE to or from BATCH's buffer. Returns 0, EFAULT or
 * ENOMEM. */
int sig_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t wire, uint64_t len);

/* Drops the key's unreported error, because its signatures change or the key is destroyed. */
void sig_forget(struct mkey *mkey);

#endif
