/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * logins.c - data keys after their login has ended: they still encrypt, in old and in new memory
 * keys, but cannot be queried.
 *
 * Covers: providers/mlx5/dv/crypto.c, softhca/device/memory/dek.c
 */
#include <string.h>

#include "tests/verbs/dv/crypto.h"
#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"

enum { UNIT = 512, WITH_LOGIN = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };

/* The memory key is replaced by one that encrypts. Its key of data comes from the caller. */
static void encrypted_open(struct rig *rig, struct keys *keys)
{
	struct rig_conf conf = rig_conf_default();
	struct mlx5dv_mkey_init_attr attr = { 0 };

	conf.cap.max_inline_data = 512;
	keys_open(rig, &conf, 4, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, keys);
	MUST(!mlx5dv_destroy_mkey(keys->mkey));
	attr.pd = keys->pair.pd;
	attr.create_flags =
		MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO;
	attr.max_entries = 4;
	keys->mkey = mlx5dv_create_mkey(&attr);
	MUST(keys->mkey);
	/* All builders, as the two libraries give room for other numbers of requests with fewer. */
	keys_connect(keys, MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				   MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_MEMCPY);
}

static void configure(struct keys *keys)
{
	ibv_wr_start(keys->qpx);
	keys->qpx->wr_flags = IBV_SEND_INLINE;
	keys_put(keys, "c3 a w512 e100");
	SAY_RET(ibv_wr_complete(keys->qpx), "configuration with the key of data");
}

static void say_queue(const struct keys *keys, enum ibv_wc_status status)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(&keys->qpx->qp_base, &attr, IBV_QP_STATE, &init));
	say("sent: %s, the QP is in state %d", ibv_wc_status_str(status), (int)attr.qp_state);
	say_result(status);
}

/* Moves a unit into the other memory. Returns whether it arrived. */
static bool unit_move(struct keys *keys)
{
	struct ibv_sge sge = { (uintptr_t)keys_memory[1], UNIT, keys->mr[1]->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	memset(keys_memory[1], '.', UNIT);
	MUST(!ibv_post_recv(keys->pair.end[1].qp, &recv, &bad));
	ibv_wr_start(keys->qpx);
	keys_put(keys, "s512");
	MUST(!ibv_wr_complete(keys->qpx));
	MUST(rig_poll(keys->pair.end[0].cq, 1, &wc) == 1);
	say_queue(keys, wc.status);
	if (wc.status)
		return false;
	MUST(rig_poll(keys->pair.end[1].cq, 1, &wc) == 1 && !wc.status && wc.byte_len == UNIT);
	return true;
}

/* Under the login, then without it, then by a configuration that is made without it. */
static void move_as_before(struct keys *keys, void (*leave)(struct rig *rig, void *login),
			   void *login)
{
	uint8_t encrypted[UNIT];

	configure(keys);
	MUST(unit_move(keys));
	memcpy(encrypted, keys_memory[1], UNIT);
	say_check(memcmp(encrypted, keys_memory[0], UNIT) != 0, "encrypted");
	leave(keys->pair.rig, login);
	crypto_say_dek(keys->dek);
	for (int i = 0; i < 2; i++) {
		say_check(unit_move(keys) && !memcmp(encrypted, keys_memory[1], UNIT), "as before");
		configure(keys);
	}
}

/* Neither the domain nor the memory key keeps a key of data from going, so data fail then. */
static void lose_dek(struct keys *keys)
{
	SAY_RET(ibv_dealloc_pd(keys->pair.pd), "ibv_dealloc_pd of a domain in use");
	SAY_RET(mlx5dv_dek_destroy(keys->dek), "mlx5dv_dek_destroy below a memory key");
	keys->dek = NULL;
	MUST(!unit_move(keys));
	say_check(keys_memory[1][0] == '.', "nothing arrived");
}

static void logout(struct rig *rig, void *login)
{
	(void)login;
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "mlx5dv_crypto_logout");
	crypto_say_state(rig);
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "mlx5dv_crypto_logout again");
}

static void login_of_context(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();
	struct keys keys;

	encrypted_open(rig, &keys);
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "mlx5dv_crypto_login");
	keys.dek = crypto_dek(rig, keys.pair.pd, 0, NULL);
	MUST(keys.dek);
	move_as_before(&keys, logout, NULL);
	MUST(!crypto_dek(rig, keys.pair.pd, 0, NULL));
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "mlx5dv_crypto_login");
	crypto_say_dek(keys.dek);
	lose_dek(&keys);
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "mlx5dv_crypto_logout");
	keys_close(&keys);
}

static void destroy_login(struct rig *rig, void *login)
{
	(void)rig;
	SAY_RET(mlx5dv_crypto_login_destroy(login), "mlx5dv_crypto_login_destroy");
}

static void login_object(struct rig *rig)
{
	struct mlx5dv_crypto_login_obj *login;
	struct keys keys;

	encrypted_open(rig, &keys);
	login = crypto_login_object(rig);
	MUST(login);
	keys.dek = crypto_dek(rig, keys.pair.pd, WITH_LOGIN, login);
	MUST(keys.dek);
	move_as_before(&keys, destroy_login, login);
	login = crypto_login_object(rig);
	MUST(login);
	crypto_say_dek(keys.dek);
	lose_dek(&keys);
	destroy_login(rig, login);
	keys_close(&keys);
}

/* A context takes its login with it, so that the next one finds none. */
static void login_of_closed(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();
	struct rig other = { .ctx = ibv_open_device(rig->ctx->device) };

	MUST(other.ctx);
	SAY_RET(mlx5dv_crypto_login(other.ctx, &attr), "login of another context");
	crypto_say_state(rig);
	SAY_RET(ibv_close_device(other.ctx), "ibv_close_device of one that is logged in");
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "mlx5dv_crypto_login");
	crypto_say_state(rig);
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "mlx5dv_crypto_logout");
}

void dv_logged_out(struct rig *rig)
{
	struct mlx5dv_context device = { .comp_mask = MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD };

	MUST(!mlx5dv_query_device(rig->ctx, &device));
	if (!device.crypto_caps.wrapped_import_method) {
		say("the adapter has no secrets");
		return;
	}
	login_of_context(rig);
	login_object(rig);
	login_of_closed(rig);
}

static void login_lose(struct rig *rig, void *login)
{
	(void)login;
	crypto_lose_login(rig);
	crypto_say_state(rig);
}

void dv_lost_login_data(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();
	struct keys keys;

	encrypted_open(rig, &keys);
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "mlx5dv_crypto_login");
	keys.dek = crypto_dek(rig, keys.pair.pd, 0, NULL);
	MUST(keys.dek);
	move_as_before(&keys, login_lose, NULL);
	lose_dek(&keys);
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "mlx5dv_crypto_logout");
	keys_close(&keys);
}
