/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.h - the pairs of queue pairs that datapath.c measures: end 0 sends, end 1 receives.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <stdbool.h>

#include "tests/lib/rig.h"

#define BURST    64  /* requests that each queue holds */
#define BYTES    32  /* of a message */
#define INLINE   128 /* the longest inline data */
#define MAX_SGES 16
#define PIECES   4  /* of a memory key */
#define GRH      40 /* bytes in front of a datagram */
#define QKEY     0x11111111
#define DC_KEY   0x1122334455667788ull

enum which_pair {
	PLAIN,  /* RC, of ibv_create_qp() */
	WIDE,   /* with MAX_SGES each way */
	SHARED, /* its receiver is on an SRQ */
	UD,
	EX, /* RC, of ibv_create_qp_ex() with operations, if all are there; its receiver's CQ is an
		* extended one */
	EX_UD,  /* the same of UD, on plain CQs */
	DOMAIN, /* RC, in a thread domain */
	DC,     /* an initiator, and one of its two targets */
	KEYS,   /* RC, whose sender lays out memory keys */
	LATE,   /* RC, created when no register is left for it alone */
	PAIRS,
};

/* What a memory key may compute: nothing, signatures, ciphertext, both. */
enum which_key { KEY_PLAIN, KEY_SIGNS, KEY_ENCRYPTS, KEY_DOES_BOTH, KEYS_COUNT };

struct mlx5dv_mkey;
struct mlx5dv_dek;

struct pairs {
	struct rig rig;
	struct rig_pair pair[PAIRS];
	struct ibv_srq *srq, *dc_srq;
	struct ibv_qp *dc_other;  /* the second target */
	struct ibv_ah *ah[PAIRS]; /* of those with datagrams, and of DC */
	struct ibv_cq_ex *cq_ex;
	struct ibv_td *td;
	struct ibv_pd *domain;
	struct mlx5dv_mkey *key[KEYS_COUNT]; /* NULL: the adapter does not compute that, */
	struct mlx5dv_dek *dek;              /* or does not encrypt */
	bool has_all; /* libraries of mlx4 do not all have ibv_wr_*, thread domains or DC */
};

/* Returns whether a pair is there. */
static inline bool pairs_have(const struct pairs *pairs, enum which_pair which)
{
	return pairs->has_all || which <= EX;
}

void pairs_open(struct pairs *pairs);
void pairs_close(struct pairs *pairs);

#endif
