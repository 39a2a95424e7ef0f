/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - the parts that commands on RQs and SQs share: the ring, and changes of state. PRM: WQ
 */
#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/umem.h"
#include "softhca/device/format/mlx5/cmd/wq.h"

enum { PAGE_SHIFT_MIN = 12 };

const char *wq_check(const uint8_t *wqc, uint32_t stride_max, uint32_t type)
{
	if (fld_get(wqc, WQ_WQ_TYPE) != type)
		return "wq: only cyclic queues";
	if (fld_get(wqc, WQ_LOG_WQ_SZ) > ETH_LOG_WQ)
		return "wq: more WQEs than log_max_wq_sz allows";
	if (fld_get(wqc, WQ_LOG_WQ_STRIDE) < ETH_LOG_STRIDE_MIN ||
	    1u << fld_get(wqc, WQ_LOG_WQ_STRIDE) > stride_max)
		return "wq: stride out of range";
	if (!fld_get(wqc, WQ_DBR_UMEM_VALID) && fld_get(wqc, WQ_DBR_ADDR) & 3)
		return "wq: doorbell record is not aligned";
	return NULL;
}

static uint32_t wq_skip(const struct hca *hca, const struct cmd *cmd)
{
	return hca->config.kind == HCA_MLX4 ? fld_get(cmd->in, CREATE_WQ_IN_SKIP) : 0;
}

uint32_t wq_number(const struct hca *hca, const struct cmd *cmd)
{
	return hca->config.kind == HCA_MLX4 ? fld_get(cmd->in, CREATE_WQ_IN_NUMBER) : 0;
}

static int wq_map_ring(struct hca *hca, const struct cmd *cmd, const uint8_t *wqc,
		       struct eth_wq *wq)
{
	unsigned int page_shift = PAGE_SHIFT_MIN + fld_get(wqc, WQ_LOG_WQ_PG_SZ);
	uint64_t skip = (fld_get(wqc, WQ_PAGE_OFFSET) << (page_shift - 6)) + wq_skip(hca, cmd);
	uint64_t len = (uint64_t)wq->stride << wq->log_size;
	const struct umem_place ring = {
		.valid = fld_get(wqc, WQ_WQ_UMEM_VALID),
		.id = fld_get(wqc, WQ_WQ_UMEM_ID),
		.offset = fld_get(wqc, WQ_WQ_UMEM_OFFSET),
	};
	const uint8_t *pas = wqc + PRM_WQ_SIZE;
	size_t npas = cmd->in_len - (size_t)(pas - cmd->in);

	if (ring.valid)
		return umem_place_ring(hca, &ring, len, &wq->map, &wq->umems.ring);
	return dma_map_pages(&wq->map, pas, npas / 8, page_shift, skip, len);
}

static int wq_find_record(struct hca *hca, const uint8_t *wqc, struct eth_wq *wq)
{
	const struct umem_place record = {
		.valid = fld_get(wqc, WQ_DBR_UMEM_VALID),
		.id = fld_get(wqc, WQ_DBR_UMEM_ID),
		.offset = fld_get(wqc, WQ_DBR_ADDR),
	};

	return umem_place_record(hca, &record, &wq->dbr, &wq->umems.record);
}

int wq_set_up(struct hca *hca, const struct cmd *cmd, const uint8_t *wqc, struct eth_wq *wq)
{
	int ret;

	wq->log_size = fld_get(wqc, WQ_LOG_WQ_SZ);
	wq->stride = 1u << fld_get(wqc, WQ_LOG_WQ_STRIDE);
	wq->has_signatures = fld_get(wqc, WQ_WQ_SIGNATURE);
	wq->pd = res_find(&hca->pds, fld_get(wqc, WQ_PD));
	if (!wq->pd && fld_get(wqc, WQ_PD))
		return ENOENT;
	ret = wq_map_ring(hca, cmd, wqc, wq);
	return ret ? ret : wq_find_record(hca, wqc, wq);
}

enum prm_status wq_status(struct cmd *cmd, int err)
{
	if (err == ENOENT)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR,
				"wq: no such PD, CQ, UAR, TIS, umem or counter");
	return cmd_errno(cmd, err, "wq: page list too short, number in use, or table full");
}

bool wq_may_change(enum prm_wq_state from, uint64_t to)
{
	switch (to) {
	case PRM_WQ_STATE_RST:
	case PRM_WQ_STATE_ERR:
		return true;
	case PRM_WQ_STATE_RDY:
		return from == PRM_WQ_STATE_RST || from == PRM_WQ_STATE_RDY;
	default:
		return false;
	}
}

bool wq_is_known(enum prm_wq_state is, uint64_t said, uint64_t to)
{
	return said == is || (is == PRM_WQ_STATE_ERR && to != PRM_WQ_STATE_RDY);
}
