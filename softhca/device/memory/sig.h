/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig.h - signatures of blocks that a memory key inserts, checks, strips and copies, between data
 * as it is in memory and as it is on the wire.
 *
 * An address of such a key is a place in the data as it is on the wire.
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

/* A domain is one side of the key. */
struct sig_domain {
	enum guard guard;
	uint32_t block; /* bytes of data in front of each signature */
	uint32_t psv;
	uint64_t start;    /* what the PSV is to be set to, where the tags are as in it */
	bool ref_counts;   /* the reference tag of each block is one more */
	uint16_t app_mask; /* bits of the application tag that are checked */
	/* Blocks with these tags are not checked. */
	bool escape_app, escape_app_ref;
};

struct sig {
	bool on;
	struct sig_domain mem, wire;
	uint8_t check, copy; /* bytes of the signature, the first is bit 7 */
};

/* The error is the last one that was told: the next is, once software has said which number it
 * expects it to have. */
struct sig_error {
	bool on_wire; /* the domain */
	enum { SIG_BAD_GUARD, SIG_BAD_APP, SIG_BAD_REF } kind;
	enum guard guard;
	uint64_t expected, actual;
	uint64_t offset; /* of the block in its domain */
};

enum { SIG_BYTES_MAX = 8 };

struct sig_state {
	/* The last message ended within a signature, of which this came before WIRE_AT. */
	uint64_t wire_at;
	uint8_t part[SIG_BYTES_MAX];
	struct sig_error error;
	bool unreported;
};

/* Errors are counted by a bit, by software as well: one is told if software expects it, and so does
 * not take the last one for it. */
struct sig_count {
	bool happened, expected;
};

/* Returns how many bytes the key has on the wire. */
uint64_t sig_wire_length(const struct mkey *mkey);
/* Finds the part of the memory that LEN bytes at WIRE need. */
void sig_memory(const struct mkey *mkey, uint64_t wire, uint64_t len, uint64_t *start,
		uint64_t *end);
/* Moves LEN bytes at WIRE and returns 0, EFAULT or ENOMEM. */
int sig_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t wire, uint64_t len);

/* The key has got other signatures, or goes: what it would report is forgotten. */
void sig_forget(struct mkey *mkey);

#endif
