/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * death.c - the adapter fails for good: by an injected fault, or on request of its front.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"

void hca_die(struct hca *hca)
{
	uint32_t i = 0;
	struct qp *qp;

	if (hca->dead)
		return;
	hca->dead = true;
	fabric_port_changed(hca->fabric);
	trace_line(hca->config.trace, "the adapter has died");
	eq_internal_error(hca);
	/* Complete all posted work in error, so that no program waits for ever. */
	eth_die(hca);
	while ((qp = res_next(&hca->qps, &i)) != NULL)
		if (qp->state != PRM_QP_STATE_RST)
			qp_fail(hca, qp, -1);
}

void hca_kill(struct hca *hca)
{
	fabric_lock(hca->fabric);
	hca_die(hca);
	fabric_unlock(hca->fabric);
}
