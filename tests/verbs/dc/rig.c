/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.c - see dc.h.
 */
#include <stdlib.h>

#include "dc.h"

static struct ibv_ah_attr own_address(const struct rig *rig)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.grh = { .dgid = rig->gid, .hop_limit = 64 },
		.dlid = rig->port.lid,
		.port_num = RIG_PORT,
	};
}

void dc_open(struct rig *rig, struct dc *dc)
{
	struct ibv_srq_init_attr srq = { .attr = { 64, 1, 0 } };
	struct ibv_ah_attr ah = own_address(rig);

	*dc = (struct dc){ .rig = rig };
	MUST(dc->pd = ibv_alloc_pd(rig->ctx));
	MUST(dc->cq = ibv_create_cq(rig->ctx, 256, NULL, NULL, 0));
	MUST(dc->srq = ibv_create_srq(dc->pd, &srq));
	MUST(dc->ah = ibv_create_ah(dc->pd, &ah));
	MUST(!posix_memalign((void **)&dc->buf, 4096, DC_BUFS * DC_ROOM));
	memset(dc->buf, 0, DC_BUFS * DC_ROOM);
	MUST(dc->mr = ibv_reg_mr(dc->pd, dc->buf, DC_BUFS * DC_ROOM,
				 IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
}

void dc_close(struct dc *dc)
{
	MUST(!ibv_dereg_mr(dc->mr));
	MUST(!ibv_destroy_ah(dc->ah));
	MUST(!ibv_destroy_srq(dc->srq));
	MUST(!ibv_destroy_cq(dc->cq));
	MUST(!ibv_dealloc_pd(dc->pd));
	free(dc->buf);
}

uint8_t *dc_buf(const struct dc *dc, unsigned int i)
{
	return dc->buf + (size_t)i * DC_ROOM;
}

struct ibv_sge dc_sge(const struct dc *dc, unsigned int i, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)dc_buf(dc, i), length, dc->mr->lkey };
}

struct ibv_qp_init_attr_ex dc_attr(const struct dc *dc)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = dc->cq,
		.recv_cq = dc->cq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = dc->pd,
	};
}

struct mlx5dv_qp_init_attr dc_target_attr(uint64_t key)
{
	return (struct mlx5dv_qp_init_attr){
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = key },
	};
}

struct mlx5dv_qp_init_attr dc_initiator_attr(void)
{
	return (struct mlx5dv_qp_init_attr){
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI },
	};
}

int dc_target_to(const struct dc *dc, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = RIG_PORT,
		.qp_access_flags = RIG_ALL_REMOTE,
		.path_mtu = IBV_MTU_1024,
		.min_rnr_timer = 1,
		.ah_attr = own_address(dc->rig),
	};

	if (state == IBV_QPS_INIT)
		return ibv_modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					     IBV_QP_ACCESS_FLAGS);
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU);
}

int dc_initiator_to(const struct dc *dc, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = RIG_PORT,
		.path_mtu = IBV_MTU_1024,
		.timeout = 10,
		.retry_cnt = 3,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
		.sq_psn = 0xfffff0,
	};

	(void)dc;
	if (state == IBV_QPS_INIT)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT);
	if (state == IBV_QPS_RTR)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU);
	if (state == IBV_QPS_RTS)
		return ibv_modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
					     IBV_QP_SQ_PSN);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

void dc_initiator_ready(const struct dc *dc, struct ibv_qp *qp)
{
	for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_RTS; state++)
		MUST(!dc_initiator_to(dc, qp, state));
}

struct ibv_qp *dc_target(const struct dc *dc, uint64_t key)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_target_attr(key);
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);
	struct ibv_qp *qp;

	attr.srq = dc->srq;
	MUST(qp = mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5));
	MUST(!dc_target_to(dc, qp, IBV_QPS_INIT));
	MUST(!dc_target_to(dc, qp, IBV_QPS_RTR));
	return qp;
}

struct ibv_qp *dc_initiator(const struct dc *dc, int log_errored)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_initiator_attr();
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);
	struct ibv_qp *qp;

	if (log_errored >= 0) {
		mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
		mlx5.dc_init_attr.dci_streams.log_num_concurent = 3;
		mlx5.dc_init_attr.dci_streams.log_num_errored = (uint8_t)log_errored;
	}
	attr.cap =
		(struct ibv_qp_cap){ .max_send_wr = 32, .max_send_sge = 2, .max_inline_data = 64 };
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = DC_OPS;
	MUST(qp = mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5));
	dc_initiator_ready(dc, qp);
	return qp;
}

enum ibv_qp_state dc_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

struct dc_to dc_to(const struct dc *dc, const struct ibv_qp *target)
{
	return (struct dc_to){ dc->ah, target->qp_num, DC_KEY, -1 };
}

void dc_pair_open(struct rig *rig, struct dc_pair *pair)
{
	dc_open(rig, &pair->dc);
	pair->initiator = dc_initiator(&pair->dc, -1);
	pair->target = dc_target(&pair->dc, DC_KEY);
	pair->to = dc_to(&pair->dc, pair->target);
}

void dc_pair_close(struct dc_pair *pair)
{
	MUST(!ibv_destroy_qp(pair->initiator));
	MUST(!ibv_destroy_qp(pair->target));
	dc_close(&pair->dc);
}

void dc_set_address(struct ibv_qp *qp, const struct dc_to *to)
{
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp));

	if (to->stream < 0)
		mlx5dv_wr_set_dc_addr(dv, to->ah, to->dctn, to->key);
	else
		mlx5dv_wr_set_dc_addr_stream(dv, to->ah, to->dctn, to->key, (uint16_t)to->stream);
}

int dc_post_send(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to, uint64_t wr_id,
		 uint32_t length)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)dc_buf(dc, 0), length);
	return ibv_wr_complete(qpx);
}

int dc_post_write(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to, uint64_t wr_id,
		  uint32_t length)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, dc->mr->rkey, (uintptr_t)dc_buf(dc, 1));
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)dc_buf(dc, 0), length);
	return ibv_wr_complete(qpx);
}

void dc_post_receive(const struct dc *dc, uint64_t wr_id, unsigned int buf)
{
	struct ibv_sge sge = dc_sge(dc, buf, DC_ROOM);
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(dc->srq, &wr, &bad));
}

static bool is_receive(const struct ibv_wc *wc)
{
	return wc->wr_id >= 1000;
}

/* Prints receives before requests, because their order in a shared CQ is up to the adapter. */
void dc_say_completions(const struct dc *dc, int n)
{
	struct ibv_wc wc[64];
	int got;

	MUST(n <= (int)ARRAY_SIZE(wc));
	got = rig_poll(dc->cq, n, wc);
	say_check(got == n, "%d completions", n);
	for (int i = 0; i < got; i++)
		if (is_receive(&wc[i]))
			say_wc("receive", &wc[i], 0);
	for (int i = 0; i < got; i++)
		if (!is_receive(&wc[i]))
			say_wc("request", &wc[i], 0);
}
