/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.h - the pairs of QPs that datapath.c measures: end 0 sends, end 1 receives.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <stdbool.h>

#include "tests/lib/rig.h"

#define BURST    64 /* requests that a queue can hold */
#define BYTES    32 /* size of a message */
#define INLINE   128
#define MAX_SGES 16
#define PIECES   4  /* pieces of a memory key, and of a request by ibv_wr_*() */
#define GRH      40 /* bytes before a datagram */
#define QKEY     0x11111111
#define DC_KEY   0x1122334455667788ull

enum which_pair {
	PLAIN,  /* RC, by ibv_create_qp() */
	WIDE,   /* MAX_SGES in each direction */
	SHARED, /* the receiver uses an SRQ */
	UD,
	/* RC, by ibv_create_qp_ex() with all operations that exist; the receiver's CQ is an
	 * extended one */
	EX,
	EX_UD,  /* the same for UD, with plain CQs */
	DOMAIN, /* RC, in a thread domain */
	DC,     /* an initiator, and one of its two targets */
	KEYS,   /* RC; the sender configures memory keys */
	LATE,   /* RC, created when every doorbell register is in use, so it shares one */
	PAIRS,
};

/* Transformation by a memory key: none, signature, encryption, both. */
enum which_key { KEY_PLAIN, KEY_SIGNS, KEY_ENCRYPTS, KEY_DOES_BOTH, KEYS_COUNT };

struct mlx5dv_mkey;
struct mlx5dv_dek;

struct pairs {
	struct rig rig;
	struct rig_pair pair[PAIRS];
	struct ibv_srq *srq, *dc_srq;
	struct ibv_qp *dc_other;
	struct ibv_ah *ah[PAIRS]; /* for pairs of datagrams, and for DC */
	struct ibv_cq_ex *cq_ex;
	struct ibv_td *td;
	struct ibv_pd *domain;
	struct mlx5dv_mkey *key[KEYS_COUNT]; /* NULL if the adapter cannot compute it */
	struct mlx5dv_dek *dek;              /* NULL if the adapter cannot encrypt */
	bool has_all; /* false with libraries of mlx4 that lack ibv_wr_*, thread domains or DC */
};

static inline bool pairs_have(const struct pairs *pairs, enum which_pair which)
{
	return pairs->has_all || which <= EX;
}

void pairs_open(struct pairs *pairs);
void pairs_close(struct pairs *pairs);

#endif
