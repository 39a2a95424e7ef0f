/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaks.c - leaks: creates and destroys objects, and fails to create them, many times; at the end
 * the process has the same number of descriptors. valgrind and LeakSanitizer look for leaks of
 * memory.
 *
 * Covers: libibverbs/context.c, libibverbs/verbs_pd.c, providers/mlx5/context.c,
 * softhca/front/process/uverbs/file.c
 */
#include <stdlib.h>

#include "diff.h"

#define ROUNDS 100

static void open_close(struct rig *rig)
{
	struct ibv_context *ctx;

	MUST(ctx = ibv_open_device(rig->ctx->device));
	MUST(!ibv_close_device(ctx));
}

static void device_list(struct rig *rig)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)rig;
	MUST(list);
	ibv_free_device_list(list);
}

static void whole_pair(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.buf_size = 4096;
	rig_pair_open(rig, &conf, &pair);
	rig_pair_close(&pair);
}

static void extended(struct rig *rig)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct rig_conf conf = rig_conf_default();
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig->ctx, &attr);
	struct ibv_qp *qp;

	MUST(pd && cq);
	conf.send_ops = IBV_QP_EX_WITH_SEND;
	MUST(qp = rig_qp_create(pd, &conf, ibv_cq_ex_to_cq(cq)));
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	MUST(!ibv_dealloc_pd(pd));
}

static void channels(struct rig *rig)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig->ctx);
	struct ibv_cq *cq;

	MUST(channel);
	MUST(cq = ibv_create_cq(rig->ctx, 1, NULL, channel, 0));
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_destroy_comp_channel(channel));
}

static void failing_cqs(struct rig *rig)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = 1ULL << 60 };

	MUST(!ibv_create_cq(rig->ctx, 0, NULL, NULL, 0));
	MUST(!ibv_create_cq(rig->ctx, 16, NULL, NULL, 100000));
	MUST(!ibv_create_cq_ex(rig->ctx, &attr));
}

static void failing_qps(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);

	MUST(pd && cq);
	conf.cap.max_send_wr = 0x7fffffff;
	MUST(!rig_qp_create(pd, &conf, cq));
	conf = rig_conf_default();
	conf.cap.max_recv_sge = 10000;
	MUST(!rig_qp_create(pd, &conf, cq));
	conf = rig_conf_default();
	conf.send_ops = 1ULL << 60;
	MUST(!rig_qp_create(pd, &conf, cq));
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

static void failing_mrs(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	char *buf = malloc(4096);

	MUST(pd && buf);
	MUST(!ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_REMOTE_WRITE));
	MUST(!ibv_reg_mr(pd, buf, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE));
	free(buf);
	MUST(!ibv_dealloc_pd(pd));
}

static void failing_modify(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct rig_pair pair;

	conf.buf_size = 4096;
	rig_pair_open(rig, &conf, &pair);
	for (int mask = 0; mask < 8; mask++)
		ibv_modify_qp(pair.end[0].qp, &attr, mask);
	rig_pair_close(&pair);
}

static void body_repeat(struct rig *rig, const char *name, void (*body)(struct rig *rig))
{
	int before;

	body(rig); /* once before, as the first use may load and keep memory */
	before = rig_count_fds();
	for (int i = 0; i < ROUNDS; i++)
		body(rig);
	say_check(rig_count_fds() == before, "%s, %d times, leaves no descriptor", name, ROUNDS);
}

void diff_leaks(struct rig *rig)
{
	body_repeat(rig, "open and close", open_close);
	body_repeat(rig, "device list", device_list);
	body_repeat(rig, "connected pair", whole_pair);
	body_repeat(rig, "extended objects", extended);
	body_repeat(rig, "channels", channels);
	body_repeat(rig, "failing CQs", failing_cqs);
	body_repeat(rig, "failing QPs", failing_qps);
	body_repeat(rig, "failing MRs", failing_mrs);
	body_repeat(rig, "failing modify_qp", failing_modify);
}
