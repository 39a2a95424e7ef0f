/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.h - encryption: capabilities of a device, and the objects that hold logins and keys. PRM:
 * CRYPTO_LOGIN and DEK objects, Crypto BSF
 */
#ifndef PRM_MLX5_CRYPTO_H
#define PRM_MLX5_CRYPTO_H

#include "util/fields.h"

enum {
	PRM_CRYPTO_LOGIN_SIZE = 256,
	PRM_DEK_SIZE = 256,
	PRM_CREDENTIAL_SIZE = 48, /* wrapped */
	PRM_DEK_KEY_SIZE = 128,   /* room for the longest key */
	PRM_DEK_OPAQUE_SIZE = 8,
};

#define CRYPTO_CAP_WRAPPED_OPERATIONAL   FLD(0x0, 31, 31)
#define CRYPTO_CAP_WRAPPED_COMMISSIONING FLD(0x0, 30, 30)
#define CRYPTO_CAP_WRAPPED_IMPORT_METHOD FLD(0x0, 7, 0)
#define CRYPTO_CAP_LOG_MAX_NUM_DEKS      FLD(0x4, 20, 16)
#define CRYPTO_CAP_LOG_MAX_IMPORT_KEKS   FLD(0x4, 12, 8)
#define CRYPTO_CAP_LOG_MAX_CREDENTIALS   FLD(0x4, 4, 0)
#define CRYPTO_CAP_FAILED_SELFTESTS      FLD(0x8, 31, 16)
#define CRYPTO_CAP_NUM_IMPORT_KEKS       FLD(0x8, 15, 8)
#define CRYPTO_CAP_NUM_CREDENTIALS       FLD(0x8, 7, 0)

/* A bit of CRYPTO_CAP_WRAPPED_IMPORT_METHOD */
enum { PRM_WRAPPED_IMPORT_AES_XTS = 1 << 2 };

enum prm_crypto_login_state { PRM_CRYPTO_LOGIN_VALID = 0, PRM_CRYPTO_LOGIN_INVALID = 1 };

#define CRYPTO_LOGIN_STATE              FLD(0x10, 27, 24)
#define CRYPTO_LOGIN_CREDENTIAL_POINTER FLD(0x10, 23, 0)
#define CRYPTO_LOGIN_IMPORT_KEK_POINTER FLD(0x14, 23, 0)
#define CRYPTO_LOGIN_CREDENTIAL         FLD_PART(0x40)

enum prm_dek_state { PRM_DEK_READY = 0 };
enum prm_dek_key_size { PRM_DEK_128 = 0, PRM_DEK_256 = 1 };
enum prm_dek_purpose { PRM_DEK_AES_XTS = 3 };

#define DEK_MODIFY_FIELD_SELECT FLD64(0x0)
#define DEK_STATE               FLD(0x8, 31, 24)
#define DEK_KEY_BITS            FLD(0x8, 11, 8)
#define DEK_HAS_KEYTAG          FLD(0x8, 7, 7)
#define DEK_PURPOSE             FLD(0x8, 3, 0)
#define DEK_PD                  FLD(0xc, 23, 0)
#define DEK_OPAQUE              FLD_PART(0x30)
#define DEK_KEY                 FLD_PART(0x40)

#endif
