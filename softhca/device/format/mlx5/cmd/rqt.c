/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rqt.c - commands on receive queue tables (RQTs), and their context.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

/* Replaces the table's queues by the list in RQTC, the end of the mailbox. Returns NULL or the
 * reason for refusing it. */
static const char *take_list(struct hca *hca, struct rqt *rqt, const struct cmd *cmd,
			     const uint8_t *rqtc)
{
	const uint8_t *list = fld_at(rqtc, RQTC_RQ_NUM);
	uint32_t size = fld_get(rqtc, RQTC_RQT_ACTUAL_SIZE);
	struct eth_rq *rq[1 << ETH_LOG_RQT_SIZE];

	if (!size || size > rqt->max_size)
		return "rqt: size out of range";
	if ((size_t)(list - cmd->in) + (size_t)size * 4 > cmd->in_len)
		return "rqt: list is shorter than its size says";
	for (uint32_t i = 0; i < size; i++) {
		rq[i] = res_find(&hca->eth->rqs, fld_get(list + (size_t)i * 4, RQ_NUM_RQ_NUM));
		if (!rq[i])
			return "rqt: no such RQ";
	}
	rqt_set(rqt, rq, size);
	return NULL;
}

static const char *rqt_check(const uint8_t *rqtc)
{
	if (fld_get(rqtc, RQTC_LIST_Q_TYPE) || fld_get(rqtc, RQTC_RQ_VHCA_ID_FORMAT))
		return "rqt: only RQs of this function";
	if (!fld_get(rqtc, RQTC_RQT_MAX_SIZE) ||
	    fld_get(rqtc, RQTC_RQT_MAX_SIZE) > 1 << ETH_LOG_RQT_SIZE)
		return "rqt: larger than log_max_rqt_size allows";
	return NULL;
}

enum prm_status rqt_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *rqtc = fld_at(cmd->in, CREATE_RQT_IN_RQT_CONTEXT);
	const char *why = rqt_check(rqtc);
	struct rqt *rqt;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = rqt_add(hca, fld_get(rqtc, RQTC_RQT_MAX_SIZE), &rqt);
	if (ret)
		return cmd_errno(cmd, ret, "rqt: table is full");
	why = take_list(hca, rqt, cmd, rqtc);
	if (why) {
		rqt_remove(hca, rqt);
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	}
	fld_set(cmd->out, CREATE_RQT_OUT_RQTN, rqt->n);
	return PRM_STAT_OK;
}

static struct rqt *rqt_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "rqt: no such RQT";
	return res_find(&hca->eth->rqts, fld_get(cmd->in, field));
}

enum prm_status rqt_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *mask = fld_at(cmd->in, MODIFY_RQT_IN_BITMASK);
	struct rqt *rqt = rqt_find(hca, cmd, MODIFY_RQT_IN_RQTN);
	const char *why;

	if (!rqt)
		return PRM_STAT_BAD_RES_ERR;
	if (!fld_get(mask, RQT_BITMASK_RQN_LIST) || fld_get64(mask, 0) != 1)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "rqt: only the list can change");
	why = take_list(hca, rqt, cmd, fld_at(cmd->in, MODIFY_RQT_IN_CTX));
	return why ? cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why) : PRM_STAT_OK;
}

enum prm_status rqt_query(struct hca *hca, struct cmd *cmd)
{
	struct rqt *rqt = rqt_find(hca, cmd, QUERY_RQT_IN_RQTN);
	uint8_t *rqtc = fld_at(cmd->out, QUERY_RQT_OUT_RQT_CONTEXT), *list;

	if (!rqt)
		return PRM_STAT_BAD_RES_ERR;
	list = fld_at(rqtc, RQTC_RQ_NUM);
	if (!cmd_has_room(cmd, list, rqt->size, 4))
		return cmd_fail(cmd, PRM_STAT_BAD_OUTP_LEN_ERR, "rqt: no room for the list");
	fld_set(rqtc, RQTC_RQT_MAX_SIZE, rqt->max_size);
	fld_set(rqtc, RQTC_RQT_ACTUAL_SIZE, rqt->size);
	for (uint32_t i = 0; i < rqt->size; i++)
		fld_set(list + (size_t)i * 4, RQ_NUM_RQ_NUM, rqt->rq[i]->n);
	return PRM_STAT_OK;
}

enum prm_status rqt_destroy(struct hca *hca, struct cmd *cmd)
{
	struct rqt *rqt = rqt_find(hca, cmd, DESTROY_RQT_IN_RQTN);

	if (!rqt)
		return PRM_STAT_BAD_RES_ERR;
	if (rqt->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "rqt: in use by a TIR");
	rqt_remove(hca, rqt);
	return PRM_STAT_OK;
}
