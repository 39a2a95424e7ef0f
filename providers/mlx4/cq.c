/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - completion queues: creation, arming, destruction.
 */
#include "providers/mlx4/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/uar.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"
#include "providers/common/cq_ring.h"
#include "providers/common/pd.h"
#include "util/alloc.h"

#include <rdma/ib_user_ioctl_verbs.h>

#define COMP_MASK_SUPPORTED (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define WC_FLAGS_SUPPORTED  ((uint64_t)IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
#define WC_FLAGS_OF_LID     ((uint64_t)IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL)

static uint32_t attr_flags(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
}

static struct ibv_pd *attr_pd(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain : NULL;
}

static int cq_check_readers(uint64_t wc_flags)
{
	if (wc_flags & ~WC_FLAGS_SUPPORTED) {
		verbs_warn("create_cq: wc_flags is %#llx, supported are %#llx",
			   (unsigned long long)wc_flags, (unsigned long long)WC_FLAGS_SUPPORTED);
		return ENOTSUP;
	}
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP && wc_flags & WC_FLAGS_OF_LID) {
		verbs_warn("create_cq: wc_flags is %#llx: a CQE has its timestamp where others "
			   "have the SLID and the SL",
			   (unsigned long long)wc_flags);
		return ENOTSUP;
	}
	return 0;
}

static int cq_check_attr(struct mlx4_context *ctx, const struct ibv_cq_init_attr_ex *attr)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(&ctx->common.device, &device);

	if (ret)
		return ret;
	if (attr->cqe > (unsigned int)device->max_cqe) {
		verbs_warn("create_cq: cqe is %u, limit %d", attr->cqe, device->max_cqe);
		return EINVAL;
	}
	ret = cq_check_readers(attr->wc_flags);
	if (ret)
		return ret;
	if (attr->comp_mask & ~(uint32_t)COMP_MASK_SUPPORTED) {
		verbs_warn("create_cq: comp_mask is %#x, supported are %#x", attr->comp_mask,
			   COMP_MASK_SUPPORTED);
		return EINVAL;
	}
	if (attr_flags(attr) & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) {
		verbs_warn("create_cq: flags is %#x, supported are %#x", attr->flags,
			   IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
		return EOPNOTSUPP;
	}
	return 0;
}

/* Allocates a ring at the start of a page, because the adapter's contexts have no offset. The rest
 * of an entry may keep old bytes: the ownership bit alone decides. */
int mlx4_cq_alloc_ring(struct mlx4_context *ctx, struct ibv_pd *pd, size_t size,
		       struct queue_mem *mem)
{
	const struct queue_mem_request request = {
		.size = size,
		.place = { .align = ctx->common.queue_bufs.page, .keeps_bytes = true },
		.alloc = ENV_ALLOC_ANON,
	};
	int ret = mlx4_queue_mem_alloc(ctx, pd, &request, mem);

	if (ret)
		verbs_warn("create_cq: no memory for a ring of %zu bytes", size);
	return ret;
}

static uint8_t *ring_of(const struct mlx4_cq *cq, const struct queue_mem *mem)
{
	return (uint8_t *)mem->addr + cq_cqe_at(cq);
}

static int cq_run_create(struct mlx4_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			 struct mlx4_cq *cq)
{
	const struct mlx4_ib_create_cq req = {
		.buf_addr = (uintptr_t)cq->buf.addr,
		.db_addr = (uintptr_t)cq->dbrec,
	};
	struct mlx4_ib_create_cq_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	uint32_t flags = cq->has_time ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0;
	int ret;

	cq->vcq.ring_cqe = (1u << cq->count_log) - 1;
	ret = verbs_cmd_create_cq(&ctx->vctx.context, attr, flags, &cq->vcq, &udata);
	if (!ret)
		cq->cqn = resp.cqn;
	return ret;
}

/* Chooses the polling routines once, at creation, so that a poll does not test the CQ's locks. */
static void cq_choose_routines(struct mlx4_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			       struct mlx4_cq *cq)
{
	verbs_threads_look();
	qlock_init(&cq->lock, !(attr_flags(attr) & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) &&
				      !pd_thread_domain(attr_pd(attr)));
	cq->arm_sn = 1;
	cq->doorbell = ctx->uar + M4_UAR_CQ;
	cq->has_time = attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	cq->from_mask = cq->has_time ? (uint64_t)UINT32_MAX << 32 : UINT64_MAX;
	mlx4_datapath()->cq_ex_fill(cq, attr->wc_flags);
}

static int cq_build(struct mlx4_context *ctx, const struct ibv_cq_init_attr_ex *attr,
		    struct mlx4_cq *cq)
{
	int ret = provider_id_root_get(&ctx->common.ids, &cq->ids);

	if (ret)
		return ret;
	cq_choose_routines(ctx, attr, cq);
	cq->entry_log = log2_floor(ctx->caps.cqe_size);
	cq->entry_size = (size_t)1 << cq->entry_log;
	cq->count_log = log2_ceil((uint64_t)attr->cqe + 1);
	cq->mask = (1u << cq->count_log) - 1;
	ret = mlx4_cq_alloc_ring(ctx, attr_pd(attr), (size_t)1 << (cq->count_log + cq->entry_log),
				 &cq->buf);
	if (ret)
		return ret;
	cq->ring = ring_of(cq, &cq->buf);
	mlx4_cq_ring_init(cq);
	ret = provider_queue_rec_alloc(&ctx->common.dbrecs, attr_pd(attr), 0, &cq->rec);
	if (ret)
		goto free_ring;
	cq->dbrec = cq->rec.words;
	ret = cq_run_create(ctx, attr, cq);
	if (ret)
		goto free_rec;
	return 0;
free_rec:
	provider_queue_rec_free(&ctx->common.dbrecs, 0, &cq->rec);
free_ring:
	provider_queue_mem_free(&cq->buf);
	return ret;
}

int mlx4_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq)
{
	struct mlx4_context *ctx = to_mctx(context);
	int ret = cq_check_attr(ctx, attr);
	struct mlx4_cq *cq;

	if (ret)
		return ret;
	cq = calloc_for("create_cq", 1, sizeof(*cq));
	if (!cq)
		return ENOMEM;
	ret = cq_build(ctx, attr, cq);
	if (ret) {
		free(cq);
		return ret;
	}
	*vcq = &cq->vcq;
	return 0;
}

int mlx4_cq_destroy(struct ibv_cq *ibcq)
{
	struct mlx4_context *ctx = to_mctx(ibcq->context);
	struct mlx4_cq *cq = to_mcq(ibcq);
	int ret = verbs_cmd_destroy_cq(ibcq);

	if (ret)
		return ret;
	provider_queue_mem_free(&cq->buf);
	provider_cq_ring_free_kept(&cq->old_rings);
	provider_queue_rec_free(&ctx->common.dbrecs, 0, &cq->rec);
	free(cq);
	return 0;
}

int mlx4_cq_arm(struct ibv_cq *ibcq, int solicited_only)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	uint32_t ci = __atomic_load_n(&cq->ci, __ATOMIC_RELAXED);
	uint32_t sn = __atomic_load_n(&cq->arm_sn, __ATOMIC_RELAXED);

	order_publish(cq);
	doorbell_cq_arm(cq->dbrec, cq->doorbell, cq->cqn, ci, sn, solicited_only);
	return 0;
}

void mlx4_cq_event(struct ibv_cq *ibcq)
{
	order_observe(to_mcq(ibcq));
	__atomic_fetch_add(&to_mcq(ibcq)->arm_sn, 1, __ATOMIC_RELAXED);
}
