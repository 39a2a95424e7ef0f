/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_qp.c - QPs of frames: with a send ring, a receive ring, or both; or without, to spread frames
 * over others (RSS).
 */
#include "softhca/device/format/mlx4/cmd/eth_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/eqe.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/cmd/qp.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/steer.h"
#include "util/bits.h"

bool m4_is_eth_qp(const struct hca *hca, uint32_t n, const uint8_t *mailbox)
{
	uint32_t special = n - hca->mlx4->special_base;
	bool is_special = hca->mlx4->special_base && special < M4_SPECIAL_QPNS;
	bool has_qkey = fld_get(mailbox, M4_MODIFY_OPTPAR) & M4_OPTPAR_QKEY;

	return hca->config.link_layer == HCA_LINK_ETHERNET && !is_special && !has_qkey &&
	       fld_get(fld_at(mailbox, M4_MODIFY_QPC), M4_QPC_ST) == M4_ST_MLX;
}

struct m4_eth_qp *m4_eth_qp(const struct hca *hca, uint32_t n)
{
	return res_get(&hca->mlx4->eth_qps, n);
}

static const char *eth_qp_check(const struct hca *hca, const uint8_t *qpc, uint32_t n)
{
	const char *why = m4_sends_check(qpc);

	if (fld_get(qpc, M4_QPC_LOCAL_QPN) != n)
		return "qp: another number in the context";
	if (fld_get(qpc, FLD_IN(M4_QPC_PATH, M4_PATH_PORT)) >= hca->config.num_ports)
		return "qp: no such port";
	if (!why && fld_get(qpc, M4_QPC_RSS))
		why = m4_spread_check(qpc);
	return why ? why : m4_receives_check(qpc);
}

static uint64_t ring_bytes(uint64_t log_stride, uint64_t log_size)
{
	return 16ull << (log_stride + log_size);
}

/* Returns the bytes in front of the receive ring. The ring with the larger WQEs comes first, or the
 * send ring if they are equal. A QP for receives only has a send ring of one WQE that is never
 * used. */
static uint64_t in_front_of_receives(const uint8_t *qpc)
{
	if (fld_get(qpc, M4_QPC_LOG_RQ_STRIDE) > fld_get(qpc, M4_QPC_LOG_SQ_STRIDE))
		return 0;
	return ring_bytes(fld_get(qpc, M4_QPC_LOG_SQ_STRIDE), fld_get(qpc, M4_QPC_LOG_SQ_SIZE));
}

static uint64_t in_front_of_sends(const uint8_t *qpc)
{
	uint64_t receive = fld_get(qpc, M4_QPC_LOG_RQ_STRIDE);

	if (receive <= fld_get(qpc, M4_QPC_LOG_SQ_STRIDE))
		return 0;
	return ring_bytes(receive, fld_get(qpc, M4_QPC_LOG_RQ_SIZE));
}

static int map_ring(struct hca *hca, const uint8_t *qpc, uint64_t skip, struct eth_wq *wq)
{
	const struct m4_ring ring = {
		.skip = skip,
		.mtt = fld_get(qpc, M4_QPC_MTT_H) << 32 | fld_get(qpc, M4_QPC_MTT_L),
		.log_page = fld_get(qpc, M4_QPC_LOG_PAGE_SIZE),
	};

	wq->pd = m4_pd(hca, fld_get(qpc, M4_QPC_PD));
	if (!wq->pd)
		return ENOMEM;
	return m4_map_ring(hca, &ring, (uint64_t)wq->stride << wq->log_size, &wq->map);
}

/* Adds the send queue. Its WQEs are as long as their data need (spans). */
static int add_sends(struct hca *hca, struct m4_eth_qp *qp)
{
	const uint8_t *qpc = qp->context;
	struct eth_sq *sq = calloc(1, sizeof(*sq));
	int ret;

	if (!sq)
		return ENOMEM;
	sq->n = qp->n;
	sq->spans = true;
	sq->wq.log_size = fld_get(qpc, M4_QPC_LOG_SQ_SIZE);
	sq->wq.stride = 16u << fld_get(qpc, M4_QPC_LOG_SQ_STRIDE);
	sq->cq = res_get(&hca->cqs, fld_get(qpc, M4_QPC_CQN_SEND));
	sq->uar = m4_uar(hca, fld_get(qpc, M4_QPC_UAR));
	ret = sq->cq && sq->uar ? map_ring(hca, qpc, in_front_of_sends(qpc), &sq->wq) : EINVAL;
	if (!ret)
		ret = eth_sq_add(hca, sq);
	if (ret)
		eth_sq_free(sq);
	else
		qp->sq = sq;
	return ret;
}

static int add_receives(struct hca *hca, struct m4_eth_qp *qp)
{
	const uint8_t *qpc = qp->context;
	struct eth_rq *rq = calloc(1, sizeof(*rq));
	int ret;

	if (!rq)
		return ENOMEM;
	rq->n = qp->n;
	rq->wq.log_size = fld_get(qpc, M4_QPC_LOG_RQ_SIZE);
	rq->wq.stride = 16u << fld_get(qpc, M4_QPC_LOG_RQ_STRIDE);
	rq->wq.dbr = fld_get(qpc, M4_QPC_RECORD);
	rq->cq = res_get(&hca->cqs, fld_get(qpc, M4_QPC_CQN_RECV));
	ret = rq->cq ? map_ring(hca, qpc, in_front_of_receives(qpc), &rq->wq) : EINVAL;
	if (!ret)
		ret = eth_rq_add(hca, rq);
	if (ret)
		eth_rq_free(rq);
	else
		qp->rq = rq;
	return ret;
}

/* Adds the queues that exist: contexts give an absent ring one WQE. */
static int add_queues(struct hca *hca, struct m4_eth_qp *qp)
{
	int ret = fld_get(qp->context, M4_QPC_LOG_SQ_SIZE) ? add_sends(hca, qp) : 0;

	if (!ret && fld_get(qp->context, M4_QPC_LOG_RQ_SIZE))
		ret = add_receives(hca, qp);
	return ret;
}

static int qp_charge_memory(struct hca *hca, struct m4_eth_qp *qp)
{
	uint64_t bytes = sizeof(*qp);
	int ret;

	if (qp->sq)
		bytes += sizeof(*qp->sq) + qp->sq->wq.map.count * sizeof(struct dma_extent);
	if (qp->rq)
		bytes += sizeof(*qp->rq) + qp->rq->wq.map.count * sizeof(struct dma_extent);
	ret = m4_qp_charge(hca, bytes);
	qp->bytes = ret ? 0 : bytes;
	return ret;
}

enum m4_status m4_eth_qp_create(struct hca *hca, struct m4_cmd *cmd)
{
	const uint8_t *qpc = fld_at(cmd->in, M4_MODIFY_QPC);
	uint32_t n = m4_number(cmd);
	const char *why = eth_qp_check(hca, qpc, n);
	struct m4_eth_qp *qp;
	int ret;

	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	qp = calloc(1, sizeof(*qp));
	if (!qp || res_add_as(&hca->mlx4->eth_qps, qp, n)) {
		free(qp);
		return m4_errno(cmd, ENOMEM, "qp");
	}
	qp->n = n;
	qp->state = M4_QP_INIT;
	memcpy(qp->context, qpc, sizeof(qp->context));
	ret = add_queues(hca, qp);
	if (!ret)
		ret = qp_charge_memory(hca, qp);
	if (ret) {
		m4_eth_qp_remove(hca, qp);
		return m4_errno(cmd, ret,
				"qp: no such CQ or page, translations, or too much memory");
	}
	return M4_STAT_OK;
}

static void enter_state(struct hca *hca, struct m4_eth_qp *qp, enum m4_qp_state state)
{
	enum prm_wq_state queue = state == M4_QP_ERR ? PRM_WQ_STATE_ERR : PRM_WQ_STATE_RDY;

	qp->state = state;
	if (qp->sq && state != M4_QP_RTR)
		eth_sq_set_state(hca, qp->sq, queue);
	if (qp->sq)
		eth_sq_set_rest(hca, qp->sq, state == M4_QP_SQD);
	if (qp->rq)
		eth_rq_set_state(hca, qp->rq, queue);
}

enum m4_status m4_eth_qp_modify(struct hca *hca, struct m4_eth_qp *qp, struct m4_cmd *cmd)
{
	static const struct {
		enum m4_opcode_cmd opcode;
		uint32_t from; /* mask of allowed states */
		enum m4_qp_state to;
	} transitions[] = {
		{ M4_CMD_INIT2RTR_QP, 1u << M4_QP_INIT, M4_QP_RTR },
		{ M4_CMD_RTR2RTS_QP, 1u << M4_QP_RTR, M4_QP_RTS },
		{ M4_CMD_RTS2RTS_QP, 1u << M4_QP_RTS, M4_QP_RTS },
		{ M4_CMD_RTS2SQD_QP, 1u << M4_QP_RTS, M4_QP_SQD },
		{ M4_CMD_SQD2SQD_QP, 1u << M4_QP_SQD, M4_QP_SQD },
		{ M4_CMD_SQD2RTS_QP, 1u << M4_QP_SQD, M4_QP_RTS },
		{ M4_CMD_2ERR_QP, ~0u, M4_QP_ERR },
	};
	bool tell = cmd->order->opcode == M4_CMD_RTS2SQD_QP &&
		    cmd->order->in_modifier & M4_TELL_DRAINED;

	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].opcode == cmd->order->opcode &&
		    transitions[i].from & 1u << qp->state) {
			enter_state(hca, qp, transitions[i].to);
			if (tell)
				eq_qp_event(hca, PRM_EVENT_SQ_DRAINED, qp->n);
			return M4_STAT_OK;
		}
	return m4_fail(cmd, M4_STAT_BAD_QP_STATE, "qp: command not valid in state");
}

void m4_eth_qp_query(const struct m4_eth_qp *qp, uint8_t *qpc)
{
	memcpy(qpc, qp->context, sizeof(qp->context));
	fld_set(qpc, M4_QPC_STATE, qp->state);
}

void m4_eth_qp_remove(struct hca *hca, struct m4_eth_qp *qp)
{
	res_remove(&hca->mlx4->eth_qps, qp->n);
	hca->mlx4->qp_bytes -= qp->bytes;
	if (qp->sq)
		eth_sq_remove(hca, qp->sq);
	if (qp->rq)
		eth_rq_remove(hca, qp->rq);
	free(qp);
}
