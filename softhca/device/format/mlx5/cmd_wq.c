/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_wq.c - commands on send and receive queues that stand alone: create, change state, query.
 *
 * A queue is created in state RST, works in RDY and drops everything in ERR. PRM: RQC, SQC, WQ
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd.h"
#include "softhca/device/queue/wqe.h"

enum { PAGE_SHIFT_MIN = 12 };

/* ---- the ring ---- */

static const char *check_wq(const uint8_t *wqc, uint32_t stride_max)
{
	if (fld_get(wqc, WQ_WQ_TYPE) != PRM_WQ_TYPE_CYCLIC)
		return "wq: only cyclic queues";
	if (fld_get(wqc, WQ_WQ_SIGNATURE))
		return "wq: signatures are not supported";
	if (fld_get(wqc, WQ_DBR_UMEM_VALID) || fld_get(wqc, WQ_WQ_UMEM_VALID))
		return "wq: umem is not supported";
	if (fld_get(wqc, WQ_LOG_WQ_SZ) > ETH_LOG_WQ)
		return "wq: more WQEs than log_max_wq_sz allows";
	if (fld_get(wqc, WQ_LOG_WQ_STRIDE) < ETH_LOG_STRIDE_MIN ||
	    1u << fld_get(wqc, WQ_LOG_WQ_STRIDE) > stride_max)
		return "wq: stride out of range";
	if (fld_get(wqc, WQ_DBR_ADDR) & 3)
		return "wq: doorbell record is not aligned";
	return NULL;
}

/* The function takes the WQC and, behind it, the page list. */
static int set_up_wq(struct hca *hca, struct eth_wq *wq, const uint8_t *wqc, const struct cmd *cmd)
{
	unsigned int page_shift = PAGE_SHIFT_MIN + fld_get(wqc, WQ_LOG_WQ_PG_SZ);
	uint64_t skip = fld_get(wqc, WQ_PAGE_OFFSET) << (page_shift - 6);
	const uint8_t *pas = wqc + PRM_WQ_SIZE;
	size_t npas = cmd->in_len - (size_t)(pas - cmd->in);

	wq->log_size = fld_get(wqc, WQ_LOG_WQ_SZ);
	wq->stride = 1u << fld_get(wqc, WQ_LOG_WQ_STRIDE);
	wq->dbr = fld_get(wqc, WQ_DBR_ADDR);
	wq->pd = res_get(&hca->pds, fld_get(wqc, WQ_PD));
	if (!wq->pd && fld_get(wqc, WQ_PD))
		return ENOENT;
	return dma_map_pages(&wq->map, pas, npas / 8, page_shift, skip,
			     (uint64_t)wq->stride << wq->log_size);
}

static enum prm_status wq_status(struct cmd *cmd, int err)
{
	if (err == ENOENT)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR,
				"wq: no such PD, CQ, UAR, TIS or counter");
	return cmd_errno(cmd, err, "wq: page list too short, or table full");
}

/* The function tells whether a queue in state FROM may be put into state TO. */
static bool may_change(enum prm_wq_state from, uint64_t to)
{
	switch (to) {
	case PRM_WQ_STATE_RST:
	case PRM_WQ_STATE_ERR:
		return true;
	case PRM_WQ_STATE_RDY:
		return from == PRM_WQ_STATE_RST || from == PRM_WQ_STATE_RDY;
	default:
		return false;
	}
}

/* Software names the state that it knows of; a queue that has failed by itself may be given up all
 * the same. */
static bool is_known(enum prm_wq_state is, uint64_t said, uint64_t to)
{
	return said == is || (is == PRM_WQ_STATE_ERR && to != PRM_WQ_STATE_RDY);
}

/* ---- RQ ---- */

static const char *check_rqc(const uint8_t *rqc)
{
	if (fld_get(rqc, RQC_MEM_RQ_TYPE) != PRM_RQ_MEMORY_INLINE)
		return "rq: only queues with memory of their own";
	if (fld_get(rqc, RQC_HAIRPIN) || fld_get(rqc, RQC_DELAY_DROP_EN) ||
	    fld_get(rqc, RQC_SCATTER_FCS))
		return "rq: hairpin, delay drop and FCS are not supported";
	if (fld_get(rqc, RQC_STATE) != PRM_WQ_STATE_RST)
		return "rq: starts in state RST";
	return check_wq(fld_at(rqc, RQC_WQ), RECV_WQE_MAX);
}

static int find_counter(struct hca *hca, const uint8_t *rqc, struct q_counter **counter)
{
	uint32_t n = fld_get(rqc, RQC_COUNTER_SET_ID);

	*counter = res_get(&hca->eth->q_counters, n);
	return n && !*counter ? ENOENT : 0;
}

static void rq_free(struct eth_rq *rq)
{
	dma_unmap(&rq->wq.map);
	free(rq);
}

static int rq_set_up(struct hca *hca, struct eth_rq *rq, const struct cmd *cmd)
{
	const uint8_t *rqc = fld_at(cmd->in, CREATE_RQ_IN_CTX);
	int ret = set_up_wq(hca, &rq->wq, fld_at(rqc, RQC_WQ), cmd);

	memcpy(rq->rqc, rqc, sizeof(rq->rqc));
	rq->strip_vlan = !fld_get(rqc, RQC_VSD);
	rq->flush = fld_get(rqc, RQC_FLUSH_IN_ERROR_EN);
	rq->cq = res_get(&hca->cqs, fld_get(rqc, RQC_CQN));
	if (!ret)
		ret = rq->cq ? find_counter(hca, rqc, &rq->counter) : ENOENT;
	return ret ? ret : res_add(&hca->eth->rqs, rq, &rq->n);
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
	ret = rq_set_up(hca, rq, cmd);
	if (ret) {
		rq_free(rq);
		return wq_status(cmd, ret);
	}
	rq->cq->users++;
	if (rq->wq.pd)
		rq->wq.pd->users++;
	if (rq->counter)
		rq->counter->users++;
	fld_set(cmd->out, CREATE_RQ_OUT_RQN, rq->n);
	return PRM_STAT_OK;
}

static struct eth_rq *rq_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "rq: no such RQ";
	return res_get(&hca->eth->rqs, fld_get(cmd->in, field));
}

static void rq_set_state(struct hca *hca, struct eth_rq *rq, uint64_t state)
{
	if (state == PRM_WQ_STATE_ERR) {
		eth_rq_fail(hca, rq);
		return;
	}
	rq->state = (enum prm_wq_state)state;
	fld_set(rq->rqc, RQC_STATE, state);
	if (state == PRM_WQ_STATE_RST)
		rq->pi = rq->ci = 0;
}

/* The function sets the fields that MASK names; a counter set that does not exist changes
 * nothing. */
static int rq_set_fields(struct hca *hca, struct eth_rq *rq, uint64_t mask, const uint8_t *rqc)
{
	struct q_counter *counter = rq->counter;

	if ((mask & PRM_RQ_MODIFY_COUNTER_SET_ID) && find_counter(hca, rqc, &counter))
		return ENOENT;
	if (rq->counter)
		rq->counter->users--;
	rq->counter = counter;
	if (counter)
		counter->users++;
	fld_set(rq->rqc, RQC_COUNTER_SET_ID, counter ? counter->n : 0);
	if (mask & PRM_RQ_MODIFY_VSD) {
		rq->strip_vlan = !fld_get(rqc, RQC_VSD);
		fld_set(rq->rqc, RQC_VSD, fld_get(rqc, RQC_VSD));
	}
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
	if (!is_known(rq->state, fld_get(cmd->in, MODIFY_RQ_IN_RQ_STATE), fld_get(rqc, RQC_STATE)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"rq: not in the state it is said to be in");
	if (!may_change(rq->state, fld_get(rqc, RQC_STATE)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "rq: no such transition");
	if (mask & ~known)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "rq: unknown modify_bitmask");
	if (rq_set_fields(hca, rq, mask, rqc))
		return wq_status(cmd, ENOENT);
	rq_set_state(hca, rq, fld_get(rqc, RQC_STATE));
	return PRM_STAT_OK;
}

enum prm_status eth_rq_query(struct hca *hca, struct cmd *cmd)
{
	struct eth_rq *rq = rq_find(hca, cmd, QUERY_RQ_IN_RQN);
	uint8_t *rqc = fld_at(cmd->out, QUERY_RQ_OUT_RQ_CONTEXT);

	if (!rq)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(rqc, rq->rqc, sizeof(rq->rqc));
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
	res_remove(&hca->eth->rqs, rq->n);
	rq->cq->users--;
	if (rq->wq.pd)
		rq->wq.pd->users--;
	if (rq->counter)
		rq->counter->users--;
	rq_free(rq);
	return PRM_STAT_OK;
}

/* ---- SQ ---- */

static const char *check_sqc(const struct hca *hca, const uint8_t *sqc)
{
	const uint8_t *wqc = fld_at(sqc, SQC_WQ);

	if (fld_get(sqc, SQC_HAIRPIN) || fld_get(sqc, SQC_REG_UMR) || fld_get(sqc, SQC_ALLOW_SWP))
		return "sq: hairpin, UMR and software parsing are not supported";
	if (fld_get(sqc, SQC_TIS_LST_SZ) > 1)
		return "sq: at most one TIS";
	if (!pacing_exists(hca, fld_get(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX)))
		return "sq: no such rate limit";
	if (fld_get(sqc, SQC_TS_CQE_TO_DEST_CQN))
		return "sq: extra timestamps are not supported";
	if (fld_get(sqc, SQC_STATE) != PRM_WQ_STATE_RST)
		return "sq: starts in state RST";
	if (1u << fld_get(wqc, WQ_LOG_WQ_STRIDE) != WQE_BB)
		return "sq: the stride of a send queue is 64";
	return check_wq(wqc, WQE_BB);
}

static void sq_free(struct eth_sq *sq)
{
	dma_unmap(&sq->wq.map);
	free(sq);
}

static int sq_set_up(struct hca *hca, struct eth_sq *sq, const struct cmd *cmd)
{
	const uint8_t *sqc = fld_at(cmd->in, CREATE_SQ_IN_CTX), *wqc = fld_at(sqc, SQC_WQ);
	bool has_tis = fld_get(sqc, SQC_TIS_LST_SZ);
	int ret = set_up_wq(hca, &sq->wq, wqc, cmd);

	memcpy(sq->sqc, sqc, sizeof(sq->sqc));
	sq->flush = fld_get(sqc, SQC_FLUSH_IN_ERROR_EN);
	sq->pacing_index = fld_get(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX);
	sq->cq = res_get(&hca->cqs, fld_get(sqc, SQC_CQN));
	sq->uar = res_get(&hca->uars, fld_get(wqc, WQ_UAR_PAGE));
	if (has_tis)
		sq->tis = res_get(&hca->eth->tises, fld_get(sqc, SQC_TIS_NUM_0));
	if (!ret && (!sq->cq || !sq->uar || (has_tis && !sq->tis)))
		ret = ENOENT;
	return ret ? ret : res_add(&hca->eth->sqs, sq, &sq->n);
}

static void sq_use(struct eth_sq *sq, int by)
{
	sq->cq->users += by;
	if (sq->wq.pd)
		sq->wq.pd->users += by;
	sq->uar->users += by;
	if (sq->tis)
		sq->tis->users += by;
}

enum prm_status eth_sq_create(struct hca *hca, struct cmd *cmd)
{
	const char *why = check_sqc(hca, fld_at(cmd->in, CREATE_SQ_IN_CTX));
	struct eth_sq *sq;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	sq = calloc(1, sizeof(*sq));
	if (!sq)
		return cmd_errno(cmd, ENOMEM, "sq");
	ret = sq_set_up(hca, sq, cmd);
	if (ret) {
		sq_free(sq);
		return wq_status(cmd, ret);
	}
	sq_use(sq, 1);
	LIST_INSERT_HEAD(&sq->uar->sqs, sq, in_uar);
	fld_set(cmd->out, CREATE_SQ_OUT_SQN, sq->n);
	return PRM_STAT_OK;
}

static struct eth_sq *sq_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "sq: no such SQ";
	return res_get(&hca->eth->sqs, fld_get(cmd->in, field));
}

/* The function returns 0 or why not. */
static const char *change_pacing(struct hca *hca, struct eth_sq *sq, const struct cmd *cmd)
{
	uint64_t mask = fld_get64(cmd->in, FLD_BYTE(MODIFY_SQ_IN_MODIFY_BITMASK));
	uint32_t index =
		fld_get(fld_at(cmd->in, MODIFY_SQ_IN_CTX), SQC_PACKET_PACING_RATE_LIMIT_INDEX);

	if (mask & ~(uint64_t)PRM_MODIFY_SQ_PACING)
		return "sq: unknown modify_bitmask";
	if (!mask)
		return NULL;
	if (!pacing_exists(hca, index))
		return "sq: no such rate limit";
	sq->pacing_index = index;
	sq->paced_until = 0;
	fld_set(sq->sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX, index);
	pacing_forget(sq);
	return NULL;
}

enum prm_status eth_sq_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *sqc = fld_at(cmd->in, MODIFY_SQ_IN_CTX);
	struct eth_sq *sq = sq_find(hca, cmd, MODIFY_SQ_IN_SQN);
	uint64_t state = fld_get(sqc, SQC_STATE);
	const char *why;

	if (!sq)
		return PRM_STAT_BAD_RES_ERR;
	if (!is_known(sq->state, fld_get(cmd->in, MODIFY_SQ_IN_SQ_STATE), state))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"sq: not in the state it is said to be in");
	if (!may_change(sq->state, state))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "sq: no such transition");
	why = change_pacing(hca, sq, cmd);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	sq->state = (enum prm_wq_state)state;
	fld_set(sq->sqc, SQC_STATE, state);
	if (state == PRM_WQ_STATE_RST)
		sq->pi = sq->ci = 0;
	eth_sq_wake(hca, sq);
	return PRM_STAT_OK;
}

enum prm_status eth_sq_query(struct hca *hca, struct cmd *cmd)
{
	struct eth_sq *sq = sq_find(hca, cmd, QUERY_SQ_IN_SQN);
	uint8_t *sqc = fld_at(cmd->out, QUERY_SQ_OUT_SQ_CONTEXT);

	if (!sq)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(sqc, sq->sqc, sizeof(sq->sqc));
	fld_set(sqc, SQC_STATE, sq->state);
	fld_set(sqc, FLD_IN(SQC_WQ, WQ_HW_COUNTER), sq->ci);
	fld_set(sqc, FLD_IN(SQC_WQ, WQ_SW_COUNTER), sq->pi);
	return PRM_STAT_OK;
}

enum prm_status eth_sq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct eth_sq *sq = sq_find(hca, cmd, DESTROY_SQ_IN_SQN);

	if (!sq)
		return PRM_STAT_BAD_RES_ERR;
	res_remove(&hca->eth->sqs, sq->n);
	pacing_forget(sq);
	if (sq->ready)
		TAILQ_REMOVE(&hca->eth->ready, sq, in_ready);
	LIST_REMOVE(sq, in_uar);
	sq_use(sq, -1);
	sq_free(sq);
	return PRM_STAT_OK;
}

/* ---- TIS ---- */

enum prm_status tis_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tisc = fld_at(cmd->in, CREATE_TIS_IN_CTX);
	struct pd *td = res_get(&hca->tds, fld_get(tisc, TISC_TRANSPORT_DOMAIN));
	struct tis *tis;
	int ret;

	if (fld_get(tisc, TISC_TLS_EN))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: TLS is not supported");
	if (fld_get(tisc, TISC_LAG_TX_PORT_AFFINITY) > hca->config.num_ports)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: no such port");
	if (!td)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "tis: no such transport domain");
	tis = calloc(1, sizeof(*tis));
	ret = tis ? res_add(&hca->eth->tises, tis, &tis->n) : ENOMEM;
	if (ret) {
		free(tis);
		return cmd_errno(cmd, ret, "tis: table is full");
	}
	tis->td = td;
	td->users++;
	memcpy(tis->tisc, tisc, sizeof(tis->tisc));
	fld_set(cmd->out, CREATE_TIS_OUT_TISN, tis->n);
	return PRM_STAT_OK;
}

static struct tis *tis_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "tis: no such TIS";
	return res_get(&hca->eth->tises, fld_get(cmd->in, field));
}

enum prm_status tis_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tisc = fld_at(cmd->in, MODIFY_TIS_IN_CTX);
	const uint8_t *mask = fld_at(cmd->in, MODIFY_TIS_IN_BITMASK);
	struct tis *tis = tis_find(hca, cmd, MODIFY_TIS_IN_TISN);

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get64(mask, 0) & ~(uint64_t)fld_get(mask, MODIFY_TIS_BITMASK_PRIO))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: only the priority can change");
	if (fld_get(mask, MODIFY_TIS_BITMASK_PRIO))
		fld_set(tis->tisc, TISC_PRIO, fld_get(tisc, TISC_PRIO));
	return PRM_STAT_OK;
}

enum prm_status tis_query(struct hca *hca, struct cmd *cmd)
{
	struct tis *tis = tis_find(hca, cmd, QUERY_TIS_IN_TISN);

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(fld_at(cmd->out, QUERY_TIS_OUT_TIS_CONTEXT), tis->tisc, sizeof(tis->tisc));
	return PRM_STAT_OK;
}

enum prm_status tis_destroy(struct hca *hca, struct cmd *cmd)
{
	struct tis *tis = tis_find(hca, cmd, DESTROY_TIS_IN_TISN);

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	if (tis->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "tis: in use by an SQ");
	res_remove(&hca->eth->tises, tis->n);
	tis->td->users--;
	free(tis);
	return PRM_STAT_OK;
}
