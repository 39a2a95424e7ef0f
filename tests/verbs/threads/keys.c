/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keys.c - errors of memory keys with signatures: one thread polls the CQ that reports them;
 * another thread, which owns the key and its queue, queries them meanwhile.
 *
 * Covers: providers/mlx5/data/mkey/config_rollback.c
 */
#include <infiniband/mlx5dv.h>

#include "threads.h"

enum { BLOCK = 512, BYTES = BLOCK + 4, ROUNDS = 40 };

struct signer {
	struct rig_pair pair;
	struct mlx5dv_mkey *mkey;
	struct ibv_qp_ex *qpx;
	struct mlx5dv_qp_ex *dvx;
	atomic_int done[2]; /* completions of each end */
	atomic_bool over;
};

static void signer_create_qp(struct signer *s)
{
	struct rig_pair *pair = &s->pair;
	struct ibv_qp_init_attr plain;
	struct ibv_qp_init_attr_ex attr = { 0 };
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE,
	};
	struct ibv_qp *qp;

	rig_qp_init_attr(&pair->conf, pair->end[0].cq, &plain);
	attr.send_cq = attr.recv_cq = plain.send_cq;
	attr.cap = plain.cap;
	attr.qp_type = plain.qp_type;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = pair->pd;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	MUST(qp = mlx5dv_create_qp(pair->rig->ctx, &attr, &dv));
	MUST(!ibv_destroy_qp(pair->end[0].qp));
	pair->end[0].qp = qp;
	s->qpx = ibv_qp_to_qp_ex(qp);
	s->dvx = mlx5dv_qp_ex_from_ibv_qp_ex(s->qpx);
}

static void signer_open(struct rig *rig, struct signer *s)
{
	struct rig_conf conf = rig_conf_default();
	struct mlx5dv_mkey_init_attr attr = { .max_entries = 4 };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	conf.cap.max_inline_data = 512;
	rig_pair_open(rig, &conf, &s->pair);
	signer_create_qp(s);
	MUST(!ibv_modify_qp(s->pair.end[1].qp, &reset, IBV_QP_STATE));
	for (int i = 0; i < 2; i++)
		rig_qp_to(rig, &conf, s->pair.end[i].qp, s->pair.end[!i].qp->qp_num, IBV_QPS_RTS);
	attr.pd = s->pair.pd;
	attr.create_flags =
		MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE;
	MUST(s->mkey = mlx5dv_create_mkey(&attr));
}

static void signer_close(struct signer *s)
{
	MUST(!mlx5dv_destroy_mkey(s->mkey));
	rig_pair_close(&s->pair);
}

static void poll_all(struct signer *s)
{
	struct ibv_wc wc;

	while (!atomic_load(&s->over)) {
		int found = 0;

		for (int i = 0; i < 2; i++)
			if (ibv_poll_cq(s->pair.end[i].cq, 1, &wc) == 1) {
				CHECK(!wc.status, "end %d: %s", i, ibv_wc_status_str(wc.status));
				atomic_fetch_add(&s->done[i], 1);
				found++;
			}
		if (!found)
			crew_nap();
	}
}

/* Sends a block with a wrong CRC-32 behind it. */
static void send_unsigned(struct signer *s)
{
	const struct rig_end *to = &s->pair.end[1];
	struct mlx5dv_sig_crc crc = { .type = MLX5DV_SIG_CRC_TYPE_CRC32 };
	struct mlx5dv_sig_block_domain mem = { .sig_type = MLX5DV_SIG_TYPE_CRC,
					       .sig.crc = &crc,
					       .block_size = MLX5DV_BLOCK_SIZE_512 };
	struct mlx5dv_sig_block_attr sig = { .mem = &mem, .check_mask = 0xff };
	struct mlx5dv_mkey_conf_attr conf = { 0 };
	struct ibv_sge from = { (uintptr_t)s->pair.end[0].buf, BYTES, s->pair.end[0].mr->lkey };
	struct ibv_sge room = { (uintptr_t)to->buf, BLOCK, to->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &room, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(to->qp, &recv, &bad));
	ibv_wr_start(s->qpx);
	s->qpx->wr_flags = IBV_SEND_INLINE;
	mlx5dv_wr_mkey_configure(s->dvx, s->mkey, 3, &conf);
	mlx5dv_wr_set_mkey_access_flags(s->dvx, IBV_ACCESS_LOCAL_WRITE);
	mlx5dv_wr_set_mkey_layout_list(s->dvx, 1, &from);
	mlx5dv_wr_set_mkey_sig_block(s->dvx, &sig);
	s->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(s->qpx);
	ibv_wr_set_sge(s->qpx, s->mkey->lkey, 0, BLOCK);
	MUST(!ibv_wr_complete(s->qpx));
}

static struct mlx5dv_mkey_err await_error(const struct signer *s)
{
	struct mlx5dv_mkey_err err;
	long end = crew_now_ms() + CREW_PATIENCE_MS;

	do
		MUST(!mlx5dv_mkey_check(s->mkey, &err));
	while (!err.err_type && crew_now_ms() < end);
	return err;
}

static void sign_and_ask(struct signer *s)
{
	for (int i = 1; i <= ROUNDS; i++) {
		struct mlx5dv_mkey_err err;

		s->pair.end[0].buf[BLOCK] = (uint8_t)i; /* of a block of zeroes */
		send_unsigned(s);
		err = await_error(s);
		CHECK(err.err_type == MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD && !err.err.sig.offset &&
			      err.err.sig.expected_value == (uint32_t)i << 24,
		      "round %d: error %d, expected %#llx", i, (int)err.err_type,
		      (unsigned long long)err.err.sig.expected_value);
		CHECK(crew_await(&s->done[0], i) && crew_await(&s->done[1], i),
		      "round %d is not over", i);
	}
	atomic_store(&s->over, true);
}

static void signer_hand(void *arg, int id)
{
	if (id)
		sign_and_ask(arg);
	else
		poll_all(arg);
}

void threads_signatures(struct rig *rig)
{
	struct signer s = { 0 };

	if (!mlx5dv_is_supported(rig->ctx->device))
		return;
	signer_open(rig, &s);
	crew_run(2, signer_hand, &s);
	say_check(atomic_load(&s.done[0]) == ROUNDS && atomic_load(&s.done[1]) == ROUNDS,
		  "%d errors were asked for while another thread polled", ROUNDS);
	signer_close(&s);
}
