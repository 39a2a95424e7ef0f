/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datagrams.c - UD: the address, with number and Q_Key of the other QP, follows the control
 * segment.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include <endian.h>
#include <stdlib.h>

#include "tests/verbs/raw/raw.h"
#include "util/bits.h"

enum { QKEY = 0x11223344, GRH = 40 };

struct datagrams {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_ah *ah;
	struct ibv_qp *to;
	bool compact; /* addresses have 16 bytes, which is enough inside a subnet */
	struct raw_link link;
};

static void put_target(const struct raw_link *link, struct raw_wqe *wqe)
{
	const struct datagrams *d = link->owner;
	struct mlx5_wqe_av *av = raw_wqe_address(wqe, d->ah, d->to->qp_num);

	av->key.qkey.qkey = htobe32(QKEY);
	if (d->compact)
		raw_wqe_make_compact(wqe, av);
}

static void link_receive(const struct raw_link *link)
{
	const struct datagrams *d = link->owner;
	struct ibv_sge sge = { (uintptr_t)link->to, RAW_ROOM, link->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1000, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(d->to, &wr, &bad));
}

static void qp_walk(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .port_num = RIG_PORT, .qkey = QKEY };
	static const int masks[] = {
		[IBV_QPS_RESET] = IBV_QP_STATE,
		[IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		[IBV_QPS_RTR] = IBV_QP_STATE,
		[IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_SQ_PSN,
	};

	for (size_t state = IBV_QPS_RESET; state < ARRAY_SIZE(masks); state++) {
		attr.qp_state = (enum ibv_qp_state)state;
		MUST(!ibv_modify_qp(qp, &attr, masks[state]));
	}
}

static void link_mend(const struct raw_link *link)
{
	qp_walk(link->qp);
}

static struct ibv_ah *address_to_itself(const struct datagrams *d)
{
	struct ibv_ah_attr attr = { .dlid = d->rig->port.lid, .port_num = RIG_PORT };

	if (d->rig->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = d->rig->gid;
		attr.grh.hop_limit = 1;
	}
	return ibv_create_ah(d->pd, &attr);
}

static void qps_open(struct datagrams *d)
{
	struct ibv_qp_init_attr_ex from = { .cap = { 16, 0, 2, 0, 64 },
					    .qp_type = IBV_QPT_UD,
					    .send_cq = d->link.sent,
					    .recv_cq = d->link.sent,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = d->pd };
	struct ibv_qp_init_attr to = { .cap = { 1, 16, 1, 1, 0 },
				       .qp_type = IBV_QPT_UD,
				       .send_cq = d->link.received,
				       .recv_cq = d->link.received };
	struct mlx5dv_qp_init_attr mlx5 = { 0 };

	MUST(d->link.qp = raw_wqe_qp(d->rig->ctx, &from, &mlx5));
	MUST(d->to = ibv_create_qp(d->pd, &to));
	qp_walk(d->link.qp);
	qp_walk(d->to);
}

static void datagrams_open(struct rig *rig, struct datagrams *d)
{
	struct raw_link *link = &d->link;

	*d = (struct datagrams){ .rig = rig };
	*link = (struct raw_link){ .name = "UD",
				   .header = GRH,
				   .only_sends = true,
				   .owner = d,
				   .put_target = put_target,
				   .receive = link_receive,
				   .mend = link_mend };
	MUST(d->pd = ibv_alloc_pd(rig->ctx));
	MUST(d->ah = address_to_itself(d));
	MUST(link->sent = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(link->received = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(link->from = aligned_alloc(RAW_ROOM, 2 * (size_t)RAW_ROOM));
	link->to = link->from + RAW_ROOM;
	MUST(link->mr =
		     ibv_reg_mr(d->pd, link->from, 2 * (size_t)RAW_ROOM, IBV_ACCESS_LOCAL_WRITE));
	qps_open(d);
}

static void datagrams_close(struct datagrams *d)
{
	MUST(!ibv_destroy_qp(d->link.qp) && !ibv_destroy_qp(d->to));
	MUST(!ibv_dereg_mr(d->link.mr) && !ibv_destroy_ah(d->ah));
	MUST(!ibv_destroy_cq(d->link.sent) && !ibv_destroy_cq(d->link.received));
	MUST(!ibv_dealloc_pd(d->pd));
	free(d->link.from);
}

/* A datagram writes no memory, so a WRITE is a wrong opcode. */
static void spoil_opcode(struct raw_wqe *wqe)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)wqe->unit;

	ctrl->opmod_idx_opcode = htobe32(MLX5_OPCODE_RDMA_WRITE);
}

/* The sender gets no error when its datagram is dropped, as UD has no acknowledges. */
void raw_datagrams(struct rig *rig)
{
	static const struct raw_fault faults[] = {
		{ "another Q_Key", MLX5_OPCODE_SEND, raw_spoil_key, IBV_WC_SUCCESS },
		{ "another number", MLX5_OPCODE_SEND, raw_spoil_number, IBV_WC_SUCCESS },
		{ "no such local key", MLX5_OPCODE_SEND, raw_spoil_lkey, IBV_WC_LOC_PROT_ERR },
		{ "half an address", MLX5_OPCODE_SEND, raw_spoil_size, IBV_WC_LOC_QP_OP_ERR },
		{ "a WRITE", MLX5_OPCODE_SEND, spoil_opcode, IBV_WC_LOC_QP_OP_ERR },
	};
	struct datagrams d;

	datagrams_open(rig, &d);
	raw_requests(&d.link);
	raw_faults(&d.link, faults, ARRAY_SIZE(faults));
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		d.compact = true;
		raw_requests(&d.link);
	}
	datagrams_close(&d);
}
