/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addresses.c - mappings of an address to a QP's congestion control; and objects that only contexts
 * with their own PCI device have: event queues and interrupts.
 *
 * Covers: providers/mlx5/dv/absent.c, providers/mlx5/dv/ah.c, softhca/device/av_mapping.c,
 * softhca/device/format/mlx5/cmd/av_mapping.c
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "tests/verbs/dv/dv.h"

static struct ibv_ah *address_open(struct rig *rig, struct ibv_pd *pd, uint8_t sl)
{
	struct ibv_ah_attr attr = { .port_num = 1, .sl = sl, .is_global = 1 };
	struct ibv_port_attr port;
	struct ibv_ah *ah;

	MUST(!ibv_query_port(rig->ctx, 1, &port));
	MUST(!ibv_query_gid(rig->ctx, 1, 0, &attr.grh.dgid));
	attr.dlid = port.lid;
	attr.grh.hop_limit = 1;
	MUST(ah = ibv_create_ah(pd, &attr));
	return ah;
}

/* An address keeps its first QP, even if another one is named later. */
void dv_addresses(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_UD
	};
	struct ibv_ah *ah, *other;
	struct ibv_qp *qp;

	MUST(pd && cq);
	MUST(qp = ibv_create_qp(pd, &attr));
	ah = address_open(rig, pd, 0);
	other = address_open(rig, pd, 1);
	SAY_RET(mlx5dv_map_ah_to_qp(ah, qp->qp_num), "an address");
	SAY_RET(mlx5dv_map_ah_to_qp(ah, qp->qp_num), "once more");
	SAY_RET(mlx5dv_map_ah_to_qp(ah, 0xabcdef), "it to another QP");
	SAY_RET(mlx5dv_map_ah_to_qp(other, qp->qp_num), "another address");
	MUST(!ibv_destroy_ah(ah));
	ah = address_open(rig, pd, 0);
	SAY_RET(mlx5dv_map_ah_to_qp(ah, qp->qp_num), "the first, made again");
	MUST(!ibv_destroy_ah(ah));
	MUST(!ibv_destroy_ah(other));
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

void dv_interrupts(struct rig *rig)
{
	uint8_t in[64] = { 0 }, out[16];

	SAY_PTR(mlx5dv_devx_alloc_msi_vector(rig->ctx), "an interrupt");
	SAY_PTR(mlx5dv_devx_create_eq(rig->ctx, in, sizeof(in), out, sizeof(out)),
		"an event queue");
}
