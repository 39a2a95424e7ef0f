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
};

struct mkey_sig_config {
	enum mkey_sig_state state;
	uint8_t check, copy;
	bool same_blocks;    /* both domains have the same structure */
	uint32_t count_told; /* which error is the next, as the device was told last */
	struct mkey_sig_domain mem, wire;
};

struct mkey_crypt_config {
	bool on;
	bool changed; /* by the request under construction */
	uint8_t order;
	uint8_t block;     /* enum mlx5dv_block_size */
	uint8_t tweak[16]; /* as the device has it */
	uint8_t keytag[8];
	uint32_t dek;
};

/* This is what requests have said of a key (data/send_wr_mkey.c). */
struct mkey_config {
	uint64_t length; /* of what was laid out */
	struct mkey_sig_config sig;
	struct mkey_crypt_config crypt;
};

/* The state that the signatures of a domain start from is the device's. */
struct mkey_psv {
	uint32_t n;
	bool exists;
	struct devx_object object;
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
	struct mkey_psv mem, wire;
	/* The device counts errors by a bit, and has to be told which one is next. */
	uint32_t count;
	struct mkey_sig_error error; /* guarded by the CQ's lock until the program asks */
};

/* A key of data is the device's; memory keys name it. */
struct mlx5dv_dek {
	struct mlx5_context *ctx;
	struct devx_object object;
};

struct mlx5_mkey {
	struct mlx5dv_mkey dv;
	struct mlx5_context *ctx;
	struct devx_object object;
	bool is_gone;         /* the object, where destroying the rest has failed */
	uint16_t max_entries; /* of its list of translations */
	bool encrypts;
	bool encrypts_units;  /* the device has a tweak for each, or the key is one unit */
	struct mkey_sig *sig; /* NULL: it has no signatures */
	/* What the key computes: by requests that are complete; by the one under construction; and
	 * before the present batch, if that has changed it. */
	struct mkey_config config, draft, before_batch;
	struct mlx5_mkey *next_in_batch;
	bool is_in_batch;
};

static inline bool mkey_computes(const struct mlx5_mkey *mkey)
{
	return mkey->sig || mkey->encrypts;
}

/* The function takes a CQE that tells of a wrong signature. */
void mlx5_mkey_take_error(const struct mlx5_context *ctx, const void *cqe);

/* The function fills the byte stream format, of 64 bytes, that says which signatures a key has; if
 * it has none, ON is false. Another follows when the key encrypts. The second function says from
 * which state those of DOMAIN start. */
void mlx5_mkey_put_bsf(const struct mkey_sig *psvs, const struct mkey_sig_config *sig, bool on,
		       bool encrypts, uint8_t *bsf);
uint64_t mlx5_mkey_psv_start(const struct mkey_sig_domain *domain);

/* The function returns what stands for a block size, enum mlx5dv_block_size. */
unsigned int mlx5_mkey_block_selector(unsigned int block);

/* The function takes what a program wants of a key, and returns NULL, or the reason why there is no
 * such signature. */
const char *mlx5_mkey_take_sig(struct mkey_sig_config *sig,
			       const struct mlx5dv_sig_block_attr *attr);

/* The functions do likewise for encryption. A device that counts units has the number of the first
 * with its highest byte in front; IS_SIGNED says that another format is in front. */
const char *mlx5_mkey_take_crypt(struct mkey_crypt_config *crypt, bool counts_units,
				 const struct mlx5dv_crypto_attr *attr);
void mlx5_mkey_put_crypt(const struct mkey_crypt_config *crypt, bool is_signed, uint8_t *bsf);

static inline struct mlx5_mkey *to_mkey(struct mlx5dv_mkey *dv)
{
	return container_of(dv, struct mlx5_mkey, dv);
}

#endif
