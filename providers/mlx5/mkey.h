/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys that a program makes, and whose contents work requests configure: what they
 * stand for (data/send_wr_mkey.c).
 */
#ifndef PROVIDERS_MLX5_MKEY_H
#define PROVIDERS_MLX5_MKEY_H

#include <infiniband/mlx5dv.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"

/* The signature of a key goes through these states, from request to request. */
enum mkey_sig_state {
	MKEY_SIG_RESET, /* the next request says that there is none */
	MKEY_SIG_NONE,
	MKEY_SIG_CHANGED, /* the request under construction says what it is */
	MKEY_SIG_SET,
};

/* A domain is one side of the key, memory or wire. */
struct mkey_sig_domain {
	bool on;
	bool is_dif;
	uint8_t type; /* enum mlx5dv_sig_t10dif_bg_type or mlx5dv_sig_crc_type */
	uint8_t block;
	uint16_t app_tag;
	uint16_t flags;
	uint32_t ref_tag;
	uint64_t seed;
	uint32_t psv;
	struct devx_object psv_object;
};

/* This is what the device said of the first wrong signature since the last question. */
struct mkey_sig_error {
	bool happened;
	uint16_t syndrome;
	uint8_t type, domain;
	uint64_t expected, actual; /* the words that a checksum, and tags, are in */
	uint64_t offset;
};

struct mkey_sig {
	enum mkey_sig_state state;
	struct mkey_sig_domain mem, wire;
	uint8_t check, copy;
	bool same_blocks; /* both domains have the same structure */
	/* The device counts errors by a bit, which has to be told which one is next. */
	bool count_changed;
	uint32_t count;
	struct mkey_sig_error error; /* guarded by the CQ's lock until the program asks */
};

struct mlx5_mkey {
	struct mlx5dv_mkey dv;
	struct mlx5_context *ctx;
	struct devx_object object;
	uint16_t max_entries; /* of its list of translations */
	uint64_t length;      /* of what the last request laid out */
	struct mkey_sig *sig; /* NULL: it has no signatures */
};

/* The function takes a CQE that tells of a wrong signature. */
void mlx5_mkey_take_error(const struct mlx5_context *ctx, const void *cqe);

/* The function fills the byte stream format, of 64 bytes, that says which signatures a key has, and
 * the state from which those of DOMAIN start. */
void mlx5_mkey_put_bsf(const struct mkey_sig *sig, uint8_t *bsf);
uint64_t mlx5_mkey_psv_start(const struct mkey_sig_domain *domain);

/* The function takes what a program wants of a key, and returns NULL, or the reason why there is no
 * such signature. */
const char *mlx5_mkey_take_sig(struct mkey_sig *sig, const struct mlx5dv_sig_block_attr *attr);

static inline struct mlx5_mkey *to_mkey(struct mlx5dv_mkey *dv)
{
	return container_of(dv, struct mlx5_mkey, dv);
}

#endif
