/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diag.c - mlx4's error counters: one set for all QPs, cleared when the adapter is initialized.
 * Counters for events that the device does not count read as 0.
 */
#include "prm/mlx4/diag.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

static const struct {
	uint32_t field;
	enum q_event event;
} counters[] = {
	{ M4_DIAG_RECV_LENGTH, Q_RESP_LENGTH },
	{ M4_DIAG_RECV_FLUSHED, Q_RESP_FLUSH },
	{ M4_DIAG_SEND_FLUSHED, Q_REQ_FLUSH },
	{ M4_DIAG_SEND_REMOTE_INVALID, Q_REQ_REMOTE_INVALID },
	{ M4_DIAG_SEND_REMOTE_ACCESS, Q_REQ_REMOTE_ACCESS },
	{ M4_DIAG_RECV_REMOTE_ACCESS, Q_RESP_REMOTE_ACCESS },
	{ M4_DIAG_SEND_RNR, Q_RNR_NAK },
	{ M4_DIAG_RECV_OUT_OF_SEQUENCE, Q_OUT_OF_SEQUENCE },
	{ M4_DIAG_SEND_OUT_OF_SEQUENCE, Q_SEQUENCE_NAK },
	{ M4_DIAG_RECV_DUPLICATE, Q_DUPLICATE },
	{ M4_DIAG_SEND_TIMEOUT, Q_TIMEOUT },
};

int m4_diag_begin(struct hca *hca)
{
	return q_counter_add(hca, &hca->mlx4->counters);
}

void m4_diag_end(struct hca *hca)
{
	if (hca->mlx4->counters)
		q_counter_remove(hca, hca->mlx4->counters);
	hca->mlx4->counters = NULL;
}

enum m4_status m4_diag_report(struct hca *hca, struct m4_cmd *cmd)
{
	const struct q_counter *set = hca->mlx4->counters;

	if (cmd->order->modifier != M4_DIAG_TRANSPORT)
		return m4_fail(cmd, M4_STAT_BAD_OP, "diag: another report than of transport");
	if (cmd->order->in_modifier)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "diag: ports have no counters of their own");
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		fld_set(cmd->out, counters[i].field, set->value[counters[i].event]);
	return M4_STAT_OK;
}
