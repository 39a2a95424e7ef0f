/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * initiators.c - DC: the address, with number and access key of the target, follows the control
 * segment.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include <assert.h>
#include <endian.h>

#include "tests/verbs/dc/dc.h"
#include "tests/verbs/raw/raw.h"

struct initiator {
	struct dc dc;
	struct dc_to to;
	bool compact;
	struct raw_link link;
};

static void put_target(const struct raw_link *link, struct raw_wqe *wqe)
{
	const struct initiator *initiator = link->owner;
	const struct dc_to *to = &initiator->to;
	struct mlx5_wqe_av *av = raw_wqe_address(wqe, to->ah, to->dctn);

	av->key.dc_key = htobe64(to->key);
	if (initiator->compact)
		raw_wqe_make_compact(wqe, av);
}

static void link_receive(const struct raw_link *link)
{
	const struct initiator *initiator = link->owner;

	dc_post_receive(&initiator->dc, 1000, 1);
}

static void link_mend(const struct raw_link *link)
{
	const struct initiator *initiator = link->owner;

	dc_initiator_ready(&initiator->dc, link->qp);
}

static struct ibv_qp *qp_create(const struct dc *dc, struct ibv_cq *sent)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_initiator_attr();
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);
	struct ibv_qp *qp;

	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 16, .max_send_sge = 2 };
	attr.send_cq = sent;
	MUST(qp = raw_wqe_qp(dc->rig->ctx, &attr, &mlx5));
	dc_initiator_ready(dc, qp);
	return qp;
}

static void initiator_open(struct initiator *initiator, const struct ibv_qp *target)
{
	const struct dc *dc = &initiator->dc;
	struct ibv_cq *sent = ibv_create_cq(dc->rig->ctx, 32, NULL, NULL, 0);

	MUST(sent);
	initiator->to = dc_to(dc, target);
	initiator->compact = false;
	initiator->link = (struct raw_link){ .name = "DC",
					     .qp = qp_create(dc, sent),
					     .sent = sent,
					     .received = dc->cq,
					     .mr = dc->mr,
					     .from = dc_buf(dc, 0),
					     .to = dc_buf(dc, 1),
					     .owner = initiator,
					     .put_target = put_target,
					     .receive = link_receive,
					     .mend = link_mend };
}

void raw_initiators(struct rig *rig)
{
	static const struct raw_fault faults[] = {
		{ "another access key", MLX5_OPCODE_SEND, raw_spoil_key, IBV_WC_REM_ACCESS_ERR },
		{ "another access key", MLX5_OPCODE_RDMA_WRITE, raw_spoil_key,
		  IBV_WC_REM_ACCESS_ERR },
		{ "another number", MLX5_OPCODE_RDMA_WRITE, raw_spoil_number,
		  IBV_WC_RETRY_EXC_ERR },
		{ "no such local key", MLX5_OPCODE_SEND, raw_spoil_lkey, IBV_WC_LOC_PROT_ERR },
		{ "no such remote key", MLX5_OPCODE_RDMA_WRITE, raw_spoil_rkey,
		  IBV_WC_REM_ACCESS_ERR },
		{ "half an address", MLX5_OPCODE_SEND, raw_spoil_size, IBV_WC_LOC_QP_OP_ERR },
	};
	struct initiator initiator;
	struct ibv_qp *target;

	static_assert((int)RAW_ROOM == (int)DC_ROOM, "the memory of DC is that of a link");
	dc_open(rig, &initiator.dc);
	target = dc_target(&initiator.dc, DC_KEY);
	initiator_open(&initiator, target);
	raw_requests(&initiator.link);
	raw_faults(&initiator.link, faults, ARRAY_SIZE(faults));
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		initiator.compact = true;
		raw_requests(&initiator.link);
	}
	MUST(!ibv_destroy_qp(initiator.link.qp) && !ibv_destroy_qp(target));
	MUST(!ibv_destroy_cq(initiator.link.sent));
	dc_close(&initiator.dc);
}
