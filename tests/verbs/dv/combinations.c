/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * combinations.c - each pair of signatures, in memory and on the wire, with all their attributes;
 * and each kind of encryption with each of a few signatures. Cases use the words of mkeys.c:
 * results of the libraries and received data are compared.
 *
 * Covers: providers/mlx5/data/mkey/sig.c, providers/mlx5/data/mkey/crypt.c,
 * providers/mlx5/data/mkey/checks.c, softhca/device/format/mlx5/bsf.c, softhca/device/memory/sig.c
 */
#include <stdio.h>

#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum {
	SIGNATURE = MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
	CRYPTO = MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
	KINDS = 6,   /* none, two of T10-DIF, three CRCs */
	DETAILS = 8, /* the others are refused */
	UNITS = 5,
	ORDERS = 4, /* encrypted on the way out or not, before the signature or behind it */
};

void dv_signature_pairs(struct rig *rig)
{
	char words[64];

	for (unsigned int pair = 1; pair < KINDS * KINDS; pair++)
		for (unsigned int detail = 0; detail < DETAILS; detail++) {
			snprintf(words, sizeof(words), "c3 a w8448 g%u%u%u s1040", pair / KINDS,
				 pair % KINDS, detail);
			keys_case(rig, words, 512, 4, SIGNATURE);
		}
}

void dv_encrypted_signatures(struct rig *rig)
{
	static const char *const signatures[] = { "010", "050", "100", "300", "110", "340" };
	/* by one request after the other */
	static const char *const over_time[] = {
		"c3 a w1040 g110 C c1 e100 s1040",
		"c3 a w1040 e200 C c1 g110 s1040",
		"c4 a w1040 g110 e0 C c1 e200 s1040",
		"c4 a w1040 g100 e200 C c1 g110 s1024",
	};
	char words[64];

	for (size_t i = 0; i < ARRAY_SIZE(signatures) * UNITS * ORDERS; i++) {
		snprintf(words, sizeof(words), "c4 a w8448 g%s e%zu%zu6 s1040",
			 signatures[i / (UNITS * ORDERS)], i % ORDERS, i / ORDERS % UNITS);
		keys_case(rig, words, 512, 4, SIGNATURE | CRYPTO);
	}
	for (size_t i = 0; i < ARRAY_SIZE(over_time); i++)
		keys_case(rig, over_time[i], 512, 4, SIGNATURE | CRYPTO);
}
