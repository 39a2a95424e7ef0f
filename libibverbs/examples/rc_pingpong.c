/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rc_pingpong.c - ibv_rc_pingpong: the pingpong core over a reliable connection.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pingpong.h"

static int to_init(struct pp *pp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)pp->options->ib_port,
	};

	if (ibv_modify_qp(pp->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
		fprintf(stderr, "Failed to modify QP to INIT\n");
		return -1;
	}
	return 0;
}

/* By LID within an InfiniBand subnet; with a GRH when the peer has told a GID. */
static struct ibv_ah_attr path_to(const struct pp *pp, const struct pp_address *remote)
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

static int to_rtr(struct pp *pp, const struct pp_address *remote)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = pp->options->mtu,
		.dest_qp_num = remote->qpn,
		.rq_psn = remote->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms */
		.ah_attr = path_to(pp, remote),
	};

	if (ibv_modify_qp(pp->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER)) {
		fprintf(stderr, "Failed to modify QP to RTR\n");
		return -1;
	}
	return 0;
}

static int to_rts(struct pp *pp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14, /* 67 ms */
		.retry_cnt = 7,
		.rnr_retry = 7, /* for ever */
		.sq_psn = pp->local.psn,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(pp->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)) {
		fprintf(stderr, "Failed to modify QP to RTS\n");
		return -1;
	}
	return 0;
}

static int connect_rc(struct pp *pp, const struct pp_address *remote)
{
	return to_rtr(pp, remote) || to_rts(pp) ? -1 : 0;
}

static int run(struct pp *pp)
{
	unsigned int posted;

	if (pp_create_qp(pp, IBV_QPT_RC) || to_init(pp))
		return -1;
	posted = pp_post_recv(pp, pp->options->rx_depth);
	if (posted < pp->options->rx_depth) {
		fprintf(stderr, "Couldn't post receive (%u)\n", posted);
		return -1;
	}
	if (pp->options->events && ibv_req_notify_cq(pp->cq, 0)) {
		fprintf(stderr, "Couldn't request CQ notification\n");
		return -1;
	}
	return pp_find_address(pp) || pp_exchange(pp, connect_rc) || pp_run(pp, posted) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct pp_options options;
	struct pp pp;
	int ret;

	if (pp_parse(argc, argv, "pdismrnlegoOPtcjN", &options))
		return EXIT_FAILURE;
	ret = pp_open(&options, &pp);
	if (!ret)
		ret = run(&pp);
	if (pp_close(&pp))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
