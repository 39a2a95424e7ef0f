/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag.c - bonded ports: software sees one port, and may choose the physical port of a queue. Here
 * all ports are on one wire, so the choice is stored and has no other effect.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/lag.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

/* Reports the bond. Without one the state is 0 and not an error, as UCX queries each device and
 * logs each failure. */
enum prm_status lag_query(struct hca *hca, struct cmd *cmd)
{
	uint8_t *lag = fld_at(cmd->out, QUERY_LAG_OUT_CTX);

	if (!hca->config.lag_ports)
		return PRM_STAT_OK;
	fld_set(lag, LAGC_LAG_STATE, 1);
	fld_set(lag, LAGC_TX_REMAP_AFFINITY_1, 1);
	fld_set(lag, LAGC_TX_REMAP_AFFINITY_2, 2);
	return PRM_STAT_OK;
}

uint32_t lag_port_of(const struct hca *hca, uint32_t number)
{
	return hca->config.lag_ports ? 1 + number % hca->config.lag_ports : 0;
}

const char *lag_check_port(const struct hca *hca, uint64_t port)
{
	uint32_t ports = hca->config.lag_ports ? hca->config.lag_ports : hca->config.num_ports;

	return port > ports ? "lag: no such port" : NULL;
}
