/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.h - logins and wrapped data keys, for an adapter with the secrets of the file `secrets` in
 * this folder.
 */
#ifndef TESTS_VERBS_DV_CRYPTO_H
#define TESTS_VERBS_DV_CRYPTO_H

#include <infiniband/mlx5dv.h>

#include "tests/lib/rig.h"

struct mlx5dv_crypto_login_attr crypto_login(void);
struct mlx5dv_crypto_login_obj *crypto_login_object(struct rig *rig);
/* The key is of 128 bits, and has no tag. */
struct mlx5dv_dek *crypto_dek(struct rig *rig, struct ibv_pd *pd, uint64_t comp_mask,
			      struct mlx5dv_crypto_login_obj *login);
void crypto_say_dek(struct mlx5dv_dek *dek);
void crypto_say_state(struct rig *rig);
/* Removes the keys of the context's login, as the adapter's administrator would. */
void crypto_lose_login(struct rig *rig);

#endif
