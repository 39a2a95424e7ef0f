/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bsf.h - signatures and encryption of memory keys: byte stream formats (BSF), signature state
 * (PSV), and the CQE of a signature error. PRM: BSF, SET_PSV, Signature Error CQE
 */
#ifndef PRM_MLX5_BSF_H
#define PRM_MLX5_BSF_H

#include "util/fields.h"

enum {
	BSF_SIZE = 64,
	PSV_SEG_SIZE = 16,
};

/* BSF_KIND */
enum { BSF_SIZE_WITH_INLINE = 2, BSF_SIZE_SIG_AND_CRYPTO = 3 };

/* BSF_WIRE_BS, BSF_MEM_BS */
enum bsf_block {
	BSF_BLOCK_512 = 1,
	BSF_BLOCK_520 = 2,
	BSF_BLOCK_4096 = 3,
	BSF_BLOCK_4160 = 4,
	BSF_BLOCK_4048 = 6,
};

/* BSF_WIRE_FORMAT, BSF_MEM_FORMAT: a checksum, and whether it repeats for each block. 0: no
 * signature, or a signature that the inline part describes. */
enum bsf_format {
	BSF_CRC32 = 0x20,
	BSF_CRC32C = 0x40,
	BSF_CRC64_XP10 = 0x50,
	BSF_CRC_REPEAT = 0x2,
	BSF_CRC_SEED_0 = 0x1, /* seed 0 instead of all ones */
};

#define BSF_KIND        FLD(0x0, 31, 30)
#define BSF_TYPE        FLD(0x0, 26, 24)
#define BSF_SAME_BLOCKS FLD(0x0, 28, 28) /* memory and wire have the same structure */
#define BSF_CHECK       FLD(0x0, 23, 16) /* a bit for each byte, bit 7 for the first */
#define BSF_WIRE_BS     FLD(0x0, 15, 8)  /* with SAME_BLOCKS, BSF_COPY instead */
#define BSF_COPY        FLD(0x0, 15, 8)
#define BSF_MEM_BS      FLD(0x0, 7, 0)
#define BSF_RAW_SIZE    FLD(0x4, 31, 0)
#define BSF_WIRE_FORMAT FLD(0x8, 31, 24)
#define BSF_WIRE_PSV    FLD(0x8, 23, 0)
#define BSF_MEM_FORMAT  FLD(0xc, 31, 24)
#define BSF_MEM_PSV     FLD(0xc, 23, 0)
#define BSF_WIRE_INLINE FLD_PART(0x20)
#define BSF_MEM_INLINE  FLD_PART(0x30)

/* The inline parts: parameters of T10-DIF */
enum { BSF_DIF_CRC = 1, BSF_DIF_CSUM = 2 };

#define BSF_INL_VALID      FLD(0x0, 31, 31)
#define BSF_INL_REFRESH    FLD(0x0, 30, 30)
#define BSF_INL_APP        FLD(0x0, 15, 0)
#define BSF_INL_REF        FLD(0x4, 31, 0)
#define BSF_INL_TYPE       FLD(0x8, 31, 24)
#define BSF_INL_REPEAT     FLD(0x8, 23, 23)
#define BSF_INL_SEED       FLD(0x8, 19, 19)
#define BSF_INL_INC_REF    FLD(0xc, 22, 22)
#define BSF_INL_APPREF_ESC FLD(0xc, 17, 17)
#define BSF_INL_APP_ESC    FLD(0xc, 16, 16)
#define BSF_INL_APP_MASK   FLD(0xc, 15, 0)

/* ---- encryption: a BSF of its own, behind the signatures' BSF if there is one ---- */

/* BSF_TYPE */
enum { BSF_OF_CRYPTO = 1 };

/* CRYPTO_BSF_ORDER: the side whose data is encrypted, with its signatures or without. Data on the
 * other side is in the clear. */
enum bsf_crypto_order {
	BSF_ENCRYPTED_WIRE_SIGNATURE = 0,
	BSF_ENCRYPTED_MEMORY_SIGNATURE = 1,
	BSF_ENCRYPTED_RAW_WIRE = 2,
	BSF_ENCRYPTED_RAW_MEMORY = 3,
};

enum { BSF_AES_XTS = 0 }; /* CRYPTO_BSF_STANDARD */
enum { BSF_TWEAK_SIZE = 16, BSF_KEYTAG_SIZE = 8 };

#define CRYPTO_BSF_ORDER    FLD(0x0, 23, 16)
#define CRYPTO_BSF_STANDARD FLD(0x0, 7, 0)
#define CRYPTO_BSF_BLOCK    FLD(0x8, 31, 24) /* enum bsf_block */
#define CRYPTO_BSF_TWEAK    FLD_PART(0x10)   /* of the first data unit, as a number */
#define CRYPTO_BSF_DEK      FLD(0x20, 23, 0)
#define CRYPTO_BSF_KEYTAG   FLD_PART(0x28)

#define SET_PSV_N           FLD(0x0, 23, 0)
#define SET_PSV_SIGNATURE   FLD64(0x8)

/* ---- the CQE of a signature error: its opcode is CQE_OP_SIG_ERR ---- */

/* SIG_ERR_SYNDROME */
enum {
	SIG_ERR_REF = 1 << 11,
	SIG_ERR_APP = 1 << 12,
	SIG_ERR_GUARD = 1 << 13,
};

enum { SIG_ERR_ON_WIRE = 0, SIG_ERR_IN_MEMORY = 1 };

#define SIG_ERR_EXPECTED_TRANS FLD(0x10, 31, 0)
#define SIG_ERR_ACTUAL_TRANS   FLD(0x14, 31, 0)
#define SIG_ERR_EXPECTED_REF   FLD(0x18, 31, 0)
#define SIG_ERR_ACTUAL_REF     FLD(0x1c, 31, 0)
#define SIG_ERR_SYNDROME       FLD(0x20, 31, 16)
#define SIG_ERR_TYPE           FLD(0x20, 15, 8) /* 0: of blocks */
#define SIG_ERR_DOMAIN         FLD(0x20, 7, 0)
#define SIG_ERR_MKEY           FLD(0x24, 31, 0)
#define SIG_ERR_OFFSET         FLD64(0x28)
#define SIG_ERR_QPN            FLD(0x38, 23, 0)

/* ---- commands ---- */

enum { PRM_CREATE_PSV_OUT_SIZE = 32, PSV_PER_COMMAND = 4 };

#define CREATE_PSV_IN_NUM_PSV FLD(0x8, 31, 28)
#define CREATE_PSV_IN_PD      FLD(0x8, 23, 0)
#define CREATE_PSV_OUT_PSV(n) FLD(0x10 + 4 * (n), 23, 0)
#define DESTROY_PSV_IN_PSV    FLD(0x8, 23, 0)

#endif
