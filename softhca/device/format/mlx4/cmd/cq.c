/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - commands on completion queues of mlx4, and their context.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqc.h"
#include "prm/mlx4/cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

static_assert((int)M4_CQC_SIZE <= (int)CONTEXT_MAX, "the context is too small");

static struct cq *cq_find(struct hca *hca, const struct m4_cmd *cmd)
{
	return res_get(&hca->cqs, m4_number(cmd));
}

static uint32_t cqe_stride(const struct hca *hca)
{
	return fld_get(hca->mlx4->init, M4_INIT_LARGE_CQE) ? M4_CQE_LARGE : M4_CQE_SIZE;
}

static const char *cq_check(const uint8_t *cqc)
{
	if (fld_get(cqc, M4_CQC_COLLAPSED))
		return "cq: collapsed ones are not supported";
	if (fld_get(cqc, M4_CQC_PAGE_OFFSET))
		return "cq: a ring that does not begin with its page";
	if (fld_get(cqc, M4_CQC_STATUS))
		return "cq: a status other than 0";
	if (fld_get(cqc, M4_CQC_LOG_SIZE) > M4_LOG_CQ_SIZE)
		return "cq: more entries than were announced";
	if (fld_get(cqc, M4_CQC_RECORD) & 7)
		return "cq: doorbell record is not aligned to 8";
	return NULL;
}

static void cq_set_moderation(struct cq *cq, const uint8_t *cqc)
{
	cq->period = fld_get(cqc, M4_CQC_PERIOD) * NS_PER_US;
	cq->max_count = fld_get(cqc, M4_CQC_MAX_COUNT);
}

/* Maps the ring, which creation and resizing have at the same place of the context, so one function
 * serves both. */
static int cq_map(struct hca *hca, const struct cq *cq, const uint8_t *cqc, struct dma_map *map)
{
	const struct m4_ring ring = {
		.mtt = fld_get(cqc, M4_CQC_MTT_H) << 32 | fld_get(cqc, M4_CQC_MTT_L),
		.log_page = fld_get(cqc, M4_CQC_LOG_PAGE_SIZE),
	};

	return m4_map_ring(hca, &ring, (uint64_t)cq->cqe_size << fld_get(cqc, M4_CQC_LOG_SIZE),
			   map);
}

static int cq_set_up(struct hca *hca, struct cq *cq)
{
	const uint8_t *cqc = cq->context;
	int ret;

	cq->log_size = fld_get(cqc, M4_CQC_LOG_SIZE);
	cq->cqe_size = cqe_stride(hca);
	cq->ignore_overrun = fld_get(cqc, M4_CQC_OI);
	cq->has_time = fld_get(cqc, M4_CQC_HAS_TIME);
	cq->dbr = fld_get(cqc, M4_CQC_RECORD);
	cq_set_moderation(cq, cqc);
	ret = cq_map(hca, cq, cqc, &cq->map);
	if (!ret)
		ret = cq_fill_ring(hca, cq);
	return ret ? ret : res_add_as(&hca->cqs, cq, cq->n);
}

static const char *cq_find_objects(struct hca *hca, struct cq *cq)
{
	cq->eq = res_get(&hca->eqs, fld_get(cq->context, M4_CQC_EQN));
	cq->uar = m4_uar(hca, fld_get(cq->context, M4_CQC_UAR));
	if (!cq->eq)
		return "cq: no such EQ";
	return cq->uar ? NULL : "cq: no such page of doorbells";
}

enum m4_status m4_cq_give(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t n = m4_number(cmd);
	const char *why = cq_check(cmd->in);
	struct cq *cq;
	int ret;

	if (n >> fld_get(hca->mlx4->init, M4_INIT_LOG_CQS))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "cq: number out of range");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return m4_errno(cmd, ENOMEM, "cq");
	memcpy(cq->context, cmd->in, M4_CQC_SIZE);
	cq->n = n;
	why = cq_find_objects(hca, cq);
	ret = why ? EINVAL : cq_set_up(hca, cq);
	if (ret) {
		cq_free(cq);
		return why ? m4_fail(cmd, M4_STAT_BAD_RESOURCE, why)
			   : m4_errno(cmd, ret, "cq: translations, memory, or the number is taken");
	}
	cq->eq->users++;
	uar_add_cq(cq);
	pins_take(hca, &cq->map);
	return M4_STAT_OK;
}

static uint32_t cq_state(const struct cq *cq)
{
	if (!cq->armed)
		return M4_CQC_ST_FIRED;
	return cq->armed == PRM_CQC_ST_ARMED ? M4_CQC_ST_ARMED : M4_CQC_ST_SOLICITED_ARMED;
}

static void cq_put_context(const struct cq *cq, uint8_t *cqc)
{
	memcpy(cqc, cq->context, M4_CQC_SIZE);
	fld_set(cqc, M4_CQC_STATUS, cq->status);
	fld_set(cqc, M4_CQC_STATE, cq_state(cq));
	fld_set(cqc, M4_CQC_PI, cq->pi);
	fld_set(cqc, M4_CQC_CI, cq->ci);
	fld_set(cqc, M4_CQC_NOTIFIED, cq->notified);
	fld_set(cqc, M4_CQC_SOLICITED, cq->solicited);
}

void m4_cq_remove(struct hca *hca, struct cq *cq)
{
	res_remove(&hca->cqs, cq->n);
	uar_remove_cq(cq);
	cq->eq->users--;
	cq_free(cq);
}

enum m4_status m4_cq_take(struct hca *hca, struct m4_cmd *cmd)
{
	struct cq *cq = cq_find(hca, cmd);

	if (!cq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "cq: no such CQ");
	if (cq->users)
		return m4_fail(cmd, M4_STAT_RESOURCE_BUSY, "cq: in use by a QP");
	cq_put_context(cq, cmd->out);
	m4_cq_remove(hca, cq);
	return M4_STAT_OK;
}

enum m4_status m4_cq_query(struct hca *hca, struct m4_cmd *cmd)
{
	const struct cq *cq = cq_find(hca, cmd);

	if (!cq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "cq: no such CQ");
	cq_put_context(cq, cmd->out);
	return M4_STAT_OK;
}

static enum m4_status cq_check_resize(struct hca *hca, struct cq *cq, struct m4_cmd *cmd)
{
	uint64_t log_size = fld_get(cmd->in, M4_CQC_LOG_SIZE);

	if (log_size > M4_LOG_CQ_SIZE || fld_get(cmd->in, M4_CQC_PAGE_OFFSET))
		return m4_fail(cmd, M4_STAT_BAD_PARAM,
			       "cq: more entries than were announced, or not at a page");
	if (cq->status || cq_read_consumer(hca, cq))
		return m4_fail(cmd, M4_STAT_BAD_RES_STATE,
			       "cq: in error, or its doorbell record cannot be read");
	if (cq->pi - cq->ci >= 1u << cq->log_size || cq->pi - cq->ci >= 1u << log_size)
		return m4_fail(cmd, M4_STAT_BAD_SIZE,
			       "cq: more CQEs outstanding than a ring holds");
	return M4_STAT_OK;
}

static enum m4_status cq_resize(struct hca *hca, struct cq *cq, struct m4_cmd *cmd)
{
	static const uint32_t fields[] = { M4_CQC_LOG_SIZE, M4_CQC_LOG_PAGE_SIZE, M4_CQC_MTT_H,
					   M4_CQC_MTT_L };
	enum m4_status status = cq_check_resize(hca, cq, cmd);
	struct dma_map map;
	int ret;

	if (status)
		return status;
	ret = cq_map(hca, cq, cmd->in, &map);
	if (ret)
		return m4_errno(cmd, ret, "cq: translations");
	pins_take(hca, &map);
	if (cq_move(hca, cq, &map, fld_get(cmd->in, M4_CQC_LOG_SIZE))) {
		dma_unmap(&map);
		return m4_fail(cmd, M4_STAT_BAD_RES_STATE, "cq: cannot write the old ring");
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fld_set(cq->context, fields[i], fld_get(cmd->in, fields[i]));
	return M4_STAT_OK;
}

enum m4_status m4_cq_modify(struct hca *hca, struct m4_cmd *cmd)
{
	struct cq *cq = cq_find(hca, cmd);

	if (!cq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "cq: no such CQ");
	switch (cmd->order->modifier) {
	case M4_MODIFY_CQ_RESIZE:
		return cq_resize(hca, cq, cmd);
	case M4_MODIFY_CQ_MODERATION:
		fld_set(cq->context, M4_CQC_PERIOD, fld_get(cmd->in, M4_CQC_PERIOD));
		fld_set(cq->context, M4_CQC_MAX_COUNT, fld_get(cmd->in, M4_CQC_MAX_COUNT));
		cq_set_moderation(cq, cq->context);
		return M4_STAT_OK;
	default:
		return m4_fail(cmd, M4_STAT_BAD_OP, "cq: unknown modification");
	}
}
