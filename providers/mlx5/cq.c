/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - creates, arms and destroys completion queues.
 */
#include "providers/mlx5/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/common/cq_ring.h"
#include "providers/mlx5/clock.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/data/doorbell.h"
#include "util/alloc.h"
#include "util/order.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#define COMP_MASK_SUPPORTED (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define WC_FLAGS_SUPPORTED                                                       \
	((uint64_t)IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_CVLAN |  \
	 IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO)
#define CREATE_FLAGS_SUPPORTED \
	(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static uint32_t attr_flags(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
}

static struct ibv_pd *attr_pd(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain : NULL;
}

static int cq_check_attr(struct mlx5_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			 const struct cq_options *options)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(&ctx->common.device, &device);

	if (ret)
		return ret;
	if (!attr->cqe || attr->cqe > (unsigned int)device->max_cqe) {
		verbs_warn("create_cq: cqe is %u, must be 1 to %d", attr->cqe, device->max_cqe);
		return EINVAL;
	}
	if (attr->wc_flags & ~WC_FLAGS_SUPPORTED) {
		verbs_warn("create_cq: wc_flags is %#llx, supported are %#llx",
			   (unsigned long long)attr->wc_flags,
			   (unsigned long long)WC_FLAGS_SUPPORTED);
		return ENOTSUP;
	}
	if (attr->comp_mask & ~(uint32_t)COMP_MASK_SUPPORTED) {
		verbs_warn("create_cq: comp_mask is %#x, supported are %#x", attr->comp_mask,
			   COMP_MASK_SUPPORTED);
		return EINVAL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!attr_pd(attr) || !to_ppd(attr_pd(attr))->base)) {
		verbs_warn("create_cq: parent_domain is %s, must be a parent domain",
			   attr_pd(attr) ? "a PD" : "NULL");
		return EINVAL;
	}
	if (attr_flags(attr) & ~(uint32_t)CREATE_FLAGS_SUPPORTED) {
		verbs_warn("create_cq: flags is %#x, supported are %#x", attr->flags,
			   CREATE_FLAGS_SUPPORTED);
		return EINVAL;
	}
	if (options->cqe_size != 64 && options->cqe_size != 128) {
		verbs_warn("create_cq: %s is %u, must be 64 or 128",
			   options->cqe_size == ctx->env.cqe_size
				   ? "MLX5_CQE_SIZE of the environment"
				   : "cqe_size",
			   options->cqe_size);
		return EINVAL;
	}
	return 0;
}

static int cq_alloc_ring(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_cq *cq,
			 uint32_t cqe)
{
	size_t size;
	int ret;

	cq->count_log = log2_ceil((uint64_t)cqe + 1);
	cq->mask = (1u << cq->count_log) - 1;
	size = (size_t)1 << (cq->count_log + cq->entry_log);
	ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_CQ, size, (size_t)1 << cq->entry_log,
				   &cq->buf);
	if (ret) {
		verbs_warn("create_cq: no memory for a ring of %zu bytes", size);
		return ret;
	}
	cq->ring = (uint8_t *)cq->buf.addr + (1u << cq->entry_log) - sizeof(struct mlx5_cqe64);
	mlx5_cq_ring_init(cq);
	return 0;
}

/* Runs CREATE_CQ. The driver's struct has 16 bits for the number of the doorbell page, so a larger
 * number goes into an attribute; kernels without that attribute refuse the command. */
static int cq_run_create(struct mlx5_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			 const struct cq_options *options, struct mlx5_cq *cq)
{
	const bool fits = cq->uar->page_id <= UINT16_MAX;
	const struct mlx5_ib_create_cq req = {
		.buf_addr = (uintptr_t)cq->buf.addr,
		.db_addr = (uintptr_t)cq->dbrec,
		.cqe_size = 1u << cq->entry_log,
		.cqe_comp_en = options->compressed,
		.cqe_comp_res_format = options->mini_cqe_format,
		.flags = (fits ? cq->uar->cq_flag : 0) | cq->kernel_flags,
		.uar_page_index = fits ? (uint16_t)cq->uar->page_id : 0,
	};
	struct mlx5_ib_create_cq_resp resp;
	const struct verbs_attr page =
		verbs_attr_u32(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, cq->uar->page_id);
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), &page, !fits };
	uint32_t flags = 0;
	int ret;

	if (attr_flags(attr) & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	if (attr->wc_flags &
	    (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->vcq.ring_cqe = (1u << cq->count_log) - 1;
	ret = verbs_cmd_create_cq(&ctx->vctx.context, attr, flags, &cq->vcq, &udata);
	if (ret)
		return ret;
	cq->cqn = resp.cqn;
	verbs_debug("create_cq: cq 0x%x: %u entries of %u bytes, UAR %u", cq->cqn,
		    1u << cq->count_log, 1u << cq->entry_log, cq->uar->page_id);
	return 0;
}

/* Chooses the polling routines once, at creation, so that a poll tests neither the CQ's locks nor
 * the environment. */
static void cq_choose_routines(struct mlx5_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			       struct mlx5_cq *cq)
{
	bool shared = !ctx->env.single_threaded &&
		      !(attr_flags(attr) & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) &&
		      !pd_thread_domain(attr_pd(attr));

	verbs_threads_look();
	qlock_init(&cq->lock, shared);
	cq->null_lkey = htobe32(context_null_lkey(ctx));
	cq->freezes = ctx->env.freeze_on_error;
	cq->rsn_offset = context_has_user_index(ctx) ? offsetof(struct mlx5_cqe64, srqn_uidx)
						     : offsetof(struct mlx5_cqe64, sop_drop_qpn);
	mlx5_datapath()->cq_ex_fill(cq, attr->wc_flags);
	mlx5_stall_wrap(cq, &ctx->env.stall);
}

/* Chooses the timestamp format, one for the whole CQ. The adapter's free-running clock serves all
 * readers, because the kernel's factors convert it to wall-clock time. If no reader wants raw
 * timestamps, the adapter writes real time instead. */
static int cq_choose_clock(struct mlx5_context *ctx, const struct ibv_cq_init_attr_ex *attr,
			   struct mlx5_cq *cq)
{
	if (!(attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		return 0;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP ||
	    !(ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS))
		return mlx5_clock_get_info(ctx, &cq->clock);
	cq->kernel_flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	return 0;
}

int mlx5_cq_create_with(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			const struct cq_options *options, struct verbs_cq **vcq)
{
	struct mlx5_context *ctx = to_mctx(context);
	struct mlx5_cq *cq;
	int ret;

	ret = cq_check_attr(ctx, attr, options);
	if (ret)
		return ret;
	cq = calloc_for("create_cq", 1, sizeof(*cq));
	if (!cq)
		return ENOMEM;
	ret = provider_id_root_get(&ctx->common.ids, &cq->ids);
	if (ret)
		goto free_cq;
	cq->entry_log = log2_floor(options->cqe_size);
	cq->kernel_flags = options->kernel_flags;
	cq->compressed = options->compressed;
	cq->mini_cqe_format = options->mini_cqe_format;
	ret = cq_alloc_ring(ctx, attr_pd(attr), cq, attr->cqe);
	if (ret)
		goto free_cq;
	ret = mlx5_queue_rec_alloc(ctx, attr_pd(attr), &cq->rec);
	if (ret)
		goto free_ring;
	cq->dbrec = cq->rec.words;
	ret = mlx5_uar_get_cq(ctx, &cq->uar);
	if (ret)
		goto free_rec;
	ret = cq_choose_clock(ctx, attr, cq);
	if (ret)
		goto free_rec;
	cq_choose_routines(ctx, attr, cq);
	ret = cq_run_create(ctx, attr, options, cq);
	if (ret)
		goto free_rec;
	*vcq = &cq->vcq;
	return 0;
free_rec:
	mlx5_queue_rec_free(ctx, &cq->rec);
free_ring:
	provider_queue_mem_free(&cq->buf);
free_cq:
	free(cq);
	return ret;
}

int mlx5_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq)
{
	const struct cq_options options = { .cqe_size = to_mctx(context)->env.cqe_size };

	return mlx5_cq_create_with(context, attr, &options, vcq);
}

int mlx5_cq_destroy(struct ibv_cq *ibcq)
{
	struct mlx5_context *ctx = to_mctx(ibcq->context);
	struct mlx5_cq *cq = to_mcq(ibcq);
	int ret = verbs_cmd_destroy_cq(ibcq);

	if (ret)
		return ret;
	provider_cq_ring_free_kept(&cq->old_rings);
	provider_queue_mem_free(&cq->buf);
	mlx5_queue_rec_free(ctx, &cq->rec);
	free(cq->orphans);
	free(cq);
	return 0;
}

int mlx5_cq_arm(struct ibv_cq *ibcq, int solicited_only)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	uint32_t ci = __atomic_load_n(&cq->ci, __ATOMIC_RELAXED);
	uint32_t sn = __atomic_load_n(&cq->arm_sn, __ATOMIC_RELAXED);

	order_publish(cq);
	doorbell_cq_arm(cq->dbrec, cq->uar->page, cq->cqn, ci, sn, solicited_only);
	return 0;
}

void mlx5_cq_event(struct ibv_cq *ibcq)
{
	order_observe(to_mcq(ibcq));
	__atomic_fetch_add(&to_mcq(ibcq)->arm_sn, 1, __ATOMIC_RELAXED);
}
