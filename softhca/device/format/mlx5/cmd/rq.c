/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rq.c - commands on receive queues of frames, and their context. PRM: RQC
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/wq.h"
#include "softhca/device/queue/wqe.h"

CONTEXT_HOLDS(struct eth_rq, PRM_RQC_SIZE);

static uint32_t rq_type(const uint8_t *rqc)
{
	return fld_get(rqc, FLD_IN(RQC_WQ, WQ_WQ_TYPE));
}

static bool is_striding(const uint8_t *rqc)
{
	return rq_type(rqc) == PRM_WQ_TYPE_CYCLIC_STRIDING ||
	       rq_type(rqc) == PRM_WQ_TYPE_LINKED_STRIDING;
}

uint32_t wq_strides(const uint8_t *wq)
{
	uint32_t log = fld_get(wq, WQ_LOG_WQE_NUM_OF_STRIDES);

	return 1u << (log < PRM_LOG_STRIDES_LOW ? log + PRM_LOG_STRIDES_BASE
						: log - PRM_LOG_STRIDES_LOW + PRM_LOG_STRIDES_MIN);
}

static void rq_decode_strides(const uint8_t *wqc, struct eth_rq *rq)
{
	rq->strides = wq_strides(wqc);
	rq->log_stride = fld_get(wqc, WQ_LOG_WQE_STRIDE_SIZE) + PRM_LOG_STRIDE_MIN;
	rq->shift = fld_get(wqc, WQ_TWO_BYTE_SHIFT_EN) ? 2 : 0;
}

/* Checks that the WQE has room for the signature and striding head before its buffers, as no frame
 * could be received without a buffer. */
static bool rqc_has_room(const uint8_t *rqc)
{
	uint32_t front = fld_get(rqc, FLD_IN(RQC_WQ, WQ_WQ_SIGNATURE)) ? RECV_SIGNATURE_SIZE : 0;

	front += is_striding(rqc) ? PRM_STRIDING_HEAD : 0;
	return 1ull << fld_get(rqc, FLD_IN(RQC_WQ, WQ_LOG_WQ_STRIDE)) >= front + WQE_SEG;
}

static const char *check_rqc(const uint8_t *rqc)
{
	if (fld_get(rqc, RQC_MEM_RQ_TYPE) != PRM_RQ_MEMORY_INLINE)
		return "rq: only queues with memory of their own";
	if (fld_get(rqc, RQC_HAIRPIN) || fld_get(rqc, RQC_DELAY_DROP_EN) ||
	    fld_get(rqc, RQC_SCATTER_FCS))
		return "rq: hairpin, delay drop and FCS are not supported";
	if (fld_get(rqc, RQC_STATE) != PRM_WQ_STATE_RST)
		return "rq: starts in state RST";
	if (!rqc_has_room(rqc))
		return "rq: WQEs without room for a buffer";
	return wq_check(fld_at(rqc, RQC_WQ), RECV_WQE_MAX,
			is_striding(rqc) ? rq_type(rqc) : PRM_WQ_TYPE_CYCLIC);
}

static int find_counter(struct hca *hca, const uint8_t *rqc, struct q_counter **counter)
{
	uint32_t n = fld_get(rqc, RQC_COUNTER_SET_ID);

	*counter = res_get(&hca->eth->q_counters, n);
	return n && !*counter ? ENOENT : 0;
}

static int rq_decode(struct hca *hca, const struct cmd *cmd, struct eth_rq *rq)
{
	const uint8_t *rqc = fld_at(cmd->in, CREATE_RQ_IN_CTX);
	int ret = wq_set_up(hca, cmd, fld_at(rqc, RQC_WQ), &rq->wq);

	memcpy(rq->context, rqc, PRM_RQC_SIZE);
	rq->n = wq_number(hca, cmd);
	if (is_striding(rqc))
		rq_decode_strides(fld_at(rqc, RQC_WQ), rq);
	rq->linked = rq_type(rqc) == PRM_WQ_TYPE_LINKED_STRIDING;
	rq->strip_vlan = !fld_get(rqc, RQC_VSD);
	rq->flush = fld_get(rqc, RQC_FLUSH_IN_ERROR_EN);
	rq->user_index = fld_get(rqc, RQC_USER_INDEX);
	rq->real_time = fld_get(rqc, RQC_TS_FORMAT) == PRM_TS_REAL_TIME;
	rq->cq = res_find(&hca->cqs, fld_get(rqc, RQC_CQN));
	if (!ret)
		ret = rq->cq ? find_counter(hca, rqc, &rq->counter) : ENOENT;
	return ret;
}

enum prm_status eth_rq_create(struct hca *hca, struct cmd *cmd)
{
	const char *why = check_rqc(fld_at(cmd->in, CREATE_RQ_IN_CTX));
	struct eth_rq *rq;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	rq = calloc(1, sizeof(*rq));
	if (!rq)
		return cmd_errno(cmd, ENOMEM, "rq");
	ret = rq_decode(hca, cmd, rq);
	if (!ret)
		ret = eth_rq_add(hca, rq);
	if (ret) {
		eth_rq_free(rq);
		return wq_status(cmd, ret);
	}
	fld_set(cmd->out, CREATE_RQ_OUT_RQN, rq->n);
	return PRM_STAT_OK;
}

static struct eth_rq *rq_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "rq: no such RQ";
	return res_find(&hca->eth->rqs, fld_get(cmd->in, field));
}

/* Sets the fields that MASK names. Returns an error, with nothing changed, if the counter set does
 * not exist. */
static int rq_set_fields(struct hca *hca, struct eth_rq *rq, uint64_t mask, const uint8_t *rqc)
{
	struct q_counter *counter = rq->counter;

	if ((mask & PRM_RQ_MODIFY_COUNTER_SET_ID) && find_counter(hca, rqc, &counter))
		return ENOENT;
	eth_rq_set_counter(rq, counter);
	if (mask & PRM_RQ_MODIFY_VSD)
		rq->strip_vlan = !fld_get(rqc, RQC_VSD);
	return 0;
}

enum prm_status eth_rq_modify(struct hca *hca, struct cmd *cmd)
{
	const uint64_t known = PRM_RQ_MODIFY_VSD | PRM_RQ_MODIFY_COUNTER_SET_ID;
	const uint8_t *rqc = fld_at(cmd->in, MODIFY_RQ_IN_CTX);
	uint64_t mask = fld_get64(cmd->in, FLD_BYTE(MODIFY_RQ_IN_MODIFY_BITMASK));
	struct eth_rq *rq = rq_find(hca, cmd, MODIFY_RQ_IN_RQN);

	if (!rq)
		return PRM_STAT_BAD_RES_ERR;
	if (!wq_is_known(rq->state, fld_get(cmd->in, MODIFY_RQ_IN_RQ_STATE),
			 fld_get(rqc, RQC_STATE)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"rq: not in the state it is said to be in");
	if (!wq_may_change(rq->state, fld_get(rqc, RQC_STATE)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "rq: no such transition");
	if (mask & ~known)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "rq: unknown modify_bitmask");
	if (rq_set_fields(hca, rq, mask, rqc))
		return wq_status(cmd, ENOENT);
	eth_rq_set_state(hca, rq, (enum prm_wq_state)fld_get(rqc, RQC_STATE));
	return PRM_STAT_OK;
}

enum prm_status eth_rq_query(struct hca *hca, struct cmd *cmd)
{
	struct eth_rq *rq = rq_find(hca, cmd, QUERY_RQ_IN_RQN);
	uint8_t *rqc = fld_at(cmd->out, QUERY_RQ_OUT_RQ_CONTEXT);

	if (!rq)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(rqc, rq->context, PRM_RQC_SIZE);
	fld_set(rqc, RQC_STATE, rq->state);
	fld_set(rqc, RQC_VSD, !rq->strip_vlan);
	fld_set(rqc, RQC_COUNTER_SET_ID, rq->counter ? rq->counter->n : 0);
	fld_set(rqc, FLD_IN(RQC_WQ, WQ_HW_COUNTER), rq->ci);
	fld_set(rqc, FLD_IN(RQC_WQ, WQ_SW_COUNTER), rq->pi);
	return PRM_STAT_OK;
}

enum prm_status eth_rq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct eth_rq *rq = rq_find(hca, cmd, DESTROY_RQ_IN_RQN);

	if (!rq)
		return PRM_STAT_BAD_RES_ERR;
	if (rq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "rq: in use by a TIR or RQT");
	eth_rq_remove(hca, rq);
	return PRM_STAT_OK;
}
