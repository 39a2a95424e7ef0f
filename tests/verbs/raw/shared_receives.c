/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shared_receives.c - XRC: the number of the SRQ follows the control segment.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include <assert.h>
#include <endian.h>

#include "tests/lib/xrc.h"
#include "tests/verbs/raw/raw.h"
#include "util/bits.h"

static const int wanted = 1; /* of the two SRQs, so that it is not the first by chance */

static void put_target(const struct raw_link *link, struct raw_wqe *wqe)
{
	const struct xrc *xrc = link->owner;

	raw_wqe_srq(wqe, xrc->srqn[wanted]);
}

static void link_receive(const struct raw_link *link)
{
	xrc_receive(link->owner, wanted, 1000);
}

static void link_mend(const struct raw_link *link)
{
	xrc_connect(link->owner);
}

static struct raw_link link_of(struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex attr = xrc_initiator_attr(xrc);
	struct mlx5dv_qp_init_attr mlx5 = { 0 };

	MUST(xrc->from = raw_wqe_qp(xrc->rig->ctx, &attr, &mlx5));
	xrc_connect(xrc);
	return (struct raw_link){ .name = "XRC",
				  .qp = xrc->from,
				  .sent = xrc->sent,
				  .received = xrc->received,
				  .mr = xrc->mr,
				  .from = xrc->buf,
				  .to = xrc->buf + XRC_SLICE,
				  .owner = xrc,
				  .put_target = put_target,
				  .receive = link_receive,
				  .mend = link_mend };
}

static void spoil_srqn(struct raw_wqe *wqe)
{
	__be32 *seg = (__be32 *)&wqe->unit[1];

	*seg = htobe32(be32toh(*seg) + 77);
}

static void spoil_end(struct raw_wqe *wqe)
{
	wqe->units = 1;
}

void raw_shared_receives(struct rig *rig)
{
	static const struct raw_fault faults[] = {
		{ "no such SRQ", MLX5_OPCODE_SEND, spoil_srqn, IBV_WC_REM_INV_REQ_ERR },
		{ "no SRQ at all", MLX5_OPCODE_SEND, spoil_end, IBV_WC_LOC_QP_OP_ERR },
		{ "no such local key", MLX5_OPCODE_SEND, raw_spoil_lkey, IBV_WC_LOC_PROT_ERR },
		{ "no such remote key", MLX5_OPCODE_RDMA_WRITE, raw_spoil_rkey,
		  IBV_WC_REM_ACCESS_ERR },
	};
	struct raw_link link;
	struct xrc xrc;

	static_assert((int)RAW_ROOM == (int)XRC_SLICE, "the memory of an xrc is that of a link");
	xrc_open(rig, rig_conf_default(), &xrc);
	link = link_of(&xrc);
	raw_requests(&link);
	raw_faults(&link, faults, ARRAY_SIZE(faults));
	xrc_close(&xrc);
}
