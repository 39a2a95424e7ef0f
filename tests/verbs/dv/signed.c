/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signed.c - the bytes of a WQ whose requests have signatures, as MLX5_RWQ_SIGNATURE requests. Our
 * library reads the variable when it opens a device, the distribution's when it creates a WQ.
 *
 * Covers: providers/mlx5/data/signature.c, providers/mlx5/wq.c
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>

#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

enum { REQUESTS = 3, MAX_SGES = 4 };

static void wq_post(struct ibv_wq *wq, uint32_t sges)
{
	struct ibv_sge list[MAX_SGES];
	struct ibv_recv_wr wr = { .sg_list = list, .num_sge = (int)sges }, *bad;

	for (uint32_t i = 0; i < sges; i++)
		list[i] = (struct ibv_sge){ 0x1000 * (i + 1), 0x40 + i, i + 1 };
	for (int i = 0; i < REQUESTS; i++)
		SAY_RET(ibv_post_wq_recv(wq, &wr, &bad), "post of %u SGEs", sges);
}

static void say_wqe(const uint8_t *wqe, uint32_t bytes)
{
	char text[3 * 256 + 1] = "";

	for (uint32_t i = 0; i < bytes && i < 256; i++)
		snprintf(text + (size_t)3 * i, 4, "%02x ", wqe[i]);
	say("%s", text);
}

/* Both libraries clear the ring at creation, so unwritten bytes are 0. */
static void signed_wq(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq, uint32_t max,
		      uint32_t sges)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = max, .pd = pd, .cq = cq
	};
	struct ibv_wq *wq = SAY_PTR(ibv_create_wq(ctx, &attr), "WQ of %u SGEs", max);
	struct mlx5dv_rwq rwq;
	struct mlx5dv_obj obj = { .rwq = { wq, &rwq } };

	if (!wq)
		return;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ));
	say("max_sge %u, %u WQEs of %u bytes", attr.max_sge, rwq.wqe_cnt, rwq.stride);
	wq_post(wq, sges);
	for (uint32_t i = 0; i < REQUESTS; i++)
		say_wqe((const uint8_t *)rwq.buf + (size_t)i * rwq.stride, rwq.stride);
	say_ret(ibv_destroy_wq(wq), "destroy");
}

void dv_signed(struct rig *rig)
{
	struct ibv_context *ctx;
	struct ibv_cq *cq;
	struct ibv_pd *pd;

	MUST(!setenv("MLX5_RWQ_SIGNATURE", "1", 1));
	MUST(ctx = ibv_open_device(rig->ctx->device));
	MUST(pd = ibv_alloc_pd(ctx));
	MUST(cq = ibv_create_cq(ctx, 63, NULL, NULL, 0));
	for (uint32_t max = 1; max <= MAX_SGES; max++)
		for (uint32_t sges = 1; sges <= max; sges++)
			signed_wq(ctx, pd, cq, max, sges);
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
	MUST(!ibv_close_device(ctx));
	MUST(!unsetenv("MLX5_RWQ_SIGNATURE"));
}
