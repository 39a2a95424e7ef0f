/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.c - see pairs.h. Each pair has CQs, a PD and buffers of its own.
 */
#include "bench/pairs.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "tests/lib/say.h"

#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE)

static struct rig_conf conf_narrow(void)
{
	struct rig_conf conf = rig_conf_default();

	conf.cap = (struct ibv_qp_cap){ .max_send_wr = BURST,
					.max_recv_wr = BURST,
					.max_send_sge = 1,
					.max_recv_sge = 1,
					.max_inline_data = INLINE };
	conf.cqe = 2 * BURST;
	return conf;
}

static void open_plain(struct pairs *p)
{
	struct rig_conf conf = conf_narrow();

	rig_pair_open(&p->rig, &conf, &p->pair[PLAIN]);
}

static void open_wide(struct pairs *p)
{
	struct rig_conf conf = conf_narrow();

	conf.cap.max_send_sge = MAX_SGES;
	conf.cap.max_recv_sge = MAX_SGES;
	rig_pair_open(&p->rig, &conf, &p->pair[WIDE]);
}

static void open_shared(struct pairs *p)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 2 * BURST, .max_sge = 1 } };
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[SHARED];
	struct ibv_qp_init_attr attr;

	rig_pair_open(&p->rig, &conf, pair);
	MUST(p->srq = ibv_create_srq(pair->pd, &srq_attr));
	rig_qp_init_attr(&conf, pair->end[1].cq, &attr);
	attr.srq = p->srq;
	MUST(!ibv_destroy_qp(pair->end[1].qp));
	MUST(pair->end[1].qp = ibv_create_qp(pair->pd, &attr));
	rig_pair_reconnect(pair);
}

static struct ibv_qp *create_ud(const struct rig_pair *pair, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex ex = { 0 };
	struct ibv_qp_init_attr attr;

	rig_qp_init_attr(&pair->conf, cq, &attr);
	attr.qp_type = IBV_QPT_UD;
	if (!pair->conf.send_ops)
		return ibv_create_qp(pair->pd, &attr);
	memcpy(&ex, &attr, sizeof(attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex.pd = pair->pd;
	ex.send_ops_flags = IBV_QP_EX_WITH_SEND;
	return ibv_create_qp_ex(pair->pd->context, &ex);
}

static void make_ud(const struct rig_pair *pair, struct rig_end *end)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = QKEY };

	MUST(!ibv_destroy_qp(end->qp));
	MUST(end->qp = create_ud(pair, end->cq));
	MUST(!ibv_modify_qp(end->qp, &to,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	to.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE));
	to.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static struct ibv_ah_attr own_address(const struct pairs *p)
{
	struct ibv_ah_attr attr = { .dlid = p->rig.port.lid, .port_num = RIG_PORT };

	if (p->rig.port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = p->rig.gid;
		attr.grh.hop_limit = 1;
	}
	return attr;
}

static void open_ud(struct pairs *p, enum which_pair which)
{
	struct ibv_ah_attr attr = own_address(p);
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[which];

	conf.send_ops = which == EX_UD ? IBV_QP_EX_WITH_SEND : 0;
	rig_pair_open(&p->rig, &conf, pair);
	make_ud(pair, &pair->end[0]);
	make_ud(pair, &pair->end[1]);
	MUST(p->ah[which] = ibv_create_ah(pair->pd, &attr));
}

static struct ibv_qp *dc_create(const struct pairs *p, struct ibv_cq *cq, struct ibv_srq *srq)
{
	const struct rig_pair *pair = &p->pair[DC];
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pair->pd,
	};
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC };
	struct ibv_qp *qp;

	mlx5.dc_init_attr.dc_type = srq ? MLX5DV_DCTYPE_DCT : MLX5DV_DCTYPE_DCI;
	if (srq) {
		mlx5.dc_init_attr.dct_access_key = DC_KEY;
	} else {
		mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
		mlx5.dc_init_attr.dci_streams.log_num_concurent = 2;
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = SEND_OPS;
		attr.cap = pair->conf.cap;
		attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	}
	MUST(qp = mlx5dv_create_qp(p->rig.ctx, &attr, &mlx5));
	return qp;
}

static struct ibv_qp *dc_target(struct pairs *p)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT,
				  .port_num = RIG_PORT,
				  .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				  .path_mtu = IBV_MTU_1024,
				  .min_rnr_timer = 1,
				  .ah_attr = own_address(p) };
	struct ibv_qp *qp = dc_create(p, p->pair[DC].end[1].cq, p->dc_srq);

	MUST(!ibv_modify_qp(qp, &to,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	to.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &to,
			    IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU));
	return qp;
}

static struct ibv_qp *dc_initiator(struct pairs *p)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT,
				  .port_num = RIG_PORT,
				  .path_mtu = IBV_MTU_1024,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 1 };
	struct ibv_qp *qp = dc_create(p, p->pair[DC].end[0].cq, NULL);

	MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
	to.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PATH_MTU));
	to.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &to,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN));
	return qp;
}

static void open_dc(struct pairs *p)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = BURST, .max_sge = 1 } };
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[DC];
	struct ibv_ah_attr attr = own_address(p);

	rig_pair_open(&p->rig, &conf, pair);
	MUST(p->dc_srq = ibv_create_srq(pair->pd, &srq));
	MUST(p->ah[DC] = ibv_create_ah(pair->pd, &attr));
	MUST(!ibv_destroy_qp(pair->end[0].qp) && !ibv_destroy_qp(pair->end[1].qp));
	pair->end[0].qp = dc_initiator(p);
	pair->end[1].qp = dc_target(p);
	p->dc_other = dc_target(p);
}

/* Destroys the objects of DC. The target uses the SRQ, so a QP without one takes its place. */
static void close_dc(struct pairs *p)
{
	struct rig_pair *pair = &p->pair[DC];

	MUST(!ibv_destroy_qp(p->dc_other) && !ibv_destroy_qp(pair->end[1].qp));
	MUST(pair->end[1].qp = rig_qp_create(pair->pd, &pair->conf, pair->end[1].cq));
	MUST(!ibv_destroy_srq(p->dc_srq));
}

enum { KEY_INLINE = 256 }; /* the data of a key is inline */

static struct ibv_qp *create_keyed(const struct pairs *p)
{
	const struct rig_pair *pair = &p->pair[KEYS];
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = pair->end[0].cq,
		.recv_cq = pair->end[0].cq,
		.cap = pair->conf.cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pair->pd,
		.send_ops_flags = SEND_OPS,
	};
	struct mlx5dv_qp_init_attr mlx5 = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_MR_LIST |
				  MLX5DV_QP_EX_WITH_MR_INTERLEAVED,
	};

	/* times three, as the distribution's library counts a request with signatures as three */
	attr.cap.max_send_wr *= 3;
	return mlx5dv_create_qp(p->rig.ctx, &attr, &mlx5);
}

/* Returns NULL if the adapter cannot encrypt, or encryption is not enabled. */
static struct mlx5dv_dek *create_dek(const struct pairs *p)
{
	struct mlx5dv_dek_init_attr attr = { .pd = p->pair[KEYS].pd,
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };

	memset(attr.key, 1, 16);
	memset(attr.key + 16, 2, 16);
	return mlx5dv_dek_create(p->rig.ctx, &attr);
}

static void open_keys(struct pairs *p)
{
	static const uint32_t flags[] = {
		[KEY_SIGNS] = MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
		[KEY_ENCRYPTS] = MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
		[KEY_DOES_BOTH] = MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE |
				  MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
	};
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[KEYS];

	conf.cap.max_inline_data = KEY_INLINE;
	rig_pair_open(&p->rig, &conf, pair);
	MUST(!ibv_destroy_qp(pair->end[0].qp));
	MUST(pair->end[0].qp = create_keyed(p));
	rig_pair_reconnect(pair);
	p->dek = create_dek(p);
	MUST(p->dek || errno == EOPNOTSUPP);
	for (int i = 0; i < KEYS_COUNT; i++) {
		struct mlx5dv_mkey_init_attr attr = {
			.pd = pair->pd,
			.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | flags[i],
			.max_entries = 2 * PIECES
		};

		p->key[i] = mlx5dv_create_mkey(&attr);
		MUST(p->key[i] || (i != KEY_PLAIN && errno == EOPNOTSUPP));
	}
}

static void close_keys(struct pairs *p)
{
	for (int i = 0; i < KEYS_COUNT; i++)
		MUST(!p->key[i] || !mlx5dv_destroy_mkey(p->key[i]));
	MUST(!p->dek || !mlx5dv_dek_destroy(p->dek));
}

static void open_ex(struct pairs *p)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 2 * BURST, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[EX];

	conf.send_ops = p->has_all ? SEND_OPS : 0;
	conf.cap.max_send_sge = PIECES;
	rig_pair_open(&p->rig, &conf, pair);
	MUST(p->cq_ex = ibv_create_cq_ex(p->rig.ctx, &attr));
	MUST(!ibv_destroy_qp(pair->end[1].qp));
	MUST(pair->end[1].qp = rig_qp_create(pair->pd, &conf, ibv_cq_ex_to_cq(p->cq_ex)));
	rig_pair_reconnect(pair);
}

/* Both ends use one thread domain. */
static void open_domain(struct pairs *p)
{
	struct ibv_parent_domain_init_attr attr = { .comp_mask = 0 };
	struct ibv_td_init_attr none = { .comp_mask = 0 };
	struct rig_conf conf = conf_narrow();
	struct rig_pair *pair = &p->pair[DOMAIN];

	rig_pair_open(&p->rig, &conf, pair);
	MUST(p->td = ibv_alloc_td(p->rig.ctx, &none));
	attr.pd = pair->pd;
	attr.td = p->td;
	MUST(p->domain = ibv_alloc_parent_domain(p->rig.ctx, &attr));
	for (int i = 0; i < 2; i++) {
		MUST(!ibv_destroy_qp(pair->end[i].qp));
		MUST(pair->end[i].qp = rig_qp_create(p->domain, &conf, pair->end[i].cq));
	}
	rig_pair_reconnect(pair);
}

static void close_domain(struct pairs *p)
{
	struct rig_pair *pair = &p->pair[DOMAIN];

	for (int i = 0; i < 2; i++) {
		MUST(!ibv_destroy_qp(pair->end[i].qp));
		MUST(pair->end[i].qp = rig_qp_create(pair->pd, &pair->conf, pair->end[i].cq));
	}
	MUST(!ibv_dealloc_pd(p->domain));
	MUST(!ibv_dealloc_td(p->td));
}

static void open_late(struct pairs *p)
{
	struct rig_conf conf = conf_narrow();

	rig_pair_open(&p->rig, &conf, &p->pair[LATE]);
}

void pairs_open(struct pairs *pairs)
{
	*pairs = (struct pairs){ 0 };
	rig_open(&pairs->rig);
	pairs->has_all = mlx5dv_is_supported(pairs->rig.ctx->device);
	open_plain(pairs);
	open_shared(pairs);
	open_ud(pairs, UD);
	open_wide(pairs);
	open_ex(pairs);
	if (!pairs->has_all)
		return;
	open_dc(pairs);
	open_ud(pairs, EX_UD);
	open_domain(pairs);
	open_keys(pairs);
	open_late(pairs); /* last, as the other pairs use all 12 registers */
}

static void close_own_qp(struct pairs *p, enum which_pair which)
{
	struct rig_pair *pair = &p->pair[which];

	MUST(!ibv_destroy_qp(pair->end[1].qp));
	if (which == SHARED)
		MUST(!ibv_destroy_srq(p->srq));
	else
		MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(p->cq_ex)));
	MUST(pair->end[1].qp = rig_qp_create(pair->pd, &pair->conf, pair->end[1].cq));
}

void pairs_close(struct pairs *pairs)
{
	close_own_qp(pairs, SHARED);
	close_own_qp(pairs, EX);
	if (pairs->has_all) {
		close_keys(pairs);
		close_domain(pairs);
		close_dc(pairs);
	}
	for (int i = 0; i < PAIRS && pairs_have(pairs, i); i++) {
		if (pairs->ah[i])
			MUST(!ibv_destroy_ah(pairs->ah[i]));
		rig_pair_close(&pairs->pair[i]);
	}
	rig_close(&pairs->rig);
}
