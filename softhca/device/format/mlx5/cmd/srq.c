/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - commands on shared receive queues, and their contexts.
 *
 * XRC SRQs and RMPs (with which Linux' driver makes basic SRQs) have different context layouts; an
 * XRC SRQ also has a domain and a CQ. All share one range of numbers, as software keeps them in one
 * table. queue/srq.c takes WQEs from them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/umem.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/transport/tm.h"

CONTEXT_HOLDS(struct srq, PRM_SRQ_CONTEXT_MAX);

enum { MAX_PAGE_SHIFT = 12 + 31 };

/* Offsets of the fields that all kinds have in their contexts. */
static const struct srq_layout {
	size_t size;
	uint32_t pas; /* of the command that creates it */
	uint32_t pd, log_size, log_stride, log_page_size, page_offset, dbr_addr, limit;
	uint32_t least_log_stride; /* value of log_stride for WQEs of 16 bytes */
	uint32_t page_parts;       /* log2 of a page in units of page_offset */
	/* User memory: of the doorbell record in the context, of the ring in the command. */
	uint32_t record_valid, record_id, ring_valid, ring_id, ring_offset;
} xrc_layout = {
	PRM_XRC_SRQC_SIZE,
	CREATE_SRQ_IN_PAS,
	XRC_SRQC_PD,
	XRC_SRQC_LOG_XRC_SRQ_SIZE,
	XRC_SRQC_LOG_RQ_STRIDE,
	XRC_SRQC_LOG_PAGE_SIZE,
	XRC_SRQC_PAGE_OFFSET,
	XRC_SRQC_DBR_ADDR,
	XRC_SRQC_LWM,
	0,
	6,
	XRC_SRQC_DBR_UMEM_VALID,
	XRC_SRQC_DBR_UMEM_ID,
	CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_VALID,
	CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_ID,
	CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_OFFSET,
}, rmp_layout = {
	PRM_RMPC_SIZE,
	CREATE_SRQ_IN_PAS,
	FLD_IN(RMPC_WQ, WQ_PD),
	FLD_IN(RMPC_WQ, WQ_LOG_WQ_SZ),
	FLD_IN(RMPC_WQ, WQ_LOG_WQ_STRIDE),
	FLD_IN(RMPC_WQ, WQ_LOG_WQ_PG_SZ),
	FLD_IN(RMPC_WQ, WQ_PAGE_OFFSET),
	FLD_IN(RMPC_WQ, WQ_DBR_ADDR),
	FLD_IN(RMPC_WQ, WQ_LWM),
	4,
	6,
	FLD_IN(RMPC_WQ, WQ_DBR_UMEM_VALID),
	FLD_IN(RMPC_WQ, WQ_DBR_UMEM_ID),
	FLD_IN(CREATE_RMP_IN_CTX + RMPC_WQ, WQ_WQ_UMEM_VALID),
	FLD_IN(CREATE_RMP_IN_CTX + RMPC_WQ, WQ_WQ_UMEM_ID),
	FLD_IN(CREATE_RMP_IN_CTX + RMPC_WQ, WQ_WQ_UMEM_OFFSET),
}, xrq_layout = {
	PRM_XRQC_SIZE,
	CREATE_XRQ_IN_PAS,
	FLD_IN(XRQC_WQ, WQ_PD),
	FLD_IN(XRQC_WQ, WQ_LOG_WQ_SZ),
	FLD_IN(XRQC_WQ, WQ_LOG_WQ_STRIDE),
	FLD_IN(XRQC_WQ, WQ_LOG_WQ_PG_SZ),
	FLD_IN(XRQC_WQ, WQ_PAGE_OFFSET),
	FLD_IN(XRQC_WQ, WQ_DBR_ADDR),
	FLD_IN(XRQC_WQ, WQ_LWM),
	4,
	6,
	FLD_IN(XRQC_WQ, WQ_DBR_UMEM_VALID),
	FLD_IN(XRQC_WQ, WQ_DBR_UMEM_ID),
	FLD_IN(CREATE_XRQ_IN_XRQ_CONTEXT + XRQC_WQ, WQ_WQ_UMEM_VALID),
	FLD_IN(CREATE_XRQ_IN_XRQ_CONTEXT + XRQC_WQ, WQ_WQ_UMEM_ID),
	FLD_IN(CREATE_XRQ_IN_XRQ_CONTEXT + XRQC_WQ, WQ_WQ_UMEM_OFFSET),
};

static const char *srq_check_xrc(const uint8_t *context)
{
	if (fld_get(context, XRC_SRQC_BASIC_CYCLIC_RCV_WQE))
		return "srq: only linked lists are supported";
	return NULL;
}

/* Checks a WQ. WQEs of a cyclic queue also have the link segment, unless the queue is basic. */
static const char *srq_check_wq(const uint8_t *wq)
{
	if (fld_get(wq, WQ_WQ_TYPE) > PRM_WQ_TYPE_CYCLIC)
		return "srq: unknown type of WQ";
	return NULL;
}

static bool srq_is_cyclic(const uint8_t *wq)
{
	return fld_get(wq, WQ_WQ_TYPE) == PRM_WQ_TYPE_CYCLIC ||
	       fld_get(wq, WQ_WQ_TYPE) == PRM_WQ_TYPE_CYCLIC_STRIDING;
}

static bool srq_is_striding(const uint8_t *wq)
{
	return fld_get(wq, WQ_WQ_TYPE) == PRM_WQ_TYPE_LINKED_STRIDING ||
	       fld_get(wq, WQ_WQ_TYPE) == PRM_WQ_TYPE_CYCLIC_STRIDING;
}

/* Checks the WQ of an XRQ. Unlike a WQ for frames, its WQE has a buffer for each stride. */
static const char *srq_check_strides(const uint8_t *wq)
{
	uint64_t size = 1ull << fld_get(wq, WQ_LOG_WQ_STRIDE);

	if (!srq_is_striding(wq))
		return srq_check_wq(wq);
	if (size < WQE_SEG + (uint64_t)wq_strides(wq) * WQE_SEG)
		return "srq: WQEs without room for a buffer for each stride";
	return NULL;
}

static const char *srq_check_rmp(const uint8_t *context)
{
	if (fld_get(context, RMPC_BASIC_CYCLIC_RCV_WQE))
		return "srq: WQEs without a segment for links are not supported";
	if (fld_get(context, RMPC_STATE) != PRM_RMPC_STATE_RDY)
		return "srq: an RMP starts in state RDY";
	return srq_check_wq(fld_at(context, RMPC_WQ));
}

static const char *srq_check_sizes(const struct hca *hca, const struct srq_layout *layout,
				   const uint8_t *context)
{
	uint64_t stride = fld_get(context, layout->log_stride);

	if (stride < layout->least_log_stride + 1 ||
	    16ull << (stride - layout->least_log_stride) > RECV_WQE_MAX)
		return "srq: WQEs of less than 32 bytes, or more than max_wqe_sz_rq allows";
	if (fld_get(context, layout->log_size) > LOG_MAX_SRQ_WQES)
		return "srq: more WQEs than log_max_srq_sz allows";
	if (12 + fld_get(context, layout->log_page_size) > MAX_PAGE_SHIFT)
		return "srq: pages are too large";
	if (!fld_get(context, layout->record_valid) &&
	    fld_get(context, layout->dbr_addr) % hca->format->dbrec_align)
		return "srq: doorbell record is not aligned";
	return NULL;
}

static int srq_map_ring(struct hca *hca, struct srq *srq, const struct cmd *cmd,
			const struct srq_layout *layout)
{
	const struct umem_place ring = {
		.valid = fld_get(cmd->in, layout->ring_valid),
		.id = fld_get(cmd->in, layout->ring_id),
		.offset = fld_get(cmd->in, layout->ring_offset),
	};
	unsigned int page_shift = 12 + fld_get(srq->context, layout->log_page_size);
	uint64_t skip = fld_get(srq->context, layout->page_offset)
			<< (page_shift - layout->page_parts);
	size_t npas;
	const void *pas = cmd_pas(cmd, layout->pas, &npas);

	srq->stride = 16u << (fld_get(srq->context, layout->log_stride) - layout->least_log_stride);
	srq->log_size = fld_get(srq->context, layout->log_size);
	if (ring.valid)
		return umem_place_ring(hca, &ring, (uint64_t)srq->stride << srq->log_size,
				       &srq->map, &srq->umems.ring);
	return dma_map_pages(&srq->map, pas, npas, page_shift, skip,
			     (uint64_t)srq->stride << srq->log_size);
}

static int srq_find_record(struct hca *hca, struct srq *srq)
{
	const struct umem_place record = {
		.valid = fld_get(srq->context, srq->layout->record_valid),
		.id = fld_get(srq->context, srq->layout->record_id),
		.offset = fld_get(srq->context, srq->layout->dbr_addr),
	};

	return umem_place_record(hca, &record, &srq->dbr, &srq->umems.record);
}

static enum prm_status srq_add(struct hca *hca, struct cmd *cmd, struct srq *srq)
{
	int ret = srq_map_ring(hca, srq, cmd, srq->layout);

	if (!ret)
		ret = srq_find_record(hca, srq);
	if (!ret)
		ret = res_add(&hca->srqs, srq, &srq->n);
	if (ret)
		return cmd_errno(cmd, ret, "srq: page list too short, no such umem, or table full");
	srq->pd->users++;
	queue_umems_use(&srq->umems, 1);
	if (srq->xrcd)
		srq->xrcd->users++;
	if (srq->cq)
		srq->cq->users++;
	pins_take(hca, &srq->map);
	if (hca->config.strict)
		rules_recv_ring(hca, "SRQ", srq->n, &srq->map, srq->stride);
	fld_set(cmd->out, CREATE_SRQ_OUT_SRQN, srq->n);
	srq_arm(hca, srq, fld_get(srq->context, srq->layout->limit));
	return PRM_STAT_OK;
}

/* Creates an SRQ of any kind; PARTS has the fields that only its kind has. */
static enum prm_status srq_create(struct hca *hca, struct cmd *cmd, const void *context,
				  const struct srq *parts)
{
	const char *why = srq_check_sizes(hca, parts->layout, context);
	enum prm_status status;
	struct srq *srq;

	srq = why ? NULL : malloc(sizeof(*srq));
	if (!srq) {
		free(parts->tm);
		return why ? cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why)
			   : cmd_errno(cmd, ENOMEM, "srq");
	}
	*srq = *parts;
	memcpy(srq->context, context, parts->layout->size);
	srq->pd = res_find(&hca->pds, fld_get(context, parts->layout->pd));
	status = srq->pd ? srq_add(hca, cmd, srq)
			 : cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such PD");
	if (status)
		srq_free(srq);
	return status;
}

enum prm_status xrc_srq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);
	const char *why = srq_check_xrc(context);
	struct srq parts = {
		.layout = &xrc_layout,
		.xrcd = res_find(&hca->xrcds, fld_get(context, XRC_SRQC_XRCD)),
		.cq = res_find(&hca->cqs, fld_get(context, XRC_SRQC_CQN)),
		.user_index = fld_get(context, XRC_SRQC_USER_INDEX),
	};

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (!parts.xrcd || !parts.cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such XRC domain or CQ");
	return srq_create(hca, cmd, context, &parts);
}

enum prm_status rmp_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_RMP_IN_CTX);
	const char *why = srq_check_rmp(context);
	struct srq parts = {
		.layout = &rmp_layout,
		.cyclic = srq_is_cyclic(fld_at(context, RMPC_WQ)),
	};

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	return srq_create(hca, cmd, context, &parts);
}

/* Checks an XRQ. It must have tag matching, as an RMP does the same without. */
static const char *srq_check_xrq(const uint8_t *context)
{
	if (fld_get(context, XRQC_TOPOLOGY) != PRM_XRQC_TOPOLOGY_TAG_MATCHING)
		return "srq: an XRQ needs tag matching for its topology";
	if (fld_get(context, XRQC_OFFLOAD) > PRM_XRQC_OFFLOAD_RNDV)
		return "srq: offload of an XRQ is unknown";
	if (fld_get(context, XRQC_LOG_MATCHING_LIST_SZ) > TM_LOG_MAX_TAGS ||
	    fld_get(context, XRQC_APPEND_NEXT_INDEX) >> fld_get(context, XRQC_LOG_MATCHING_LIST_SZ))
		return "srq: more tags than log_tag_matching_list_sz allows";
	return srq_check_strides(fld_at(context, XRQC_WQ));
}

enum prm_status xrq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_XRQ_IN_XRQ_CONTEXT);
	const char *why = srq_check_xrq(context);
	struct srq parts = {
		.layout = &xrq_layout,
		.cyclic = srq_is_cyclic(fld_at(context, XRQC_WQ)),
		.cq = res_find(&hca->cqs, fld_get(context, XRQC_CQN)),
		.user_index = fld_get(context, XRQC_USER_INDEX),
	};

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (srq_is_striding(fld_at(context, XRQC_WQ)))
		parts.strides = wq_strides(fld_at(context, XRQC_WQ));
	if (!parts.cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such CQ");
	parts.tm = tm_create(fld_get(context, XRQC_LOG_MATCHING_LIST_SZ),
			     fld_get(context, XRQC_APPEND_NEXT_INDEX));
	if (!parts.tm)
		return cmd_errno(cmd, ENOMEM, "srq");
	return srq_create(hca, cmd, context, &parts);
}

static struct srq *srq_find(struct hca *hca, struct cmd *cmd, const struct srq_layout *layout)
{
	struct srq *srq = res_find(&hca->srqs, fld_get(cmd->in, DESTROY_SRQ_IN_SRQN));

	if (srq && srq->layout == layout)
		return srq;
	cmd->why = "srq: no such SRQ";
	return NULL;
}

enum prm_status xrc_srq_arm(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &xrc_layout);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get(cmd->in, CMD_IN_OP_MOD) != PRM_ARM_XRC_SRQ)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "srq: unknown op_mod");
	srq_arm(hca, srq, fld_get(cmd->in, ARM_XRC_SRQ_IN_LWM));
	return PRM_STAT_OK;
}

enum prm_status rmp_modify(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &rmp_layout);
	const uint8_t *context = fld_at(cmd->in, MODIFY_RMP_IN_CTX);
	uint64_t state = fld_get(cmd->in, MODIFY_RMP_IN_RMP_STATE);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	if (state != PRM_RMPC_STATE_RDY && state != PRM_RMPC_STATE_ERR)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "srq: unknown state");
	if (state == PRM_RMPC_STATE_ERR)
		srq->failed = true;
	if (fld_get(cmd->in, MODIFY_RMP_IN_BITMASK_LWM))
		srq_arm(hca, srq, fld_get(context, FLD_IN(RMPC_WQ, WQ_LWM)));
	return PRM_STAT_OK;
}

enum prm_status xrq_arm(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &xrq_layout);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get(cmd->in, CMD_IN_OP_MOD) != PRM_ARM_RQ_XRQ)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "srq: ARM_RQ is for XRQs only");
	srq_arm(hca, srq, fld_get(cmd->in, ARM_RQ_IN_LWM));
	return PRM_STAT_OK;
}

static void srq_put_context(const struct srq *srq, uint8_t *context)
{
	memcpy(context, srq->context, srq->layout->size);
	fld_set(context, srq->layout->limit, srq->limit);
}

enum prm_status xrc_srq_query(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &xrc_layout);
	uint8_t *context = fld_at(cmd->out, QUERY_XRC_SRQ_OUT_XRC_SRQ_CONTEXT_ENTRY);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	srq_put_context(srq, context);
	fld_set(context, XRC_SRQC_STATE,
		srq->failed ? PRM_XRC_SRQC_STATE_ERROR : PRM_XRC_SRQC_STATE_GOOD);
	fld_set(context, XRC_SRQC_WQE_CNT, (uint16_t)(srq->pi - srq->taken));
	return PRM_STAT_OK;
}

enum prm_status rmp_query(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &rmp_layout);
	uint8_t *context = fld_at(cmd->out, QUERY_RMP_OUT_RMP_CONTEXT);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	srq_put_context(srq, context);
	fld_set(context, RMPC_STATE, srq->failed ? PRM_RMPC_STATE_ERR : PRM_RMPC_STATE_RDY);
	return PRM_STAT_OK;
}

enum prm_status xrq_query(struct hca *hca, struct cmd *cmd)
{
	struct srq *srq = srq_find(hca, cmd, &xrq_layout);
	uint8_t *context = fld_at(cmd->out, QUERY_XRQ_OUT_XRQ_CONTEXT);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	srq_put_context(srq, context);
	fld_set(context, XRQC_STATE, srq->failed ? PRM_XRQC_STATE_ERROR : PRM_XRQC_STATE_GOOD);
	fld_set(context, XRQC_APPEND_NEXT_INDEX, srq->tm->next);
	fld_set(context, XRQC_SW_PHASE_CNT, srq->tm->sw_phase);
	fld_set(context, XRQC_HW_PHASE_CNT, srq->tm->hw_phase);
	return PRM_STAT_OK;
}

static enum prm_status srq_destroy(struct hca *hca, struct cmd *cmd,
				   const struct srq_layout *layout)
{
	struct srq *srq = srq_find(hca, cmd, layout);

	if (!srq)
		return PRM_STAT_BAD_RES_ERR;
	if (srq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "srq: in use by a QP");
	res_remove(&hca->srqs, srq->n);
	srq_take_back(hca, srq);
	srq->pd->users--;
	if (srq->xrcd)
		srq->xrcd->users--;
	if (srq->cq)
		srq->cq->users--;
	queue_umems_use(&srq->umems, -1);
	srq_free(srq);
	return PRM_STAT_OK;
}

enum prm_status xrc_srq_destroy(struct hca *hca, struct cmd *cmd)
{
	return srq_destroy(hca, cmd, &xrc_layout);
}

enum prm_status rmp_destroy(struct hca *hca, struct cmd *cmd)
{
	return srq_destroy(hca, cmd, &rmp_layout);
}

enum prm_status xrq_destroy(struct hca *hca, struct cmd *cmd)
{
	return srq_destroy(hca, cmd, &xrq_layout);
}
