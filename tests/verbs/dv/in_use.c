/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * in_use.c - memory keys that other objects use: destroying an object below a key succeeds, and the
 * next transfer through the key fails on the side that names it. A domain cannot be destroyed while
 * it has a key.
 *
 * Covers: providers/mlx5/dv/mkey.c, softhca/device/memory/mkey.c
 */
#include <string.h>

#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum { LENGTH = 64 };

/* A key whose one piece lies behind another key, which has one piece of memory. */
struct chain {
	struct keys keys;
	struct mlx5dv_mkey *outer;
};

static struct mlx5dv_mkey *key_create(struct ibv_pd *pd)
{
	struct mlx5dv_mkey_init_attr attr = {
		.pd = pd,
		.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
		.max_entries = 4,
	};
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);

	MUST(mkey);
	return mkey;
}

static void put_piece(struct chain *chain, struct mlx5dv_mkey *mkey, uint64_t addr, uint32_t lkey)
{
	struct ibv_sge sge = { addr, LENGTH, lkey };

	chain->keys.qpx->wr_flags = IBV_SEND_INLINE;
	mlx5dv_wr_mr_list(chain->keys.dvx, mkey, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE, 1, &sge);
}

static void chain_lay(struct chain *chain)
{
	ibv_wr_start(chain->keys.qpx);
	put_piece(chain, chain->keys.mkey, (uintptr_t)keys_memory[0], chain->keys.mr[0]->lkey);
	put_piece(chain, chain->outer, 0, chain->keys.mkey->lkey);
	MUST(!ibv_wr_complete(chain->keys.qpx));
}

static void chain_open(struct rig *rig, struct chain *chain)
{
	struct rig_conf conf = rig_conf_default();

	conf.cap.max_inline_data = 512;
	keys_open(rig, &conf, 4, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, &chain->keys);
	keys_connect(&chain->keys, MLX5DV_QP_EX_WITH_MR_LIST);
	chain->outer = key_create(chain->keys.pair.pd);
	chain_lay(chain);
}

static void chain_close(struct chain *chain)
{
	if (chain->outer)
		MUST(!mlx5dv_destroy_mkey(chain->outer));
	keys_close(&chain->keys);
}

static void say_end(const struct chain *chain, int i, const char *what)
{
	const struct rig_end *end = &chain->keys.pair.end[i];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	MUST(rig_poll(end->cq, 1, &wc) == 1);
	MUST(!ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init));
	say("%s, end %d: %s, vendor_err %#x, the QP is in state %d", what, i,
	    ibv_wc_status_str(wc.status), wc.status ? wc.vendor_err : 0, (int)attr.qp_state);
	/* The library logs each queue that fails. */
	say_result(wc.status);
}

static void receive_post(const struct rig_end *end, uint8_t *to, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)to, LENGTH, lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

static void request_post(const struct rig_end *end, enum ibv_wr_opcode opcode, uint64_t addr,
			 uint32_t lkey, uint32_t rkey)
{
	struct ibv_sge sge = { addr, LENGTH, lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { 0, rkey } },
			   *bad;

	MUST(!ibv_post_send(end->qp, &wr, &bad));
}

static void move_out(struct chain *chain, uint32_t lkey, uint32_t rkey)
{
	const struct rig_end *end = chain->keys.pair.end;

	(void)rkey;
	receive_post(&end[1], keys_memory[1], chain->keys.mr[1]->lkey);
	request_post(&end[0], IBV_WR_SEND, 0, lkey, 0);
	say_end(chain, 0, "send from the key");
}

static void move_in(struct chain *chain, uint32_t lkey, uint32_t rkey)
{
	const struct rig_end *end = chain->keys.pair.end;

	(void)rkey;
	receive_post(&end[0], NULL, lkey);
	request_post(&end[1], IBV_WR_SEND, (uintptr_t)keys_memory[1], chain->keys.mr[1]->lkey, 0);
	say_end(chain, 0, "receive into the key");
	say_end(chain, 1, "send to the key");
}

static void write_to(struct chain *chain, uint32_t lkey, uint32_t rkey)
{
	(void)lkey;
	request_post(&chain->keys.pair.end[1], IBV_WR_RDMA_WRITE, (uintptr_t)keys_memory[1],
		     chain->keys.mr[1]->lkey, rkey);
	say_end(chain, 1, "write to the key");
}

static void read_from(struct chain *chain, uint32_t lkey, uint32_t rkey)
{
	(void)lkey;
	request_post(&chain->keys.pair.end[1], IBV_WR_RDMA_READ, (uintptr_t)keys_memory[1],
		     chain->keys.mr[1]->lkey, rkey);
	say_end(chain, 1, "read from the key");
}

typedef void move_fn(struct chain *chain, uint32_t lkey, uint32_t rkey);
static move_fn *const moves[] = { move_out, move_in, write_to, read_from };

static void lose_memory(struct chain *chain)
{
	SAY_RET(ibv_dereg_mr(chain->keys.mr[0]), "ibv_dereg_mr below two keys");
	chain->keys.mr[0] = ibv_reg_mr(chain->keys.pair.pd, keys_memory[0], KEYS_MEMORY,
				       IBV_ACCESS_LOCAL_WRITE);
	MUST(chain->keys.mr[0]);
}

static void lose_inner(struct chain *chain)
{
	SAY_RET(mlx5dv_destroy_mkey(chain->keys.mkey), "mlx5dv_destroy_mkey below a key");
	chain->keys.mkey = key_create(chain->keys.pair.pd);
}

static void lose_outer(struct chain *chain)
{
	SAY_RET(mlx5dv_destroy_mkey(chain->outer), "mlx5dv_destroy_mkey");
	chain->outer = NULL;
}

static void lose_nothing(struct chain *chain)
{
	(void)chain;
}

static bool memory_is(const uint8_t *memory, const char *text)
{
	return !memcmp(memory, text, strlen(text));
}

/* The data shows whether the failing request has moved any. */
static void move_without(struct rig *rig, void (*lose)(struct chain *chain), move_fn *move)
{
	struct chain chain;
	uint32_t lkey, rkey;

	chain_open(rig, &chain);
	move_out(&chain, chain.outer->lkey, 0);
	say_end(&chain, 1, "receive from the key");
	say_check(!memcmp(keys_memory[1], keys_memory[0], LENGTH), "moved through two keys");
	memcpy(keys_memory[0], "first", 5);
	memcpy(keys_memory[1], "other", 5);
	lkey = chain.outer->lkey;
	rkey = chain.outer->rkey;
	lose(&chain);
	move(&chain, lkey, rkey);
	say("the first memory is %s", memory_is(keys_memory[0], "first") ? "as it was" : "changed");
	say("the other memory is %s", memory_is(keys_memory[1], "other") ? "as it was" : "changed");
	chain_close(&chain);
}

static void keys_configure_anew(struct rig *rig)
{
	struct chain chain;

	chain_open(rig, &chain);
	lose_memory(&chain);
	move_out(&chain, chain.outer->lkey, 0);
	rig_pair_reconnect(&chain.keys.pair);
	chain_lay(&chain);
	move_out(&chain, chain.outer->lkey, 0);
	say_end(&chain, 1, "receive from a mended key");
	say_check(!memcmp(keys_memory[1], keys_memory[0], LENGTH), "mended");
	chain_close(&chain);
}

static void say_domain_kept(struct ibv_pd *pd, int err, const char *by)
{
	int ret = SAY_RET(ibv_dealloc_pd(pd), "ibv_dealloc_pd of a domain with %s", by);

	say_check(ret == err, "%s", say_errno(err));
}

/* The kernel knows a region's domain, and refuses by itself. A key is made by DevX, so that the
 * adapter refuses, whose status "bad resource state" is EINVAL. */
static void domain_of_a_key(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct mlx5dv_mkey *mkey;
	struct ibv_mr *mr;

	MUST(pd);
	mkey = key_create(pd);
	MUST(mr = ibv_reg_mr(pd, keys_memory[0], LENGTH, IBV_ACCESS_LOCAL_WRITE));
	say_domain_kept(pd, EBUSY, "a region and a key");
	MUST(!ibv_dereg_mr(mr));
	say_domain_kept(pd, EINVAL, "a key");
	SAY_RET(mlx5dv_destroy_mkey(mkey), "mlx5dv_destroy_mkey");
	SAY_RET(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
}

void dv_in_use(struct rig *rig)
{
	static void (*const losses[])(struct chain * chain) = { lose_nothing, lose_memory,
								lose_inner, lose_outer };

	domain_of_a_key(rig);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		for (size_t k = 0; k < ARRAY_SIZE(moves); k++)
			move_without(rig, losses[i], moves[k]);
	keys_configure_anew(rig);
}
