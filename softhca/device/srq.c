/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues and XRC domains, as objects: number, context, memory.
 *
 * The kernel's driver creates two of them before anything else and names them in QPs that do not
 * receive through them. Receiving through one is not there yet: qp.c refuses a QP that wants it.
 * An XRC SRQ and an RMP differ in how their context is laid out, nothing else; they are numbered
 * together, as software keeps them in one table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/driver_ifc.h"

enum { MAX_PAGE_SHIFT = 12 + 31 };

struct layout;

struct srq {
	uint32_t n;
	const struct layout *layout;
	struct pd *pd;
	struct pd *xrcd; /* NULL: none */
	struct dma_map map;
	uint64_t dbr;
	uint8_t context[PRM_RMPC_SIZE];
};

/* Where a context has what both kinds have */
static const struct layout {
	size_t size;
	uint32_t pd, log_size, log_stride, log_page_size, page_offset, dbr_addr;
	uint32_t least_log_stride; /* of log_stride: WQEs have 16 bytes then */
	uint32_t page_parts;       /* log2 of what a page has page_offset units */
} xrc_layout = {
	PRM_XRC_SRQC_SIZE,
	XRC_SRQC_PD,
	XRC_SRQC_LOG_XRC_SRQ_SIZE,
	XRC_SRQC_LOG_RQ_STRIDE,
	XRC_SRQC_LOG_PAGE_SIZE,
	XRC_SRQC_PAGE_OFFSET,
	XRC_SRQC_DBR_ADDR,
	0,
	6,
}, rmp_layout = {
	PRM_RMPC_SIZE,
	PRM_IN(RMPC_WQ, WQ_PD),
	PRM_IN(RMPC_WQ, WQ_LOG_WQ_SZ),
	PRM_IN(RMPC_WQ, WQ_LOG_WQ_STRIDE),
	PRM_IN(RMPC_WQ, WQ_LOG_WQ_PG_SZ),
	PRM_IN(RMPC_WQ, WQ_PAGE_OFFSET),
	PRM_IN(RMPC_WQ, WQ_DBR_ADDR),
	4,
	6,
};

static enum prm_status alloc_number(struct res_table *table, struct cmd *cmd, struct pd *object)
{
	int ret = object ? res_add(table, object, &object->n) : ENOMEM;

	if (ret) {
		free(object);
		return cmd_errno(cmd, ret, "xrcd: table is full");
	}
	prm_set(cmd->out, ALLOC_XRCD_OUT_XRCD, object->n);
	return PRM_STAT_OK;
}

enum prm_status xrcd_alloc(struct hca *hca, struct cmd *cmd)
{
	return alloc_number(&hca->xrcds, cmd, calloc(1, sizeof(struct pd)));
}

enum prm_status xrcd_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *xrcd = res_get(&hca->xrcds, prm_get(cmd->in, DEALLOC_XRCD_IN_XRCD));

	if (!xrcd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "xrcd: no such XRC domain");
	if (xrcd->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "xrcd: in use by an SRQ");
	res_remove(&hca->xrcds, xrcd->n);
	free(xrcd);
	return PRM_STAT_OK;
}

static int map_ring(struct srq *srq, const struct cmd *cmd, const struct layout *layout)
{
	unsigned int page_shift = 12 + prm_get(srq->context, layout->log_page_size);
	uint64_t stride = prm_get(srq->context, layout->log_stride);
	uint64_t skip;
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_SRQ_IN_PAS, &npas);

	if (stride < layout->least_log_stride || page_shift > MAX_PAGE_SHIFT)
		return EINVAL;
	skip = prm_get(srq->context, layout->page_offset) << (page_shift - layout->page_parts);
	stride = 16ull << (stride - layout->least_log_stride);
	return dma_map_pages(&srq->map, pas, npas, page_shift, skip,
			     stride << prm_get(srq->context, layout->log_size));
}

static enum prm_status create(struct hca *hca, struct cmd *cmd, struct srq *srq)
{
	const struct layout *layout = srq->layout;
	int ret;

	srq->pd = res_get(&hca->pds, prm_get(srq->context, layout->pd));
	srq->dbr = prm_get(srq->context, layout->dbr_addr);
	if (!srq->pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such PD");
	if (srq->dbr & 7)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"srq: doorbell record is not aligned to 8");
	ret = map_ring(srq, cmd, layout);
	if (!ret)
		ret = res_add(&hca->srqs, srq, &srq->n);
	if (ret)
		return cmd_errno(cmd, ret, "srq: page list too short, or table full");
	srq->pd->users++;
	if (srq->xrcd)
		srq->xrcd->users++;
	prm_set(cmd->out, CREATE_SRQ_OUT_SRQN, srq->n);
	return PRM_STAT_OK;
}

static enum prm_status create_of(struct hca *hca, struct cmd *cmd, const void *context,
				 const struct layout *layout, struct pd *xrcd)
{
	struct srq *srq = calloc(1, sizeof(*srq));
	enum prm_status status;

	if (!srq)
		return cmd_errno(cmd, ENOMEM, "srq");
	memcpy(srq->context, context, layout->size);
	srq->layout = layout;
	srq->xrcd = xrcd;
	status = create(hca, cmd, srq);
	if (status)
		srq_free(srq);
	return status;
}

enum prm_status xrc_srq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = prm_at(cmd->in, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);
	struct pd *xrcd = res_get(&hca->xrcds, prm_get(context, XRC_SRQC_XRCD));

	if (!xrcd || !res_get(&hca->cqs, prm_get(context, XRC_SRQC_CQN)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such XRC domain or CQ");
	return create_of(hca, cmd, context, &xrc_layout, xrcd);
}

enum prm_status rmp_create(struct hca *hca, struct cmd *cmd)
{
	return create_of(hca, cmd, prm_at(cmd->in, CREATE_RMP_IN_CTX), &rmp_layout, NULL);
}

static enum prm_status destroy(struct hca *hca, struct cmd *cmd, const struct layout *layout)
{
	struct srq *srq = res_get(&hca->srqs, prm_get(cmd->in, DESTROY_SRQ_IN_SRQN));

	if (!srq || srq->layout != layout)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "srq: no such SRQ");
	res_remove(&hca->srqs, srq->n);
	srq->pd->users--;
	if (srq->xrcd)
		srq->xrcd->users--;
	srq_free(srq);
	return PRM_STAT_OK;
}

enum prm_status xrc_srq_destroy(struct hca *hca, struct cmd *cmd)
{
	return destroy(hca, cmd, &xrc_layout);
}

enum prm_status rmp_destroy(struct hca *hca, struct cmd *cmd)
{
	return destroy(hca, cmd, &rmp_layout);
}

void srq_free(struct srq *srq)
{
	dma_unmap(&srq->map);
	free(srq);
}

void srq_free_all(struct hca *hca)
{
	struct srq *srq;
	struct pd *xrcd;
	uint32_t i;

	for (i = 0; (srq = res_next(&hca->srqs, &i)) != NULL;)
		srq_free(srq);
	for (i = 0; (xrcd = res_next(&hca->xrcds, &i)) != NULL;)
		free(xrcd);
}
