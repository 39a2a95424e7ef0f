/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - commands on shared receive queues of mlx4, and their context.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/srqc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/transport/qp.h"

static_assert((int)M4_SRQC_SIZE <= (int)CONTEXT_MAX, "the context is too small");

static struct srq *srq_find(struct hca *hca, const struct m4_cmd *cmd)
{
	return res_get(&hca->srqs, m4_number(cmd));
}

static const char *srq_check(const uint8_t *srqc, uint32_t n)
{
	if (fld_get(srqc, M4_SRQC_SRQN) != n)
		return "srq: another number in the context";
	if (fld_get(srqc, M4_SRQC_PAGE_OFFSET))
		return "srq: a ring that does not begin with its page";
	if (fld_get(srqc, M4_SRQC_LOG_SIZE) > M4_LOG_SRQ_SIZE)
		return "srq: more WQEs than were announced";
	if (fld_get(srqc, M4_SRQC_LOG_STRIDE) < 1 ||
	    16u << fld_get(srqc, M4_SRQC_LOG_STRIDE) > RECV_WQE_MAX)
		return "srq: WQEs of less than 32 bytes, or more than 512";
	if (fld_get(srqc, M4_SRQC_RECORD) & 3)
		return "srq: doorbell record is not aligned to 4";
	return NULL;
}

static int srq_set_up(struct hca *hca, struct srq *srq)
{
	const uint8_t *srqc = srq->context;
	const struct m4_ring ring = {
		.mtt = fld_get(srqc, M4_SRQC_MTT_H) << 32 | fld_get(srqc, M4_SRQC_MTT_L),
		.log_page = fld_get(srqc, M4_SRQC_LOG_PAGE_SIZE),
	};
	int ret;

	srq->log_size = fld_get(srqc, M4_SRQC_LOG_SIZE);
	srq->stride = 16u << fld_get(srqc, M4_SRQC_LOG_STRIDE);
	srq->dbr = fld_get(srqc, M4_SRQC_RECORD);
	srq->pd = m4_pd(hca, fld_get(srqc, M4_SRQC_PD));
	srq->xrcd = m4_xrcd(hca, fld_get(srqc, M4_SRQC_XRCD));
	srq->cq = srq->xrcd ? res_get(&hca->cqs, fld_get(srqc, M4_SRQC_CQN)) : NULL;
	if (!srq->pd || (fld_get(srqc, M4_SRQC_XRCD) && !srq->cq))
		return EINVAL;
	ret = m4_map_ring(hca, &ring, (uint64_t)srq->stride << srq->log_size, &srq->map);
	return ret ? ret : res_add_as(&hca->srqs, srq, srq->n);
}

/* An XRC SRQ completes to a CQ of its own. */
static void srq_use(struct srq *srq, int by)
{
	srq->pd->users += by;
	if (!srq->xrcd)
		return;
	srq->xrcd->users += by;
	srq->cq->users += by;
}

enum m4_status m4_srq_give(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t n = m4_number(cmd);
	const char *why = srq_check(cmd->in, n);
	struct srq *srq;
	int ret;

	if (n >> fld_get(hca->mlx4->init, M4_INIT_LOG_SRQS))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "srq: number out of range");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return m4_errno(cmd, ENOMEM, "srq");
	memcpy(srq->context, cmd->in, M4_SRQC_SIZE);
	srq->n = n;
	ret = srq_set_up(hca, srq);
	if (ret) {
		srq_free(srq);
		return m4_errno(cmd, ret, "srq: translations, domain, CQ, or the number is taken");
	}
	srq_use(srq, 1);
	pins_take(hca, &srq->map);
	srq_arm(hca, srq, fld_get(srq->context, M4_SRQC_LIMIT));
	return M4_STAT_OK;
}

static void srq_put_context(const struct srq *srq, uint8_t *srqc)
{
	memcpy(srqc, srq->context, M4_SRQC_SIZE);
	fld_set(srqc, M4_SRQC_LIMIT, srq->limit);
	fld_set(srqc, M4_SRQC_WQES, (uint16_t)(srq->pi - srq->taken));
	fld_set(srqc, M4_SRQC_WQE_COUNTER, srq->pi);
}

void m4_srq_remove(struct hca *hca, struct srq *srq)
{
	res_remove(&hca->srqs, srq->n);
	srq_take_back(hca, srq);
	srq_use(srq, -1);
	srq_free(srq);
}

enum m4_status m4_srq_take(struct hca *hca, struct m4_cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd);

	if (!srq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "srq: no such SRQ");
	if (srq->users)
		return m4_fail(cmd, M4_STAT_RESOURCE_BUSY, "srq: in use by a QP");
	srq_put_context(srq, cmd->out);
	m4_srq_remove(hca, srq);
	return M4_STAT_OK;
}

enum m4_status m4_srq_query(struct hca *hca, struct m4_cmd *cmd)
{
	const struct srq *srq = srq_find(hca, cmd);

	if (!srq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "srq: no such SRQ");
	srq_put_context(srq, cmd->out);
	return M4_STAT_OK;
}

enum m4_status m4_srq_arm(struct hca *hca, struct m4_cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd);

	if (!srq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "srq: no such SRQ");
	if (cmd->order->in > 0xffff)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "srq: limit out of range");
	srq_arm(hca, srq, (uint16_t)cmd->order->in);
	return M4_STAT_OK;
}
