/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sq.c - commands on send queues of frames, and their context. PRM: SQC
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
#include "softhca/device/kind.h"
#include "softhca/device/queue/wqe.h"

CONTEXT_HOLDS(struct eth_sq, PRM_SQC_SIZE);

static const char *check_sqc(const struct hca *hca, const uint8_t *sqc)
{
	const uint8_t *wqc = fld_at(sqc, SQC_WQ);

	if (fld_get(sqc, SQC_HAIRPIN) || fld_get(sqc, SQC_ALLOW_SWP))
		return "sq: hairpin and software parsing are not supported";
	if (fld_get(sqc, SQC_REG_UMR) && hca->user)
		return "sq: UMR is for the driver's queues";
	if (fld_get(sqc, SQC_TIS_LST_SZ) > 1)
		return "sq: at most one TIS";
	if (!pacing_exists(hca, fld_get(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX)))
		return "sq: no such rate limit";
	if (fld_get(sqc, SQC_TS_CQE_TO_DEST_CQN))
		return "sq: extra timestamps are not supported";
	if (fld_get(sqc, SQC_STATE) != PRM_WQ_STATE_RST)
		return "sq: starts in state RST";
	if (1u << fld_get(wqc, WQ_LOG_WQ_STRIDE) != WQE_BB && !hca->format->wqe_is_block)
		return "sq: the stride of a send queue is 64";
	if (fld_get(wqc, WQ_WQ_SIGNATURE))
		return "sq: signatures are not supported";
	return wq_check(wqc, hca->format->wqe_is_block ? WQE_BYTES_MAX : WQE_BB,
			PRM_WQ_TYPE_CYCLIC);
}

static int sq_decode(struct hca *hca, const struct cmd *cmd, struct eth_sq *sq)
{
	const uint8_t *sqc = fld_at(cmd->in, CREATE_SQ_IN_CTX), *wqc = fld_at(sqc, SQC_WQ);
	bool has_tis = fld_get(sqc, SQC_TIS_LST_SZ);
	int ret = wq_set_up(hca, cmd, wqc, &sq->wq);

	memcpy(sq->context, sqc, PRM_SQC_SIZE);
	sq->n = wq_number(hca, cmd);
	sq->flush = fld_get(sqc, SQC_FLUSH_IN_ERROR_EN);
	sq->has_umr = fld_get(sqc, SQC_REG_UMR);
	sq->pacing_index = fld_get(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX);
	sq->user_index = fld_get(sqc, SQC_USER_INDEX);
	sq->real_time = fld_get(sqc, SQC_TS_FORMAT) == PRM_TS_REAL_TIME;
	sq->cq = res_find(&hca->cqs, fld_get(sqc, SQC_CQN));
	sq->uar = res_find(&hca->uars, fld_get(wqc, WQ_UAR_PAGE));
	if (has_tis)
		sq->tis = res_find(&hca->eth->tises, fld_get(sqc, SQC_TIS_NUM_0));
	if (!ret && (!sq->cq || !sq->uar || (has_tis && !sq->tis)))
		ret = ENOENT;
	return ret;
}

enum prm_status eth_sq_create(struct hca *hca, struct cmd *cmd)
{
	const char *why = check_sqc(hca, fld_at(cmd->in, CREATE_SQ_IN_CTX));
	struct eth_sq *sq;
	int ret;

	if (!why && !uctx_may_send_frames(hca))
		why = "sq: the user has no RAW_TX";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	sq = calloc(1, sizeof(*sq));
	if (!sq)
		return cmd_errno(cmd, ENOMEM, "sq");
	ret = sq_decode(hca, cmd, sq);
	if (!ret)
		ret = eth_sq_add(hca, sq);
	if (ret) {
		eth_sq_free(sq);
		return wq_status(cmd, ret);
	}
	fld_set(cmd->out, CREATE_SQ_OUT_SQN, sq->n);
	return PRM_STAT_OK;
}

static struct eth_sq *sq_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "sq: no such SQ";
	return res_find(&hca->eth->sqs, fld_get(cmd->in, field));
}

/* Changes the queue's rate limit and group. Returns NULL or the reason for refusing it. */
static const char *change_rates(struct hca *hca, struct eth_sq *sq, const struct cmd *cmd)
{
	uint64_t mask = fld_get64(cmd->in, FLD_BYTE(MODIFY_SQ_IN_MODIFY_BITMASK));
	uint64_t known = PRM_MODIFY_SQ_PACING | PRM_MODIFY_SQ_QOS_GROUP;
	const uint8_t *sqc = fld_at(cmd->in, MODIFY_SQ_IN_CTX);
	uint32_t index = fld_get(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX);
	struct sched_element *group;
	const char *why = sched_find_group(hca, fld_get(sqc, SQC_QOS_QUEUE_GROUP_ID), &group);

	if (hca->config.kind == HCA_MLX4)
		known |= M4_AS_MODIFY_SQ_REST;
	if (mask & ~known)
		return "sq: unknown modify_bitmask";
	if (mask & PRM_MODIFY_SQ_PACING && !pacing_exists(hca, index))
		return "sq: no such rate limit";
	if (mask & PRM_MODIFY_SQ_QOS_GROUP && why)
		return why;
	if (mask & PRM_MODIFY_SQ_PACING)
		pacing_choose(sq, index);
	if (mask & PRM_MODIFY_SQ_QOS_GROUP)
		eth_sq_schedule(hca, sq, group);
	if (mask & M4_AS_MODIFY_SQ_REST)
		eth_sq_set_rest(hca, sq, fld_get(cmd->in, M4_AS_SQ_RESTS));
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
	if (!wq_is_known(sq->state, fld_get(cmd->in, MODIFY_SQ_IN_SQ_STATE), state))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"sq: not in the state it is said to be in");
	if (!wq_may_change(sq->state, state))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "sq: no such transition");
	why = change_rates(hca, sq, cmd);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	eth_sq_set_state(hca, sq, (enum prm_wq_state)state);
	return PRM_STAT_OK;
}

enum prm_status eth_sq_query(struct hca *hca, struct cmd *cmd)
{
	struct eth_sq *sq = sq_find(hca, cmd, QUERY_SQ_IN_SQN);
	uint8_t *sqc = fld_at(cmd->out, QUERY_SQ_OUT_SQ_CONTEXT);

	if (!sq)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(sqc, sq->context, PRM_SQC_SIZE);
	fld_set(sqc, SQC_STATE, sq->state);
	fld_set(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX, sq->pacing_index);
	fld_set(sqc, SQC_QOS_QUEUE_GROUP_ID, sq->sched.group ? sq->sched.group->n : 0);
	fld_set(sqc, FLD_IN(SQC_WQ, WQ_HW_COUNTER), sq->ci);
	fld_set(sqc, FLD_IN(SQC_WQ, WQ_SW_COUNTER), sq->pi);
	return PRM_STAT_OK;
}

enum prm_status eth_sq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct eth_sq *sq = sq_find(hca, cmd, DESTROY_SQ_IN_SQN);

	if (!sq)
		return PRM_STAT_BAD_RES_ERR;
	eth_sq_remove(hca, sq);
	return PRM_STAT_OK;
}
