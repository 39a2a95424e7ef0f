/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys that a program creates and configures by work requests: their layout,
 * signatures and encryption (data/mkey/configure.c).
 */
#ifndef PROVIDERS_MLX5_MKEY_H
#define PROVIDERS_MLX5_MKEY_H

#include <infiniband/mlx5dv.h>

#include "prm/mlx5/bsf.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/mkey/progress.h"
#include "providers/mlx5/data/variant.h"
#include "providers/mlx5/devx_cmd.h"

/* State of a key's signature. A request that changes the key also drops an old signature; a new key
 * is treated as if it had one. */
enum mkey_sig_state {
	MKEY_SIG_DROPPED,
	MKEY_SIG_NONE,
	MKEY_SIG_SET,
	MKEY_SIG_SET_TWICE,
};

/* State of a key's encryption. Encrypted data contains the signatures of one domain at most. */
enum mkey_crypt_state {
	MKEY_CRYPT_NONE,
	MKEY_CRYPT_SIGNED,
	MKEY_CRYPT_RAW,
};

enum mkey_sig_kind {
	MKEY_SIG_KIND_DIF = 1,
	MKEY_SIG_KIND_CRC32,
	MKEY_SIG_KIND_CRC64,
};

/* A signature format, kept in the device's layout so that a request only copies it. PRM: BSF,
 * SET_PSV */
struct mkey_sig_format {
	uint8_t bsf[BSF_SIZE]; /* complete except for its kind */
	/* Segments that initialise the signature state of each domain: the PSV, and the state. */
	struct mkey_start {
		uint64_t psv, state;
	} mem_start, wire_start;
	uint8_t mem, wire;
	uint16_t told; /* value for SIG_TOLD of union mkey_progress: an enum mkey_sig_state */
	/* Cache of the attributes that made this format. The next signature usually differs only in
	 * its tags: see data/mkey/template_match.h. */
	uint64_t given;
	struct mkey_sig_given {
		uint64_t is_absent; /* boolean, of 64 bits because the words are compared */
		enum mlx5dv_sig_type type;
		enum mlx5dv_block_size block_size;
		union {
			struct mlx5dv_sig_t10dif dif;
			struct mlx5dv_sig_crc crc;
		} sig;
	} given_mem, given_wire;
};

struct mkey_crypt_format {
	uint8_t bsf[BSF_SIZE]; /* complete except for its kind */
	uint16_t unit;         /* bytes of data encrypted as one unit */
	/* value for CRYPT_TOLD of union mkey_progress: an enum mkey_crypt_state */
	uint16_t told;
	/* Cache of the attributes that made this format. The next encryption usually differs only
	 * in tweak and tag. */
	uint32_t dek;
	struct mlx5dv_crypto_attr given;
};

/* Values that complete a request, in addition to struct mkey_request (data/mkey/configure.c). */
struct mkey_end {
	uint32_t bsf_units;
	uint32_t flags_pd;
	uint64_t mask;
	uint32_t usual_wqebbs;
	bool has_states; /* further WQEs follow, which set PSVs */
	bool sig, crypt;
	uint8_t push;
	__be32 flags_kept;
};

/* Precomputed words of a request's control blocks, in ring format. Each request ORs in its own
 * values (data/mkey/ctrl_words.h), which costs less than building the words anew. */
struct mkey_head {
	uint64_t key; /* bytes 8 to 15 of the control segment, without flags */
	uint64_t control;
	uint64_t usual_control;
	uint64_t mask;
	uint64_t context[4]; /* first half of the key's context; without access rights and length */
	uint64_t kind;
};

/* Describes the last request. The next one usually configures the same parts of the key on a QP
 * with the same max_inline, and then reuses its control words, which are the key's head and end. */
struct mkey_again {
	union mkey_progress usual;
	union mkey_progress found; /* request_found() of the cached request; 0: none */
	uint32_t list_units, max_inline;
	struct mkey_end end;
};

/* Configuration of a key after a request (data/mkey/configure.c). */
struct mkey_config {
	uint64_t length;
	uint16_t count_told;
	uint16_t told;
	uint16_t sig, crypt; /* offsets of the current formats in the key: see MKEY_SIG() */
};

struct mkey_psv {
	uint32_t n;
	bool exists;
	struct devx_object object;
};

/* First signature error that the device reported since the program last checked the key. */
struct mkey_sig_error {
	uint16_t syndrome;
	uint8_t type, domain;
	uint64_t expected, actual;
	uint64_t offset;
};

struct mkey_sig {
	struct mkey_psv mem, wire;
	/* The error is guarded by the lock of the context's table of keys with signatures, because
	 * the polling thread may differ from the checking one. has_error is read without the lock:
	 * usually there is no error. */
	struct mkey_sig_error error;
	bool has_error;
};

struct mlx5dv_dek {
	struct mlx5_context *ctx;
	struct devx_object object;
};

/* Values that no program passes. A cache with one of them matches nothing, so the format is built
 * anew. */
#define MKEY_GIVEN_NOTHING UINT64_MAX
#define MKEY_NO_DEK        ((struct mlx5dv_dek *)-1)

enum { MKEY_FORMATS = 3 };

struct mlx5_mkey {
	struct mlx5dv_mkey dv;
	struct mlx5_context *ctx;
	struct devx_object object;
	/* The key's object is destroyed, but destroying its PSVs failed: the next call continues
	 * with the PSVs. */
	bool is_gone;
	uint16_t max_entries;
	/* Longest list, in bytes, that takes the fast path: it fits into one block. plain_bytes is
	 * the limit of a request without signature or encryption, 0 for a key that computes. */
	uint8_t usual_bytes, plain_bytes;
	bool computes;
	bool encrypts;
	bool encrypts_units; /* one tweak per unit; otherwise the whole key is one unit */
	struct mkey_sig *sig;
	/* Number of the key's next signature error, from 1 on; 0 for keys without signatures. The
	 * device has only its lowest bit, which a request sets. */
	uint16_t sig_count;
	/* Configuration after all complete requests; configuration before the current batch, if the
	 * batch has changed the key. */
	struct mkey_config config, before_batch;
	struct mlx5_mkey *next_in_batch;
	bool is_in_batch;
	uint16_t spare_sig, spare_crypt;
	uint8_t tweak_order[16]; /* permutation from the program's tweak to the device's */
	struct mkey_head head;
	struct mkey_again again;
	/* Formats of signature and encryption. config and before_batch use at most two of each; the
	 * third is for the request under construction, so that a batch can still be cancelled. */
	struct mkey_sig_format sigs[MKEY_FORMATS];
	struct mkey_crypt_format crypts[MKEY_FORMATS];
};

/* A format is identified by its offset in struct mlx5_mkey, because the 16 bits of an offset take
 * less room than a pointer. */
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

struct mkey_block {
	uint8_t selector;
	uint16_t bytes;
};
#define MKEY_BLOCKS (MLX5DV_BLOCK_SIZE_4160 + 1)
extern const struct mkey_block mlx5_mkey_blocks[MKEY_BLOCKS];

/* Convert the attributes of a signature or encryption to a format. They return NULL, or the reason
 * why the attributes are invalid. A device with COUNTS_UNITS takes the number of the first unit in
 * big-endian order. */
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
