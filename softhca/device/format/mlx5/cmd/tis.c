/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tis.c - commands on TISes, and their context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

CONTEXT_HOLDS(struct tis, PRM_TISC_SIZE);

enum prm_status tis_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tisc = fld_at(cmd->in, CREATE_TIS_IN_CTX);
	struct pd *td = res_find(&hca->tds, fld_get(tisc, TISC_TRANSPORT_DOMAIN));
	struct tis *tis;
	int ret;

	if (!uctx_may_send_frames(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: the user has no RAW_TX");
	if (fld_get(tisc, TISC_TLS_EN))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: TLS is not supported");
	if (lag_check_port(hca, fld_get(tisc, TISC_LAG_TX_PORT_AFFINITY)))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: no such port");
	if (fld_get(tisc, TISC_UNDERLAY_QPN) && hca->config.link_layer == HCA_LINK_ETHERNET)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: underlay QPs are of InfiniBand");
	if (!td)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "tis: no such transport domain");
	tis = calloc(1, sizeof(*tis));
	if (!tis)
		return cmd_errno(cmd, ENOMEM, "tis: table is full");
	tis->td = td;
	tis->port = fld_get(tisc, TISC_LAG_TX_PORT_AFFINITY);
	tis->underlay_qpn = fld_get(tisc, TISC_UNDERLAY_QPN);
	memcpy(tis->context, tisc, PRM_TISC_SIZE);
	ret = tis_add(hca, tis);
	if (ret) {
		free(tis);
		return cmd_errno(cmd, ret, "tis: table is full");
	}
	if (!tis->port)
		tis->port = lag_port_of(hca, tis->n);
	fld_set(tis->context, TISC_LAG_TX_PORT_AFFINITY, tis->port);
	fld_set(cmd->out, CREATE_TIS_OUT_TISN, tis->n);
	return PRM_STAT_OK;
}

static struct tis *tis_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "tis: no such TIS";
	return res_find(&hca->eth->tises, fld_get(cmd->in, field));
}

enum { TIS_MODIFY_PRIO = 1 << 0, TIS_MODIFY_LAG_PORT = 1 << 2 };

enum prm_status tis_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tisc = fld_at(cmd->in, MODIFY_TIS_IN_CTX);
	const uint8_t *mask = fld_at(cmd->in, MODIFY_TIS_IN_BITMASK);
	struct tis *tis = tis_find(hca, cmd, MODIFY_TIS_IN_TISN);
	uint32_t port;

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get64(mask, 0) & ~(uint64_t)(TIS_MODIFY_PRIO | TIS_MODIFY_LAG_PORT) ||
	    (fld_get(mask, MODIFY_TIS_BITMASK_LAG_PORT) && !hca->config.lag_ports))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"tis: only the priority and the bonded port can change");
	if (fld_get(mask, MODIFY_TIS_BITMASK_LAG_PORT)) {
		port = fld_get(tisc, TISC_LAG_TX_PORT_AFFINITY);
		if (lag_check_port(hca, port))
			return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "tis: no such port");
		tis->port = port ? port : lag_port_of(hca, tis->n);
		fld_set(tis->context, TISC_LAG_TX_PORT_AFFINITY, tis->port);
	}
	if (fld_get(mask, MODIFY_TIS_BITMASK_PRIO))
		fld_set(tis->context, TISC_PRIO, fld_get(tisc, TISC_PRIO));
	return PRM_STAT_OK;
}

enum prm_status tis_query(struct hca *hca, struct cmd *cmd)
{
	struct tis *tis = tis_find(hca, cmd, QUERY_TIS_IN_TISN);

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(fld_at(cmd->out, QUERY_TIS_OUT_TIS_CONTEXT), tis->context, PRM_TISC_SIZE);
	return PRM_STAT_OK;
}

enum prm_status tis_destroy(struct hca *hca, struct cmd *cmd)
{
	struct tis *tis = tis_find(hca, cmd, DESTROY_TIS_IN_TISN);

	if (!tis)
		return PRM_STAT_BAD_RES_ERR;
	if (tis->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "tis: in use by an SQ");
	tis_remove(hca, tis);
	return PRM_STAT_OK;
}
