/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.c - mlx4's commands on ports, and the one by which a driver that received a MAD lets the
 * adapter's agents answer it.
 */
#include <assert.h>

#include "ib/mad.h"
#include "prm/mlx4/caps.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/cmd/eth_port.h"

enum { MTU_4096 = 5, WIDTHS_1X_4X = 3, LOG_GIDS = 3, LOG_PKEYS = 7, VLS = 1 };

static_assert(1 << LOG_GIDS == PORT_GIDS_IB && 1 << LOG_PKEYS == PORT_PKEYS, "tables of a port");

bool m4_port_exists(const struct hca *hca, uint32_t port)
{
	return port >= 1 && port <= hca->config.num_ports;
}

enum m4_status m4_port_query(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t port = cmd->order->in_modifier;

	if (!m4_port_exists(hca, port))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	fld_set(cmd->out, M4_PORT_LINK_UP, port_is_up(hca, port));
	if (hca->config.link_layer == HCA_LINK_ETHERNET) {
		m4_eth_port_query(hca, port, cmd->out);
		return M4_STAT_OK;
	}
	fld_set(cmd->out, M4_PORT_TYPES, M4_PORT_TYPE_IB);
	fld_set(cmd->out, M4_PORT_IB_MTU, MTU_4096);
	fld_set(cmd->out, M4_PORT_WIDTH, WIDTHS_1X_4X);
	fld_set(cmd->out, M4_PORT_LOG_GIDS, LOG_GIDS);
	fld_set(cmd->out, M4_PORT_LOG_PKEYS, LOG_PKEYS);
	fld_set(cmd->out, M4_PORT_VLS, VLS);
	return M4_STAT_OK;
}

/* The fabric does the subnet manager's work, so an open port has an active link at once. */
enum m4_status m4_port_open(struct hca *hca, struct m4_cmd *cmd)
{
	if (!m4_port_exists(hca, cmd->order->in_modifier))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	port_set_admin(hca, cmd->order->in_modifier, true);
	return M4_STAT_OK;
}

enum m4_status m4_port_close(struct hca *hca, struct m4_cmd *cmd)
{
	if (!m4_port_exists(hca, cmd->order->in_modifier))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	port_set_admin(hca, cmd->order->in_modifier, false);
	return M4_STAT_OK;
}

enum m4_status m4_port_set(struct hca *hca, struct m4_cmd *cmd)
{
	if (hca->config.link_layer == HCA_LINK_ETHERNET)
		return m4_eth_port_set(hca, cmd);
	if (cmd->order->modifier != M4_SET_PORT_IB)
		return m4_fail(cmd, M4_STAT_BAD_OP, "port: parameters of another link layer");
	if (!m4_port_exists(hca, cmd->order->in_modifier))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	if (fld_get(cmd->in, M4_SET_PORT_CHANGE_VL) && fld_get(cmd->in, M4_SET_PORT_VLS) > VLS)
		return m4_fail(cmd, M4_STAT_BAD_SIZE, "port: more lanes than there are");
	if (fld_get(cmd->in, M4_SET_PORT_CHANGE_MTU) &&
	    fld_get(cmd->in, M4_SET_PORT_MTU) != MTU_4096)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: its MTU is 4096");
	hca->port[cmd->order->in_modifier - 1].cap_mask = fld_get(cmd->in, M4_SET_PORT_CAPS);
	return M4_STAT_OK;
}

enum m4_status m4_mad(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t port = cmd->order->in_modifier & 0xffff; /* the upper half has the requester */

	if (cmd->order->modifier & ~(M4_MAD_IGNORE_MKEY | M4_MAD_IGNORE_BKEY | M4_MAD_EXTENDED))
		return m4_fail(cmd, M4_STAT_BAD_OP, "mad: unknown modifier");
	if (!m4_port_exists(hca, port))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "mad: no such port");
	if (!station_answer_mad(hca, port, cmd->in, cmd->out))
		return m4_fail(cmd, M4_STAT_BAD_PKT, "mad: no agent answers it");
	return M4_STAT_OK;
}
