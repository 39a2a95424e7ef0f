/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_connect.c - connects the queue pairs of the pingpong programs, for each kind of QP.
 */
#include <stdio.h>

#include "pingpong.h"

static int qp_refused(const struct pp *pp, const struct pp_peer *peer, const char *state)
{
	if (pp->names_qps)
		fprintf(stderr, "Failed to modify QP[%d] to %s\n", (int)(peer - pp->peers), state);
	else
		fprintf(stderr, "Failed to modify QP to %s\n", state);
	return -1;
}

int pp_to_init(struct pp *pp, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)pp->options->ib_port,
		.qkey = PP_QKEY,
	};

	mask |= IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	for (unsigned int i = 0; i < pp->options->num_qp; i++)
		if (ibv_modify_qp(pp->peers[i].qp, &attr, mask))
			return qp_refused(pp, &pp->peers[i], "INIT");
	return 0;
}

/* Returns the path to the peer: by LID within an InfiniBand subnet, with a GRH if the peer has sent
 * a GID. */
struct ibv_ah_attr pp_path_to(const struct pp *pp, const struct pp_address *remote)
{
	struct ibv_ah_attr ah = {
		.dlid = remote->lid,
		.sl = (uint8_t)pp->options->sl,
		.port_num = (uint8_t)pp->options->ib_port,
	};

	if (remote->gid.global.interface_id) {
		ah.is_global = 1;
		ah.grh.dgid = remote->gid;
		ah.grh.hop_limit = 1;
		ah.grh.sgid_index = (uint8_t)pp->options->gid_index;
	}
	return ah;
}

/* Moves the QP to RTR and RTS; the masks add the attributes of a reliable connection. */
static int connect_by(struct pp *pp, struct pp_peer *peer, int rtr_mask, int rts_mask)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = pp->options->mtu,
		.dest_qp_num = peer->remote.qpn,
		.rq_psn = peer->remote.psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms */
		.ah_attr = pp_path_to(pp, &peer->remote),
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14, /* 67 ms */
		.retry_cnt = 7,
		.rnr_retry = 7, /* 7: without limit */
		.sq_psn = peer->local.psn,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(peer->qp, &rtr, IBV_QP_STATE | rtr_mask))
		return qp_refused(pp, peer, "RTR");
	if (ibv_modify_qp(peer->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | rts_mask))
		return qp_refused(pp, peer, "RTS");
	return 0;
}

#define RTR_UC (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTR_RC (RTR_UC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_RC (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

int pp_connect_rc(struct pp *pp, struct pp_peer *peer)
{
	return connect_by(pp, peer, RTR_RC, RTS_RC);
}

int pp_connect_uc(struct pp *pp, struct pp_peer *peer)
{
	return connect_by(pp, peer, RTR_UC, 0);
}

int pp_connect_ud(struct pp *pp, struct pp_peer *peer)
{
	struct ibv_ah_attr attr = pp_path_to(pp, &peer->remote);

	if (connect_by(pp, peer, 0, 0))
		return -1;
	peer->ah = ibv_create_ah(pp->pd, &attr);
	return peer->ah ? 0 : pp_fail("Failed to create AH");
}
