/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keys.h - a pair of connected QPs, the first with the builders of direct verbs, a memory key for
 * them to configure, and memory for both ends. See mkeys.c.
 */
#ifndef TESTS_VERBS_DV_KEYS_H
#define TESTS_VERBS_DV_KEYS_H

#include <infiniband/mlx5dv.h>

#include "tests/lib/rig.h"

/* The memory of both ends has the same address in each run, as requests contain it and are
 * compared. */
enum { KEYS_MEMORY = 65536 };
extern uint8_t keys_memory[2][KEYS_MEMORY];

struct keys {
	struct rig_pair pair;
	struct ibv_mr *mr[2];
	struct mlx5dv_mkey *mkey;
	struct mlx5dv_dek *dek; /* NULL: the key does not encrypt */
	uint32_t create_flags;  /* of the QP that keys_connect() creates */
	struct ibv_qp_ex *qpx;
	struct mlx5dv_qp_ex *dvx;
};

void keys_open(struct rig *rig, const struct rig_conf *conf, uint16_t entries, uint32_t flags,
	       struct keys *keys);
/* Replaces the QP of the pair's first end by one with the builders of DV_OPS. */
void keys_connect(struct keys *keys, uint64_t dv_ops);
void keys_close(struct keys *keys);
/* Makes the calls that WORDS name (calls[]). */
void keys_put(struct keys *keys, const char *words);

/* The result of keys_case(), which makes the calls of WORDS on a key with FLAGS besides the flag of
 * indirect keys */
struct keys_outcome {
	uint32_t bytes; /* that the other end has got */
	int completions;
};

struct keys_outcome keys_case(struct rig *rig, const char *words, uint32_t inlines,
			      uint16_t entries, uint32_t flags);

#endif
