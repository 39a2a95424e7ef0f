/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.c - commands on DC targets. transport/dct.c executes their requests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/dct.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/qp.h"
#include "softhca/device/transport/dct.h"
#include "softhca/device/transport/qp.h"

CONTEXT_HOLDS(struct dct, PRM_DCTC_SIZE);

static const char *dct_check(const struct hca *hca, const uint8_t *dctc)
{
	uint64_t mtu = fld_get(dctc, DCTC_MTU), port = fld_get(dctc, DCTC_PORT);
	uint64_t cs_res = fld_get(dctc, DCTC_CS_RES);

	if (mtu < 1 || mtu > 5)
		return "dct: path MTU is not 256 to 4096";
	if (port < 1 || port > hca->config.num_ports)
		return "dct: no such port";
	if (!port_pkey(fld_get(dctc, DCTC_PKEY_INDEX)))
		return "dct: P_Key index of no valid P_Key";
	if (cs_res != PRM_DCT_CS_RES_DISABLE && cs_res != PRM_DCT_CS_RES_64B)
		return "dct: unknown cs_res";
	if (station_is_ethernet(hca) && !port_gid(hca, port, fld_get(dctc, DCTC_MY_ADDR_INDEX)))
		return "dct: no such GID";
	return NULL;
}

static const char *dct_find_objects(struct hca *hca, struct dct *dct)
{
	dct->pd = res_find(&hca->pds, fld_get(dct->context, DCTC_PD));
	dct->cq = res_find(&hca->cqs, fld_get(dct->context, DCTC_CQN));
	dct->srq = res_find(&hca->srqs, fld_get(dct->context, DCTC_SRQN_XRQN));
	if (!dct->pd)
		return "dct: no such PD";
	if (!dct->cq)
		return "dct: no such CQ";
	if (!dct->srq || dct->srq->xrcd || dct->srq->tm)
		return "dct: no such SRQ, or one of XRC or tag matching";
	return NULL;
}

static void dct_take_context(struct dct *dct)
{
	const uint8_t *dctc = dct->context;

	dct->key = fld_get(dctc, DCTC_DC_ACCESS_KEY);
	dct->port = fld_get(dctc, DCTC_PORT);
	dct->pkey = port_pkey(fld_get(dctc, DCTC_PKEY_INDEX));
}

/* Fills the attributes that all responders share. Each initiator may have the adapter's maximum of
 * READs outstanding. */
static void model_fill(const struct hca *hca, const struct dct *dct, struct qp *model)
{
	const uint8_t *dctc = dct->context;

	model->service = FABRIC_DC;
	model->special = -1;
	model->pd = dct->pd;
	model->send_cq = model->recv_cq = dct->cq;
	model->srq = dct->srq;
	model->user_index = fld_get(dctc, DCTC_USER_INDEX);
	model->mtu = 128u << fld_get(dctc, DCTC_MTU);
	model->counter_set = fld_get(dctc, DCTC_COUNTER_SET_ID);
	model->resp_in_cqe = fld_get(dctc, DCTC_CS_RES) == PRM_DCT_CS_RES_64B ? 64 : 0;
	model->remote_read = fld_get(dctc, DCTC_RRE);
	model->remote_write = fld_get(dctc, DCTC_RWE);
	model->remote_atomic = fld_get(dctc, DCTC_RAE);
	qp_put_atomic_mode(model, fld_get(dctc, DCTC_ATOMIC_MODE));
	model->out_of_order = fld_get(dctc, DCTC_DP_ORDERING_1);
	model->min_rnr_timer = fld_get(dctc, DCTC_MIN_RNR_NAK);
	model->max_reads_in = hca->config.limits.max_rd_atomic;
	model->ece = qp_first_ece(model, fld_get(dctc, DCTC_ECE));
	qp_reset_queues(model);
}

static enum prm_status dct_add(struct hca *hca, struct cmd *cmd, struct dct *dct)
{
	struct qp *model = qp_alloc();
	int ret = model ? 0 : ENOMEM;

	if (!ret) {
		dct_take_context(dct);
		model_fill(hca, dct, model);
		ret = dct_start(hca, dct, model);
	}
	if (ret) {
		free(model);
		return cmd_errno(cmd, ret, "dct: table full");
	}
	fld_set(cmd->out, CREATE_DCT_OUT_DCTN, dct->n);
	fld_set(cmd->out, CREATE_DCT_OUT_ECE, model->ece);
	return PRM_STAT_OK;
}

enum prm_status dct_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *dctc = fld_at(cmd->in, CREATE_DCT_IN_CONTEXT);
	const char *why = dct_check(hca, dctc);
	enum prm_status status;
	struct dct *dct;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	dct = calloc(1, sizeof(*dct));
	if (!dct)
		return cmd_errno(cmd, ENOMEM, "dct");
	memcpy(dct->context, dctc, PRM_DCTC_SIZE);
	why = dct_find_objects(hca, dct);
	status = why ? cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, why) : dct_add(hca, cmd, dct);
	if (status)
		free(dct);
	return status;
}

static struct dct *dct_named(struct hca *hca, struct cmd *cmd)
{
	return res_find(&hca->dcts, fld_get(cmd->in, DESTROY_DCT_IN_DCTN));
}

static enum prm_status dct_unknown(struct cmd *cmd)
{
	return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "dct: no such DCT");
}

enum prm_status dct_do_drain(struct hca *hca, struct cmd *cmd)
{
	struct dct *dct = dct_named(hca, cmd);

	if (!dct)
		return dct_unknown(cmd);
	if (dct->state != DCT_ACTIVE)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "dct: drained already");
	dct_drain(hca, dct);
	return PRM_STAT_OK;
}

/* Destroys a target. Software must drain it first, except on a dead adapter, as nothing arrives
 * there. */
enum prm_status dct_destroy(struct hca *hca, struct cmd *cmd)
{
	struct dct *dct = dct_named(hca, cmd);

	if (!dct)
		return dct_unknown(cmd);
	if (dct->state != DCT_DRAINED && !hca->dead)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "dct: not drained");
	res_remove(&hca->dcts, dct->n);
	dct_free(hca, dct);
	return PRM_STAT_OK;
}

enum prm_status dct_query(struct hca *hca, struct cmd *cmd)
{
	uint8_t *dctc = fld_at(cmd->out, QUERY_DCT_OUT_CONTEXT);
	struct dct *dct = dct_named(hca, cmd);

	if (!dct)
		return dct_unknown(cmd);
	memcpy(dctc, dct->context, PRM_DCTC_SIZE);
	fld_set(dctc, DCTC_STATE,
		dct->state == DCT_ACTIVE ? PRM_DCT_STATE_ACTIVE : PRM_DCT_STATE_DRAINED);
	fld_set(dctc, DCTC_DC_ACCESS_KEY_VIOLATION_COUNT, dct->violations);
	fld_set(dctc, DCTC_ECE, dct->model->ece);
	return PRM_STAT_OK;
}

enum prm_status dct_arm(struct hca *hca, struct cmd *cmd)
{
	struct dct *dct = dct_named(hca, cmd);

	if (!dct)
		return dct_unknown(cmd);
	dct->armed = true;
	return PRM_STAT_OK;
}
