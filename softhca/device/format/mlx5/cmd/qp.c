/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - commands that create, destroy and query queue pairs.
 *
 * The QP context that software wrote is kept (qp->context) and decoded once; a query first updates
 * the fields that the device has changed. State changes are in cmd/qp_modify.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/qp.h"
#include "softhca/device/format/mlx5/cmd/umem.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/transport/tm.h"
#include "util/bits.h"

CONTEXT_HOLDS(struct qp, PRM_QPC_SIZE);

static const struct qp_kind {
	uint8_t st; /* PRM_QP_ST_* */
	enum fabric_service service;
	int special;
} qp_kinds[] = {
	{ PRM_QP_ST_RC, FABRIC_RC, -1 },        { PRM_QP_ST_UC, FABRIC_UC, -1 },
	{ PRM_QP_ST_UD, FABRIC_UD, -1 },        { PRM_QP_ST_QP0, FABRIC_UD, QP_SMI },
	{ PRM_QP_ST_QP1, FABRIC_UD, QP_GSI },   { PRM_QP_ST_XRC, FABRIC_XRC, -1 },
	{ PRM_QP_ST_REG_UMR, FABRIC_NONE, -1 }, { PRM_QP_ST_DCI, FABRIC_DC, -1 },
};

static const struct qp_kind *qp_find_kind(const uint8_t *qpc)
{
	for (size_t i = 0; i < ARRAY_SIZE(qp_kinds); i++)
		if (qp_kinds[i].st == fld_get(qpc, QPC_ST))
			return &qp_kinds[i];
	return NULL;
}

static const char *qp_check_type(const uint8_t *qpc)
{
	uint64_t rq_type = fld_get(qpc, QPC_RQ_TYPE);

	if (!qp_find_kind(qpc))
		return "qp: service type is not supported";
	if (fld_get(qpc, QPC_ULP_STATELESS_OFFLOAD_MODE))
		return "qp: stateless offloads are not supported";
	if (rq_type != PRM_RQ_TYPE_RQ && rq_type != PRM_RQ_TYPE_ZERO_SIZE &&
	    rq_type != PRM_RQ_TYPE_SRQ)
		return "qp: unknown type of receive queue";
	if (fld_get(qpc, QPC_CD_MASTER) || fld_get(qpc, QPC_CD_SLAVE_SEND) ||
	    fld_get(qpc, QPC_CD_SLAVE_RECEIVE))
		return "qp: cross-channel is not supported";
	return NULL;
}

/* Refuses QPs that only the driver may have, as a user with QP0 or QP1 could read all management
 * datagrams, and a registration QP or the reserved key reaches all memory. */
static const char *qp_check_user(const struct hca *hca, const uint8_t *qpc)
{
	const struct qp_kind *kind = qp_find_kind(qpc);

	if (hca->user && (kind->service == FABRIC_NONE || kind->special >= 0))
		return "qp: a type for the driver only";
	if (hca->user && (fld_get(qpc, QPC_FRE) || fld_get(qpc, QPC_RLKY)))
		return "qp: fre and rlky are for the driver only";
	return NULL;
}

/* Checks streams, which only DC initiators have: other types must leave the fields 0. */
static const char *qp_check_streams(const uint8_t *qpc)
{
	uint64_t streams = fld_get(qpc, QPC_LOG_NUM_DCI_STREAM_CHANNELS);
	uint64_t errored = fld_get(qpc, QPC_LOG_NUM_DCI_ERRORED_STREAMS);

	if (fld_get(qpc, QPC_ST) != PRM_QP_ST_DCI && (streams || errored))
		return "qp: streams of a QP that is no DCI";
	if (streams > DCI_LOG_STREAMS)
		return "qp: more streams than log_max_dci_stream_channels allows";
	if (errored > DCI_LOG_ERRORED)
		return "qp: more streams in error than log_max_dci_errored_streams allows";
	return NULL;
}

/* Checks that a DC initiator has no receive queue of its own, as it receives nothing. */
static const char *qp_check_initiator(const uint8_t *qpc)
{
	if (fld_get(qpc, QPC_ST) == PRM_QP_ST_DCI && fld_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ)
		return "qp: a DCI with a receive queue";
	return qp_check_streams(qpc);
}

static const char *qp_check_sizes(const struct hca *hca, const uint8_t *qpc)
{
	uint64_t rq_size = fld_get(qpc, QPC_LOG_RQ_SIZE);
	uint64_t cs_req = fld_get(qpc, QPC_CS_REQ), cs_res = fld_get(qpc, QPC_CS_RES);

	if (!fld_get(qpc, QPC_NO_SQ) &&
	    1u << fld_get(qpc, QPC_LOG_SQ_SIZE) > hca->config.limits.max_wqe_bb)
		return "qp: send queue larger than log_max_qp_sz allows";
	if (fld_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ &&
	    1u << rq_size > hca->config.limits.max_wqe_bb)
		return "qp: receive queue larger than log_max_qp_sz allows";
	if (fld_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ &&
	    16u << fld_get(qpc, QPC_LOG_RQ_STRIDE) > RECV_WQE_MAX)
		return "qp: receive WQEs larger than max_wqe_sz_rq allows";
	if (cs_req && cs_req != PRM_CS_REQ_32B && cs_req != PRM_CS_REQ_64B)
		return "qp: unknown cs_req";
	if (cs_res > PRM_CS_RES_64B)
		return "qp: unknown cs_res";
	if (!fld_get(qpc, QPC_DBR_UMEM_VALID) &&
	    fld_get(qpc, QPC_DBR_ADDR) % hca->format->dbrec_align)
		return "qp: doorbell record is not aligned";
	return NULL;
}

/* Finds the SRQ of a QP; an XRC QP has a domain instead, and each request names an SRQ of it. */
static bool qp_find_shared(struct hca *hca, struct qp *qp)
{
	if (qp->service == FABRIC_DC)
		return true; /* a DC initiator, so it receives nothing */
	if (qp->service == FABRIC_XRC) {
		qp->xrcd = res_find(&hca->xrcds, fld_get(qp->context, QPC_XRCD));
		return qp->xrcd;
	}
	qp->srq = res_find(&hca->srqs, fld_get(qp->context, QPC_SRQN_RMPN_XRQN));
	return qp->srq && !qp->srq->xrcd;
}

/* Returns whether the adapter runs rendezvous for the QP, which needs a matching list and the send
 * queue. */
static bool is_offloaded(const struct qp *qp)
{
	return fld_get(qp->context, QPC_OFFLOAD_TYPE) == PRM_QPC_OFFLOAD_TYPE_RNDV;
}

static const char *qp_check_offload(const struct qp *qp)
{
	if (!fld_get(qp->context, QPC_OFFLOAD_TYPE))
		return NULL;
	if (!is_offloaded(qp) || qp->service != FABRIC_RC || !fld_get(qp->context, QPC_NO_SQ) ||
	    !qp->srq || !qp->srq->tm)
		return "qp: offload_type needs RC, tag matching and no send queue";
	return NULL;
}

/* Finds the CQ for receives. A QP that receives nothing may name none, as DPDK's crypto driver
 * does. */
static struct cq *qp_find_recv_cq(struct hca *hca, const struct qp *qp)
{
	uint32_t cqn = fld_get(qp->context, QPC_CQN_RCV);

	if (!cqn && fld_get(qp->context, QPC_RQ_TYPE) == PRM_RQ_TYPE_ZERO_SIZE)
		return qp->send_cq;
	return res_find(&hca->cqs, cqn);
}

static const char *qp_find_objects(struct hca *hca, struct qp *qp)
{
	qp->pd = res_find(&hca->pds, fld_get(qp->context, QPC_PD));
	qp->send_cq = res_find(&hca->cqs, fld_get(qp->context, QPC_CQN_SND));
	qp->recv_cq = qp_find_recv_cq(hca, qp);
	qp->uar = res_find(&hca->uars, fld_get(qp->context, QPC_UAR_PAGE));
	if (!qp->pd && qp->service != FABRIC_NONE)
		return "qp: no such PD";
	if (!qp->send_cq || !qp->recv_cq)
		return "qp: no such CQ";
	if (fld_get(qp->context, QPC_RQ_TYPE) == PRM_RQ_TYPE_SRQ && !qp_find_shared(hca, qp))
		return "qp: no such SRQ or XRC domain";
	if (!qp->uar && !fld_get(qp->context, QPC_NO_SQ))
		return "qp: no such UAR";
	return qp_check_offload(qp);
}

static int qp_map_memory(struct hca *hca, struct qp *qp, const struct cmd *cmd, uint64_t len)
{
	unsigned int page_shift = 12 + fld_get(qp->context, QPC_LOG_PAGE_SIZE);
	uint64_t skip = fld_get(qp->context, QPC_PAGE_OFFSET) << (page_shift - 6);
	const struct umem_place ring = {
		.valid = fld_get(cmd->in, CREATE_QP_IN_WQ_UMEM_VALID),
		.id = fld_get(cmd->in, CREATE_QP_IN_WQ_UMEM_ID),
		.offset = fld_get(cmd->in, CREATE_QP_IN_WQ_UMEM_OFFSET),
	};
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_QP_IN_PAS, &npas);

	if (ring.valid && len)
		return umem_place_ring(hca, &ring, len, &qp->map, &qp->umems.ring);
	return dma_map_pages(&qp->map, pas, npas, page_shift, skip, len);
}

static int qp_find_record(struct hca *hca, struct qp *qp)
{
	const struct umem_place record = {
		.valid = fld_get(qp->context, QPC_DBR_UMEM_VALID),
		.id = fld_get(qp->context, QPC_DBR_UMEM_ID),
		.offset = fld_get(qp->context, QPC_DBR_ADDR),
	};

	return umem_place_record(hca, &record, &qp->dbr, &qp->umems.record);
}

/* Returns the bytes of a send block: 64, unless a front with another layout (mlx4) gives them. */
static uint32_t qp_block(const struct hca *hca, const struct cmd *cmd)
{
	uint32_t log = hca->format->send_is_posted ? fld_get(cmd->in, CREATE_QP_IN_LOG_BLOCK) : 0;

	return log >= WQE_BB_LOG && 1u << log <= WQE_BYTES_MAX ? 1u << log : WQE_BB;
}

/* Places the rings in the QP's buffer, one behind the other, as software lays them out: the context
 * has one address for both. */
static uint64_t qp_place_rings(const struct hca *hca, struct qp *qp)
{
	uint64_t rq = (uint64_t)qp->rq.stride << qp->rq.log_size;
	uint64_t sq = (uint64_t)qp->sq.block << qp->sq.log_size;

	if (hca->format->larger_ring_first && qp->rq.stride <= qp->sq.block)
		qp->rq.offset = sq;
	else
		qp->sq.offset = rq;
	return rq + sq;
}

static int qp_map_rings(struct hca *hca, struct qp *qp, const struct cmd *cmd)
{
	if (fld_get(qp->context, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ) {
		qp->rq.log_size = fld_get(qp->context, QPC_LOG_RQ_SIZE);
		qp->rq.stride = 16u << fld_get(qp->context, QPC_LOG_RQ_STRIDE);
	}
	if (!fld_get(qp->context, QPC_NO_SQ)) {
		qp->sq.log_size = fld_get(qp->context, QPC_LOG_SQ_SIZE);
		qp->sq.entry = calloc(1u << qp->sq.log_size, sizeof(*qp->sq.entry));
		if (!qp->sq.entry)
			return ENOMEM;
		qp->sq.block = qp_block(hca, cmd);
	}
	return qp_map_memory(hca, qp, cmd, qp_place_rings(hca, qp));
}

static uint8_t bytes_in_cqe(uint64_t scatter)
{
	switch (scatter) {
	case PRM_CS_REQ_32B:
	case PRM_CS_RES_32B:
		return 32;
	case PRM_CS_REQ_64B:
	case PRM_CS_RES_64B:
		return 64;
	default:
		return 0;
	}
}

static int qp_make_initiator(struct hca *hca, struct qp *qp)
{
	const uint8_t *qpc = qp->context;

	if (qp->service != FABRIC_DC)
		return 0;
	qp->dci = calloc(1, sizeof(*qp->dci));
	if (!qp->dci)
		return ENOMEM;
	qp->dci->has_streams = fld_get(qpc, QPC_LOG_NUM_DCI_STREAM_CHANNELS);
	qp->dci->life = hca->dci_lives++;
	qp->dci->bears = 1u << fld_get(qpc, QPC_LOG_NUM_DCI_ERRORED_STREAMS);
	return 0;
}

static enum prm_status qp_add(struct hca *hca, struct cmd *cmd, struct qp *qp)
{
	int ret = qp_map_rings(hca, qp, cmd);

	if (!ret)
		ret = qp_find_record(hca, qp);
	if (!ret && is_offloaded(qp))
		ret = tm_offload_start(qp);
	if (!ret)
		ret = qp_make_initiator(hca, qp);
	if (!ret)
		ret = res_add(&hca->qps, qp, &qp->n);
	if (ret)
		return cmd_errno(cmd, ret, "qp: page list too short, no such umem, or table full");
	if (qp->xrcd)
		qp->n |= hca->format->xrc_target_mark;
	qp->wire = qp->special >= 0 ? (uint32_t)qp->special : qp->n;
	qp->real_time = fld_get(qp->context, QPC_TS_FORMAT) == PRM_TS_REAL_TIME;
	qp->blocks_own_multicast = fld_get(qp->context, QPC_BLOCK_LB_MC);
	qp->user_index = fld_get(qp->context, QPC_USER_INDEX);
	qp->has_signatures = fld_get(qp->context, QPC_WQ_SIGNATURE);
	qp->req_in_cqe = bytes_in_cqe(fld_get(qp->context, QPC_CS_REQ));
	qp->resp_in_cqe = bytes_in_cqe(fld_get(qp->context, QPC_CS_RES));
	qp_reset_queues(qp);
	if (qp->pd)
		qp->pd->users++;
	qp->send_cq->users++;
	qp->recv_cq->users++;
	if (qp->srq)
		qp->srq->users++;
	if (qp->xrcd)
		qp->xrcd->users++;
	if (qp->uar) {
		qp->uar->users++;
		uar_add_qp(qp);
	}
	queue_umems_use(&qp->umems, 1);
	pins_take(hca, &qp->map);
	if (hca->config.strict)
		rules_recv_ring(hca, "QP", qp->n, &qp->map, qp->rq.stride);
	qp->ece = qp_first_ece(qp, fld_get(cmd->in, CREATE_QP_IN_ECE));
	fld_set(cmd->out, CREATE_QP_OUT_ECE, qp->ece);
	fld_set(cmd->out, CREATE_QP_OUT_QPN, qp->n);
	return PRM_STAT_OK;
}

enum prm_status qp_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *qpc = fld_at(cmd->in, CREATE_QP_IN_QPC);
	const char *why = qp_check_type(qpc);
	enum prm_status status;
	struct qp *qp;

	if (!why)
		why = qp_check_user(hca, qpc);
	if (!why)
		why = qp_check_initiator(qpc);
	if (!why)
		why = qp_check_sizes(hca, qpc);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	qp = qp_alloc();
	if (!qp)
		return cmd_errno(cmd, ENOMEM, "qp");
	memcpy(qp->context, qpc, PRM_QPC_SIZE);
	qp->service = qp_find_kind(qpc)->service;
	qp->special = qp_find_kind(qpc)->special;
	why = qp_find_objects(hca, qp);
	status = why ? cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, why) : qp_add(hca, cmd, qp);
	if (status) {
		dma_unmap(&qp->map);
		free(qp->dci);
		free(qp->offload);
		free(qp->sq.entry);
		free(qp);
	}
	return status;
}

enum prm_status qp_destroy(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_find(&hca->qps, fld_get(cmd->in, DESTROY_QP_IN_QPN));

	if (!qp)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "qp: no such QP");
	dci_leave(hca, qp);
	res_remove(&hca->qps, qp->n);
	if (qp->pd)
		qp->pd->users--;
	qp->send_cq->users--;
	qp->recv_cq->users--;
	if (qp->srq)
		qp->srq->users--;
	if (qp->xrcd)
		qp->xrcd->users--;
	if (qp->uar)
		qp->uar->users--;
	queue_umems_use(&qp->umems, -1);
	qp_free(hca, qp);
	return PRM_STAT_OK;
}

enum prm_status qp_query(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_find(&hca->qps, fld_get(cmd->in, QUERY_QP_IN_QPN));
	uint8_t *qpc = fld_at(cmd->out, QUERY_QP_OUT_QPC);

	if (!qp)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "qp: no such QP");
	memcpy(qpc, qp->context, PRM_QPC_SIZE);
	if (!fld_get(qpc, QPC_LAG_TX_PORT_AFFINITY))
		fld_set(qpc, QPC_LAG_TX_PORT_AFFINITY, lag_port_of(hca, qp->n));
	fld_set(cmd->out, QUERY_QP_OUT_ECE, qp->ece);
	fld_set(qpc, QPC_STATE, qp->state);
	/* Payload is written in ascending address order, so a program may poll its last byte. */
	fld_set(qpc, QPC_DATA_IN_ORDER, qp_is_reliable(qp));
	fld_set(qpc, QPC_NEXT_SEND_PSN, qp->req.next_psn);
	fld_set(qpc, QPC_LAST_ACKED_PSN, (qp->req.unacked - 1) & PSN_MASK);
	fld_set(qpc, QPC_NEXT_RCV_PSN, qp->resp.expected_psn);
	fld_set(qpc, QPC_HW_SQ_WQEBB_COUNTER, qp->sq.ci);
	fld_set(qpc, QPC_SW_SQ_WQEBB_COUNTER, qp->sq.pi);
	fld_set(qpc, QPC_HW_RQ_COUNTER, qp->rq.ci);
	fld_set(qpc, QPC_SW_RQ_COUNTER, qp->rq.pi);
	fld_set(qpc, QPC_CUR_RNR_RETRY, qp->req.rnr_left);
	fld_set(qpc, QPC_CUR_RETRY_COUNT, qp->req.retries_left);
	return PRM_STAT_OK;
}
