/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - commands on completion queues, and their context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/mini_cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/umem.h"
#include "util/bits.h"

CONTEXT_HOLDS(struct cq, PRM_CQC_SIZE);

/* Distance of CQEs. Padding to a cache line is written too, as this avoids partial line writes. */
enum { STRIDE_64 = 0, STRIDE_128_PADDED = 2 };

static const char *cq_check_compression(const struct hca *hca, const uint8_t *cqc)
{
	if (fld_get(cqc, CQC_CQE_COMPRESSION_LAYOUT) >
	    (hca->config.kernel_driver ? PRM_CQE_COMPRESSION_BASIC : PRM_CQE_COMPRESSION_ENHANCED))
		return "cq: another layout of compressed CQEs than is announced";
	switch (fld_get(cqc, CQC_MINI_CQE_RES_FORMAT)) {
	case PRM_MINI_CQE_HASH:
	case PRM_MINI_CQE_CHECKSUM:
	case PRM_MINI_CQE_CHECKSUM_STRIDE:
		return NULL;
	default:
		return "cq: unknown format of mini CQEs";
	}
}

static const char *cq_check_context(const struct hca *hca, const uint8_t *cqc)
{
	if (fld_get(cqc, CQC_CQE_SZ) > STRIDE_128_PADDED)
		return "cq: CQE size is neither 64 nor 128";
	if (fld_get(cqc, CQC_LOG_CQ_SIZE) > 31 ||
	    1u << fld_get(cqc, CQC_LOG_CQ_SIZE) > hca->config.limits.max_cqe)
		return "cq: more entries than log_max_cq_sz allows";
	if (!fld_get(cqc, CQC_DBR_UMEM_VALID) && fld_get(cqc, CQC_DBR_ADDR) & 7)
		return "cq: doorbell record is not aligned to 8";
	return fld_get(cqc, CQC_CQE_COMP_EN) ? cq_check_compression(hca, cqc) : NULL;
}

static int cq_set_compression(struct cq *cq)
{
	uint64_t format = fld_get(cq->context, CQC_MINI_CQE_RES_FORMAT);

	if (!fld_get(cq->context, CQC_CQE_COMP_EN))
		return 0;
	cq->run = calloc(1, sizeof(*cq->run));
	if (!cq->run)
		return ENOMEM;
	cq->run->has_blocks =
		fld_get(cq->context, CQC_CQE_COMPRESSION_LAYOUT) == PRM_CQE_COMPRESSION_ENHANCED;
	cq->run->behind_title = cq->pi - 1; /* no title yet */
	cq->run->format.has_hash = format == PRM_MINI_CQE_HASH;
	cq->run->format.has_index = format == PRM_MINI_CQE_CHECKSUM_STRIDE;
	return 0;
}

static void cq_set_moderation(struct cq *cq, const uint8_t *cqc)
{
	cq->period = fld_get(cqc, CQC_CQ_PERIOD) * NS_PER_US;
	cq->max_count = fld_get(cqc, CQC_CQ_MAX_COUNT);
}

/* Maps the ring's memory; creation and resizing have it at the same place of the mailbox, so one
 * function serves both. */
static int cq_map_ring(struct hca *hca, const struct cmd *cmd, uint64_t len, struct dma_map *map,
		       struct umem **umem)
{
	const uint8_t *cqc = fld_at(cmd->in, CREATE_CQ_IN_CQC);
	unsigned int page_shift = 12 + fld_get(cqc, CQC_LOG_PAGE_SIZE);
	uint64_t skip = fld_get(cqc, CQC_PAGE_OFFSET) << (page_shift - 6);
	const struct umem_place ring = {
		.valid = fld_get(cmd->in, CREATE_CQ_IN_CQ_UMEM_VALID),
		.id = fld_get(cmd->in, CREATE_CQ_IN_CQ_UMEM_ID),
		.offset = fld_get(cmd->in, CREATE_CQ_IN_CQ_UMEM_OFFSET),
	};
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_CQ_IN_PAS, &npas);

	*umem = NULL;
	if (ring.valid)
		return umem_place_ring(hca, &ring, len, map, umem);
	return dma_map_pages(map, pas, npas, page_shift, skip, len);
}

static int cq_find_record(struct hca *hca, struct cq *cq)
{
	const struct umem_place record = {
		.valid = fld_get(cq->context, CQC_DBR_UMEM_VALID),
		.id = fld_get(cq->context, CQC_DBR_UMEM_ID),
		.offset = fld_get(cq->context, CQC_DBR_ADDR),
	};

	return umem_place_record(hca, &record, &cq->dbr, &cq->umems.record);
}

static int cq_set_up(struct hca *hca, struct cq *cq, const struct cmd *cmd)
{
	int ret;

	cq->log_size = fld_get(cq->context, CQC_LOG_CQ_SIZE);
	cq->cqe_size = fld_get(cq->context, CQC_CQE_SZ) == STRIDE_64 ? 64 : 128;
	cq->padded = fld_get(cq->context, CQC_CQE_SZ) == STRIDE_128_PADDED;
	cq->ignore_overrun = fld_get(cq->context, CQC_OI);
	cq_set_moderation(cq, cq->context);
	cq->has_time = fld_get(cmd->in, CREATE_CQ_IN_HAS_TIME);
	ret = cq_map_ring(hca, cmd, (uint64_t)cq->cqe_size << cq->log_size, &cq->map,
			  &cq->umems.ring);
	if (!ret)
		ret = cq_find_record(hca, cq);
	if (!ret)
		ret = cq_set_compression(cq);
	if (!ret)
		ret = cq_fill_ring(hca, cq);
	return ret ? ret : cq_start_arms(hca, cq);
}

static enum prm_status cq_add(struct hca *hca, struct cmd *cmd, struct cq *cq)
{
	int ret = cq_set_up(hca, cq, cmd);

	if (!ret)
		ret = res_add(&hca->cqs, cq, &cq->n);
	if (ret)
		return cmd_errno(cmd, ret, "cq: page list, umem, doorbell record, or table full");
	cq->eq->users++;
	queue_umems_use(&cq->umems, 1);
	uar_add_cq(cq);
	pins_take(hca, &cq->map);
	fld_set(cmd->out, CREATE_CQ_OUT_CQN, cq->n);
	return PRM_STAT_OK;
}

enum prm_status cq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *cqc = fld_at(cmd->in, CREATE_CQ_IN_CQC);
	const char *why = cq_check_context(hca, cqc);
	enum prm_status status;
	struct cq *cq;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return cmd_errno(cmd, ENOMEM, "cq");
	memcpy(cq->context, cqc, PRM_CQC_SIZE);
	cq->eq = res_find(&hca->eqs, fld_get(cqc, CQC_C_EQN));
	cq->uar = res_find(&hca->uars, fld_get(cqc, CQC_UAR_PAGE));
	if (cq->eq && cq->uar)
		status = cq_add(hca, cmd, cq);
	else
		status = cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such EQ or UAR");
	if (status)
		cq_free(cq);
	return status;
}

enum prm_status cq_query(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_find(&hca->cqs, fld_get(cmd->in, QUERY_CQ_IN_CQN));
	uint8_t *cqc = fld_at(cmd->out, QUERY_CQ_OUT_CQC);

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	memcpy(cqc, cq->context, PRM_CQC_SIZE);
	fld_set(cqc, CQC_STATUS, cq->status);
	fld_set(cqc, CQC_OI, cq->ignore_overrun);
	fld_set(cqc, CQC_ST, cq->armed ? cq->armed : PRM_CQC_ST_FIRED);
	fld_set(cqc, CQC_PRODUCER_COUNTER, cq->pi);
	fld_set(cqc, CQC_CONSUMER_COUNTER, cq->ci);
	fld_set(cqc, CQC_LAST_NOTIFIED_INDEX, cq->notified);
	fld_set(cqc, CQC_LAST_SOLICIT_INDEX, cq->solicited);
	return PRM_STAT_OK;
}

static const char *cq_check_resize(struct hca *hca, struct cq *cq, const struct cmd *cmd)
{
	uint64_t all = PRM_RESIZE_CQ_LOG_SIZE | PRM_RESIZE_CQ_PG_OFFSET | PRM_RESIZE_CQ_PG_SIZE;
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);

	if (fld_get(cmd->in, MODIFY_CQ_IN_FIELD_SELECT) != all)
		return "cq: a new size comes with a new page list";
	if (cmd->in_len < FLD_BYTE(MODIFY_CQ_IN_PAS))
		return "cq: no page list";
	if (fld_get(cqc, CQC_CQE_SZ) != fld_get(cq->context, CQC_CQE_SZ))
		return "cq: the size of CQEs cannot change";
	if (fld_get(cqc, CQC_LOG_CQ_SIZE) > 31 ||
	    1u << fld_get(cqc, CQC_LOG_CQ_SIZE) > hca->config.limits.max_cqe)
		return "cq: more entries than log_max_cq_sz allows";
	if (cq->status != PRM_CQC_STATUS_OK || cq_read_consumer(hca, cq))
		return "cq: in error, or its doorbell record cannot be read";
	if (cq->pi - cq->ci >= 1u << cq->log_size)
		return "cq: no room for the CQE that ends the old ring";
	if (cq->pi - cq->ci >= 1u << fld_get(cqc, CQC_LOG_CQ_SIZE))
		return "cq: more CQEs outstanding than the new size holds";
	return NULL;
}

static void cq_change_umem(struct cq *cq, struct umem *umem)
{
	if (umem)
		umem->users++;
	if (cq->umems.ring)
		cq->umems.ring->users--;
	cq->umems.ring = umem;
}

static enum prm_status cq_resize(struct hca *hca, struct cq *cq, struct cmd *cmd)
{
	static const uint32_t fields[] = { CQC_LOG_CQ_SIZE, CQC_LOG_PAGE_SIZE, CQC_PAGE_OFFSET };
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);
	const char *why = cq_check_resize(hca, cq, cmd);
	uint32_t log_size = fld_get(cqc, CQC_LOG_CQ_SIZE);
	struct umem *umem;
	struct dma_map map;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = cq_map_ring(hca, cmd, (uint64_t)cq->cqe_size << log_size, &map, &umem);
	if (ret)
		return cmd_errno(cmd, ret, "cq: page list too short, or no such umem");
	pins_take(hca, &map);
	if (cq_move(hca, cq, &map, log_size)) {
		dma_unmap(&map);
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "cq: cannot write the old ring");
	}
	cq_change_umem(cq, umem);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fld_set(cq->context, fields[i], fld_get(cqc, fields[i]));
	return PRM_STAT_OK;
}

enum prm_status cq_modify(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_find(&hca->cqs, fld_get(cmd->in, MODIFY_CQ_IN_CQN));
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);
	uint64_t fields = fld_get(cmd->in, MODIFY_CQ_IN_FIELD_SELECT);

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	if (fld_get(cmd->in, CMD_IN_OP_MOD) == PRM_MODIFY_CQ_OP_RESIZE)
		return cq_resize(hca, cq, cmd);
	if (fields &
	    ~(uint64_t)(PRM_MODIFY_CQ_OVERRUN | PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "cq: unknown field");
	if (fields & PRM_MODIFY_CQ_OVERRUN)
		cq->ignore_overrun = fld_get(cqc, CQC_OI);
	if (fields & PRM_MODIFY_CQ_PERIOD)
		fld_set(cq->context, CQC_CQ_PERIOD, fld_get(cqc, CQC_CQ_PERIOD));
	if (fields & PRM_MODIFY_CQ_COUNT)
		fld_set(cq->context, CQC_CQ_MAX_COUNT, fld_get(cqc, CQC_CQ_MAX_COUNT));
	cq_set_moderation(cq, cq->context);
	return PRM_STAT_OK;
}

enum prm_status cq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_find(&hca->cqs, fld_get(cmd->in, DESTROY_CQ_IN_CQN));

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	if (cq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "cq: in use by a QP");
	res_remove(&hca->cqs, cq->n);
	uar_remove_cq(cq);
	cq->eq->users--;
	queue_umems_use(&cq->umems, -1);
	cq_free(cq);
	return PRM_STAT_OK;
}
