/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys that a program makes, and whose contents work requests configure: what they
 * stand for (data/mkey/configure.c).
 */
#ifndef PROVIDERS_MLX5_MKEY_H
#define PROVIDERS_MLX5_MKEY_H

#include <infiniband/mlx5dv.h>

#include "prm/mlx5/bsf.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/mkey/progress.h"
#include "providers/mlx5/data/variant.h"
#include "providers/mlx5/devx_cmd.h"

/* A signature that a key has had is taken away by the next request. A new key may have had one. */
enum mkey_sig_state {
	MKEY_SIG_DROPPED,
	MKEY_SIG_NONE,
	MKEY_SIG_SET,
	MKEY_SIG_SET_TWICE, /* both domains have one */
};

/* Encrypted data contains the signatures of one domain, or none. */
enum mkey_crypt_state {
	MKEY_CRYPT_NONE,
	MKEY_CRYPT_SIGNED,
	MKEY_CRYPT_RAW,
};

/* A domain, memory or wire, has signatures of one kind. */
enum mkey_sig_kind { /* 0: no signatures */
		     MKEY_SIG_KIND_DIF = 1,
		     MKEY_SIG_KIND_CRC32, /* and CRC32C */
		     MKEY_SIG_KIND_CRC64,
};

/* What a key computes is kept as the device has it, so that a request copies it. PRM: BSF, SET_PSV
 */
struct mkey_sig_format {
	uint8_t bsf[BSF_SIZE]; /* but for its kind */
	/* The segments that start the signatures of each domain: which state, and from where. */
	struct mkey_start {
		uint64_t psv, state;
	} mem_start, wire_start;
	uint8_t mem, wire; /* enum mkey_sig_kind */
	uint16_t told;     /* SIG_TOLD of union mkey_progress: an enum mkey_sig_state */
	/* The next signature is mostly like one before, but for its tags:
	 * data/mkey/template_match.h. */
	uint64_t given; /* flags and masks, or MKEY_GIVEN_NOTHING */
	struct mkey_sig_given {
		uint64_t is_absent; /* true or false, among words that are compared */
		enum mlx5dv_sig_type type;
		enum mlx5dv_block_size block_size;
		union {
			struct mlx5dv_sig_t10dif dif;
			struct mlx5dv_sig_crc crc;
		} sig;
	} given_mem, given_wire;
};

struct mkey_crypt_format {
	uint8_t bsf[BSF_SIZE]; /* but for its kind */
	uint16_t unit;         /* bytes of data that are encrypted together */
	uint16_t told;         /* CRYPT_TOLD of union mkey_progress: an enum mkey_crypt_state */
	/* The next encryption is mostly like one before, but for tweak and tag. */
	uint32_t dek;
	struct mlx5dv_crypto_attr given; /* of whose dek MKEY_NO_DEK is none */
};

/* This is what the last setter knows of a request, beside what the request has noted
 * (data/mkey/configure.c). */
struct mkey_end {
	uint32_t bsf_units;
	uint32_t flags_pd;     /* of the key's context */
	uint64_t mask;         /* of fields that change */
	uint32_t usual_wqebbs; /* of the WQE, where the list is one block */
	bool has_states;       /* WQEs behind this one */
	bool sig, crypt;       /* formats that it has */
	uint8_t push;          /* PUSH_* */
	__be32 flags_kept;     /* of the control segment */
};

/* These are words of the blocks in front of a request, as they are in the ring, but for what each
 * request adds: data/mkey/ctrl_words.h. */
struct mkey_head {
	uint64_t key;           /* of the control segment; it lacks flags */
	uint64_t control;       /* it lacks the length of the list */
	uint64_t usual_control; /* of a list that is one block */
	uint64_t mask;
	uint64_t context[4]; /* first half; it lacks rights and length */
	uint64_t kind;       /* of the formats */
};

/* The next request is mostly one on the same parts of the key, by a QP with the same limit, and has
 * the same head and end. */
struct mkey_again {
	union mkey_progress usual; /* of the usual request when it is complete; or 0 */
	union mkey_progress found; /* of any other; 0: the next request is looked at */
	uint32_t list_units, max_inline;
	struct mkey_end end;
};

/* This is what requests have said of a key (data/mkey/configure.c). */
struct mkey_config {
	uint64_t length;     /* of what was laid out */
	uint16_t count_told; /* which error is the next, as the device was told last */
	uint16_t told;       /* SIG_TOLD and CRYPT_TOLD of union mkey_progress */
	uint16_t sig, crypt; /* where the formats are, of those that the key keeps: MKEY_SIG() */
};

/* A PSV: the device keeps the state from which signatures of a domain start. */
struct mkey_psv {
	uint32_t n;
	bool exists;
	struct devx_object object;
};

/* This is what the device said of the first wrong signature since the last question. */
struct mkey_sig_error {
	uint16_t syndrome;
	uint8_t type, domain;
	uint64_t expected, actual; /* the words that a checksum, and tags, are in */
	uint64_t offset;
};

struct mkey_sig {
	struct mkey_psv mem, wire;
	/* Who polls may be another thread than who asks: the error is guarded by the lock of the
	 * context's table of such keys. That there is one is seen without the lock, as there mostly
	 * is none. */
	struct mkey_sig_error error;
	bool has_error;
};

/* A key of data is the device's; memory keys name it. */
struct mlx5dv_dek {
	struct mlx5_context *ctx;
	struct devx_object object;
};

/* Nobody gives these: a format that has them is made anew. */
#define MKEY_GIVEN_NOTHING UINT64_MAX
#define MKEY_NO_DEK        ((struct mlx5dv_dek *)-1)

enum { MKEY_FORMATS = 3 };

struct mlx5_mkey {
	struct mlx5dv_mkey dv;
	struct mlx5_context *ctx;
	struct devx_object object;
	bool is_gone;         /* the object, where destroying the rest has failed */
	uint16_t max_entries; /* of its list of translations */
	/* Lists of no more bytes are one block, and usual: of any request, and of one that computes
	 * nothing. */
	uint8_t usual_bytes, plain_bytes;
	bool computes; /* signatures, encryption or both */
	bool encrypts;
	bool encrypts_units;  /* the device has a tweak for each, or the key is one unit */
	struct mkey_sig *sig; /* NULL: it has no signatures */
	/* The device counts errors of signatures by a bit, and has to be told which one is next. A
	 * key without signatures has 0, which the device knows. */
	uint16_t sig_count;
	/* What the key computes: by requests that are complete, and before the present batch, if
	 * that has changed it. */
	struct mkey_config config, before_batch;
	struct mlx5_mkey *next_in_batch;
	bool is_in_batch;
	uint16_t spare_sig, spare_crypt; /* formats that neither of the two above has */
	uint8_t tweak_order[16];         /* which byte of a tweak is where, as the device has it */
	struct mkey_head head;
	struct mkey_again again;
	/* Two of them are in use at most: the third is for the request under construction. */
	struct mkey_sig_format sigs[MKEY_FORMATS];
	struct mkey_crypt_format crypts[MKEY_FORMATS];
};

/* Formats are named by where they are in their key. */
#define MKEY_SIG(i) \
	((uint16_t)(offsetof(struct mlx5_mkey, sigs) + (i) * sizeof(struct mkey_sig_format)))
#define MKEY_CRYPT(i) \
	((uint16_t)(offsetof(struct mlx5_mkey, crypts) + (i) * sizeof(struct mkey_crypt_format)))

static inline struct mkey_sig_format *mkey_sig_at(const struct mlx5_mkey *mkey, uint16_t at)
{
	return (struct mkey_sig_format *)((uint8_t *)mkey + at);
}

static inline struct mkey_crypt_format *mkey_crypt_at(const struct mlx5_mkey *mkey, uint16_t at)
{
	return (struct mkey_crypt_format *)((uint8_t *)mkey + at);
}

static inline bool mkey_computes(const struct mlx5_mkey *mkey)
{
	return mkey->computes;
}

/* What stands for a block size of direct verbs, by enum mlx5dv_block_size. */
struct mkey_block {
	uint8_t selector; /* enum bsf_block */
	uint16_t bytes;
};
#define MKEY_BLOCKS (MLX5DV_BLOCK_SIZE_4160 + 1)
extern const struct mkey_block mlx5_mkey_blocks[MKEY_BLOCKS];

/* Take what a program wants of a key, and return NULL, or the reason why there is no such signature
 * or encryption. A device that counts units has the number of the first with its highest byte in
 * front. */
const char *mlx5_mkey_take_sig(const struct mkey_sig *psvs,
			       const struct mlx5dv_sig_block_attr *attr,
			       struct mkey_sig_format *format);
const char *mlx5_mkey_take_crypt(bool counts_units, const struct mlx5dv_crypto_attr *attr,
				 struct mkey_crypt_format *format);

static inline struct mlx5_mkey *to_mkey(struct mlx5dv_mkey *dv)
{
	return container_of(dv, struct mlx5_mkey, dv);
}

#endif
