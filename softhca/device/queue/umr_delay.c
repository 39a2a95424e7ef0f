/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr_delay.c - delays each UMR of a strict adapter. Requests behind it begin meanwhile unless a
 * fence makes them wait, so a program that forgets the fence fails here, where an adapter mostly
 * hides the error.
 *
 * A UMR begins when nothing before it is under way. So the UMR that waits is at sq.ci and completes
 * before all others. PRM: UMR, Ordering. Decision: docs/adr/0037.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/queue/umr_delay.h"
#include "softhca/device/queue/wqe.h"

#define UMR_TIME (50 * NS_PER_US)

struct umr_wait {
	LIST_ENTRY(umr_wait) in_hca;
	struct qp *qp;
	uint64_t due;
	size_t len;
	uint8_t raw[];
};

int umr_delay(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len)
{
	/* umr_key() reads the head before the request is checked, so a short request is padded with
	 * zeroes. */
	enum { HEAD = 64 };
	struct umr_wait *wait = calloc(1, sizeof(*wait) + (len < HEAD ? HEAD : len));

	if (!wait)
		return ENOMEM;
	wait->qp = qp;
	wait->due = hca->now + UMR_TIME;
	wait->len = len;
	memcpy(wait->raw, raw, len);
	qp->umr = wait;
	LIST_INSERT_HEAD(&hca->umrs, wait, in_hca);
	return 0;
}

void umr_forget(struct qp *qp)
{
	if (!qp->umr)
		return;
	LIST_REMOVE(qp->umr, in_hca);
	free(qp->umr);
	qp->umr = NULL;
}

bool umr_finish(struct hca *hca, struct qp *qp)
{
	int why = hca->format->execute_umr(hca, qp, qp->umr->raw, qp->umr->len);

	umr_forget(qp);
	if (why)
		sq_fail(hca, qp, wqe_syndrome(why), why);
	else
		sq_complete(hca, qp, NULL, 0);
	return !why && qp_requests(qp);
}

/* Reports any request without a fence, even one that does not read the key's memory: a peer may use
 * the key as soon as it has the request. */
void umr_overtaken(struct hca *hca, const struct qp *qp, const struct send_wqe *wqe)
{
	strict_report(hca->config.strict, hca->config.trace, "umr.fence",
		      "QP 0x%06x, WQE %u (%s): a UMR of key 0x%08x is under way before it, and "
		      "ctrl fm is %u",
		      qp->n, wqe->index, hca->format->opcode_name(wqe->opcode),
		      hca->format->umr_key(qp->umr->raw), wqe->fence);
}

uint64_t umr_run(struct hca *hca)
{
	struct umr_wait *wait, *after;
	uint64_t next = HCA_IDLE;

	for (wait = LIST_FIRST(&hca->umrs); wait; wait = after) {
		struct qp *qp = wait->qp;

		after = LIST_NEXT(wait, in_hca);
		if (wait->due > hca->now) {
			next = wait->due < next ? wait->due : next;
			continue;
		}
		umr_finish(hca, qp);
		qp_wake(hca, qp);
		next = hca->now;
	}
	return next;
}
