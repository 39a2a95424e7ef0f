/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqe.c - events as EQEs of mlx4, and the event that a command has ended. Sources: see
 * prm/mlx4/eqe.h.
 */
#include <assert.h>

#include "prm/mlx4/eqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/mlx4.h"

static_assert((int)M4_EVENT_COMMAND == (int)PRM_EVENT_COMMAND &&
		      (int)M4_PORT_DOWN == (int)PRM_PORT_CHANGE_DOWN &&
		      (int)M4_PORT_ACTIVE == (int)PRM_PORT_CHANGE_ACTIVE,
	      "types of events are those that the device knows");

void mlx4_set_eqe_owner(uint8_t *eqe, bool owner)
{
	fld_set(eqe, M4_EQE_OWNER, owner);
}

void mlx4_encode_eqe(const struct event *event, uint8_t *eqe)
{
	fld_set(eqe, M4_EQE_TYPE, event->type);
	switch (event->type) {
	case PRM_EVENT_PORT_CHANGE:
		fld_set(eqe, M4_EQE_SUBTYPE, event->detail);
		fld_set(eqe, M4_EQE_PORT, event->port);
		break;
	case PRM_EVENT_COMMAND:
		fld_set(eqe, M4_EQE_TOKEN, event->number);
		fld_set(eqe, M4_EQE_STATUS, event->detail);
		fld_set(eqe, M4_EQE_OUT_PARAM, event->result);
		break;
	case PRM_EVENT_CQ_ERROR:
		fld_set(eqe, M4_EQE_NUMBER, event->number);
		fld_set(eqe, M4_EQE_SYNDROME, event->detail);
		break;
	default:
		fld_set(eqe, M4_EQE_NUMBER, event->number);
		break;
	}
}

void mlx4_trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t *eqe)
{
	if (trace)
		trace_bytes(trace, eqe, M4_EQE_SIZE, "eqe eqn %u type 0x%02x number 0x%06x", eqn,
			    (unsigned int)fld_get(eqe, M4_EQE_TYPE),
			    (unsigned int)fld_get(eqe, M4_EQE_NUMBER));
}

void m4_command_event(struct hca *hca, const struct hca_order *order, uint8_t status)
{
	eq_report(hca, &(struct event){ .type = PRM_EVENT_COMMAND,
					.number = order->token,
					.detail = status,
					.result = order->out });
}
