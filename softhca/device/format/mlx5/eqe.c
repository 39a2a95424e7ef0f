/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqe.c - events as EQEs of mlx5. PRM: EQE
 */
#include "prm/mlx5/eqe.h"
#include "softhca/device/format/mlx5/mlx5.h"

void mlx5_set_eqe_owner(uint8_t *eqe, bool owner)
{
	fld_set(eqe, EQE_OWNER, owner);
}

void mlx5_encode_eqe(const struct event *event, uint8_t *eqe)
{
	fld_set(eqe, EQE_TYPE, event->type);
	switch (event->type) {
	case PRM_EVENT_COMP:
		fld_set(eqe, EQE_COMP_CQN, event->number);
		break;
	case PRM_EVENT_CQ_ERROR:
		fld_set(eqe, EQE_CQ_ERROR_CQN, event->number);
		fld_set(eqe, EQE_CQ_ERROR_SYNDROME, event->detail);
		break;
	case PRM_EVENT_PORT_CHANGE:
		fld_set(eqe, EQE_SUB_TYPE, event->detail);
		fld_set(eqe, EQE_PORT, event->port);
		break;
	case PRM_EVENT_PAGE_REQUEST:
		fld_set(eqe, EQE_PAGE_REQUEST_NUM_PAGES, (uint32_t)event->pages);
		break;
	case PRM_EVENT_COMMAND:
		fld_set(eqe, EQE_COMMAND_VECTOR, event->commands);
		break;
	case PRM_EVENT_INTERNAL_ERROR:
		break;
	default:
		fld_set(eqe, EQE_QPN, event->number);
		break;
	}
}
