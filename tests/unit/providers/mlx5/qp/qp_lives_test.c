/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_lives_test.c - queues that are reset, replaced, destroyed, or fail in creation: they leave
 * nothing behind, and other queues lose nothing. Functions of the test replace the kernel.
 *
 * Covers: providers/mlx5/qp/, providers/mlx5/cq.c, providers/mlx5/cq_resize.c,
 * providers/mlx5/srq.c, providers/mlx5/wq.c, providers/mlx5/qp/rules.c,
 * providers/common/cq_resize.c
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "prm/mlx5/cqe.h"
#include "providers/common/cq_ring.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/umr.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/wq.h"
#include "tests/unit/log_text.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

/* ---- the kernel ---- */

static int refusal; /* of each creation */
static unsigned int pages;
static struct mlx5_cq *resized; /* the CQ whose old ring ends when it is resized */
static bool ring_has_no_end;    /* omits the resize CQE */
static uint64_t new_ring;
static __be32 *wq_record; /* doorbell record of the newest WQ */
static uint32_t cq_flags;

static int kernel_answer(struct ibv_context *context, struct ibv_context **of,
			 const struct verbs_udata *udata)
{
	*of = context;
	if (udata->resp)
		memset(udata->resp, 0, udata->resp_len);
	return refusal;
}

int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	vqp->qp.qp_num = 0x100;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.send_cq = attr->send_cq;
	vqp->qp.recv_cq = attr->recv_cq;
	return kernel_answer(context, &vqp->qp.context, udata);
}

int verbs_cmd_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			const struct verbs_udata *udata)
{
	(void)attr_mask;
	(void)udata;
	qp->state = attr->qp_state;
	return 0;
}

int verbs_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

int verbs_cmd_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			uint32_t flags, struct verbs_cq *vcq, const struct verbs_udata *udata)
{
	(void)attr;
	cq_flags = flags;
	return kernel_answer(context, &vcq->cq.context, udata);
}

int verbs_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

int verbs_cmd_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			 struct verbs_srq *vsrq, const struct verbs_udata *udata)
{
	vsrq->type = attr->srq_type;
	vsrq->cq = attr->cq;
	return kernel_answer(context, &vsrq->srq.context, udata);
}

int verbs_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}

int verbs_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			struct ibv_wq *wq, const struct verbs_udata *udata)
{
	const struct mlx5_ib_create_wq *req = udata->req;

	wq->cq = attr->cq;
	wq_record = (__be32 *)(uintptr_t)req->db_addr;
	return kernel_answer(context, &wq->context, udata);
}

int verbs_cmd_modify_wq(struct ibv_wq *wq, const struct ibv_wq_attr *attr,
			const struct verbs_udata *udata)
{
	(void)udata;
	wq->state = attr->wq_state;
	return 0;
}

int verbs_cmd_destroy_wq(struct ibv_wq *wq)
{
	(void)wq;
	return 0;
}

/* Doorbell pages as uverbs objects */
int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs)
{
	const uint64_t offset = pages * 4096;
	const uint32_t length = 4096, page_id = 7 + pages;

	(void)context;
	(void)nattrs;
	assert_int_equal(object, MLX5_IB_OBJECT_UAR);
	if (method != MLX5_IB_METHOD_UAR_OBJ_ALLOC)
		return 0;
	memcpy((void *)(uintptr_t)attrs[2].value, &offset, sizeof(offset));
	memcpy((void *)(uintptr_t)attrs[3].value, &length, sizeof(length));
	memcpy((void *)(uintptr_t)attrs[4].value, &page_id, sizeof(page_id));
	pages++;
	return 0;
}

int verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			struct verbs_short *cmd, unsigned int nattrs)
{
	return verbs_cmd_run(context, object, method, cmd->attrs, nattrs);
}

static struct verbs_device device = { .device = { .name = "mlx5_0" } };

struct life {
	struct mlx5_context *ctx;
	struct provider_pd pd;
	struct mlx5_cq *send, *recv;
};

static struct mlx5_cq *create_cq(struct mlx5_context *ctx)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 7 };
	struct verbs_cq *vcq = NULL;

	return mlx5_cq_create(&ctx->vctx.context, &attr, &vcq) ? NULL : to_mcq(&vcq->cq);
}

static int life_begin(void **state)
{
	struct life *life = calloc(1, sizeof(*life));
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(life);
	assert_non_null(ctx);
	refusal = 0;
	pages = 0;
	ctx->vctx.context.device = &device.device;
	ctx->vctx.context.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
	assert_int_equal(ftruncate(ctx->vctx.context.cmd_fd, 1 << 24), 0);
	ctx->caps.bf_reg_size = 512;
	ctx->caps.cqe_version = 1;
	ctx->caps.max_send_wqebb = ctx->caps.max_recv_wr = ctx->caps.max_srq_recv_wr = 1024;
	ctx->caps.max_sq_desc_sz = ctx->caps.max_rq_desc_sz = 512;
	ctx->env = (struct mlx5_env){ .cqe_size = 64, .total_bfregs = 16, .low_latency_bfregs = 4 };
	provider_context_init(&ctx->common, &ctx->vctx.context, &mlx5_device_kind,
			      &ctx->device_resp);
	ctx->common.device.known = true;
	ctx->common.device.attr.max_cqe = 1024;
	pthread_mutex_init(&ctx->uar_lock, NULL);
	life->ctx = ctx;
	life->pd.pd.context = &ctx->vctx.context;
	life->send = create_cq(ctx);
	life->recv = create_cq(ctx);
	assert_true(life->send && life->recv);
	*state = life;
	return 0;
}

static int life_end(void **state)
{
	struct life *life = *state;
	struct mlx5_context *ctx = life->ctx;

	assert_int_equal(mlx5_cq_destroy(&life->send->vcq.cq), 0);
	assert_int_equal(mlx5_cq_destroy(&life->recv->vcq.cq), 0);
	mlx5_uar_free_all(ctx);
	provider_context_destroy(&ctx->common);
	close(ctx->vctx.context.cmd_fd);
	pthread_mutex_destroy(&ctx->uar_lock);
	free(ctx);
	free(life);
	return 0;
}

static int qp_create(struct life *life, uint32_t recv_sge, struct mlx5_qp **qp)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &life->pd.pd,
		.send_cq = &life->send->vcq.cq,
		.recv_cq = &life->recv->vcq.cq,
		.cap = { 4, 4, 1, recv_sge, 16 },
	};
	struct verbs_qp *vqp = NULL;
	int ret = mlx5_qp_create(&life->ctx->vctx.context, &attr, &vqp);

	*qp = ret ? NULL : container_of(vqp, struct mlx5_qp, vqp);
	return ret;
}

static void cqe_write(struct mlx5_cq *cq, uint32_t index, uint32_t number, unsigned int opcode)
{
	struct mlx5_cqe64 *cqe = cqe_at(cq, index);

	memset(cqe, 0, sizeof(*cqe));
	cqe->srqn_uidx = htobe32(number);
	cqe->op_own = (uint8_t)(opcode << 4 | (index >> cq->count_log & 1));
}

/* ---- reset and destruction ---- */

static void a_qp_that_was_reset_is_as_new(void **state)
{
	struct life *life = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct mlx5_qp *qp;

	assert_int_equal(qp_create(life, 1, &qp), 0);
	qp->dbrec[0] = qp->dbrec[1] = 5;
	qp->sq.pi = 3;
	qp->rq.error_reported = true;
	cqe_write(life->send, 0, qp->rq.rsn, MLX5_CQE_REQ);
	cqe_write(life->recv, 0, qp->rq.rsn, MLX5_CQE_RESP_SEND);
	assert_int_equal(mlx5_qp_modify(&qp->vqp.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(qp->dbrec[0] | qp->dbrec[1], 0);
	assert_int_equal(qp->sq.pi, 0);
	assert_false(qp->rq.error_reported);
	assert_int_equal(life->send->ci, 1);
	assert_int_equal(life->recv->ci, 1);
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
}

/* Sends may be posted from RTS on, and until RESET: in SQD they wait, and in ERR they are flushed,
 * so neither refuses them (IBTA vol 1, 10.3.1). */
static void the_gate_of_sends_opens_at_rts(void **state)
{
	static const struct {
		enum ibv_qp_state state;
		bool is_open;
	} rows[] = { { IBV_QPS_INIT, false }, { IBV_QPS_RTR, false }, { IBV_QPS_RTS, true },
		     { IBV_QPS_SQD, true },   { IBV_QPS_RTS, true },  { IBV_QPS_ERR, true },
		     { IBV_QPS_RESET, false } };
	struct mlx5_qp *qp;

	assert_int_equal(qp_create(*state, 1, &qp), 0);
	assert_int_equal(qp->sq.opcodes, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_qp_attr attr = { .qp_state = rows[i].state };

		assert_int_equal(mlx5_qp_modify(&qp->vqp.qp, &attr, IBV_QP_STATE), 0);
		assert_int_equal(qp->sq.opcodes != 0, rows[i].is_open);
	}
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
}

static void state_set(struct mlx5_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	assert_int_equal(mlx5_qp_modify(&qp->vqp.qp, &attr, IBV_QP_STATE), 0);
}

/* A UMR is in the queue, so the next request must wait for it, whatever the states between. */
static void a_fence_stays_until_reset(void **state)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQD,
						    IBV_QPS_RTS };
	struct mlx5_qp *qp;

	assert_int_equal(qp_create(*state, 1, &qp), 0);
	state_set(qp, IBV_QPS_RTS);
	gate_shut(qp);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		state_set(qp, states[i]);
		assert_true(qp->sq.fence_next);
		assert_int_equal(qp->sq.opcodes, 0);
	}
	state_set(qp, IBV_QPS_RESET);
	assert_false(qp->sq.fence_next);
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
}

static struct mlx5_cq *compressed_cq_create(struct life *life)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 7 };
	const struct cq_options options = { .cqe_size = 64, .compressed = true };
	struct verbs_cq *vcq;

	assert_int_equal(mlx5_cq_create_with(&life->ctx->vctx.context, &attr, &options, &vcq), 0);
	return to_mcq(&vcq->cq);
}

/* A reset removes compressed CQEs as well, as their requests are gone, unless the program reads the
 * CQ by itself. */
static void a_reset_forgets_what_was_compressed(void **state)
{
	enum { COUNT = 3, COMPRESSED = 3 << 2 };
	struct life *life = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct mlx5_cq *recv = life->recv;

	for (unsigned int shown = 0; shown < 2; shown++) {
		struct mlx5_cqe64 *title;
		struct mlx5_qp *qp;

		life->recv = compressed_cq_create(life);
		assert_int_equal(qp_create(life, 1, &qp), 0);
		if (shown)
			mlx5_cq_show(life->recv);
		cqe_write(life->recv, 0, qp->rq.rsn, MLX5_CQE_RESP_SEND);
		title = cqe_at(life->recv, 0);
		title->byte_cnt = htobe32(COUNT);
		title->op_own |= COMPRESSED;
		assert_int_equal(mlx5_qp_modify(&qp->vqp.qp, &attr, IBV_QP_STATE), 0);
		assert_int_equal(life->recv->ci, shown ? 0 : COUNT);
		assert_int_equal(be32toh(title->srqn_uidx), qp->rq.rsn);
		assert_int_equal(mlx5_cq_resize(&life->recv->vcq.cq, 100), EINVAL);
		assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
		assert_int_equal(mlx5_cq_destroy(&life->recv->vcq.cq), 0);
	}
	life->recv = recv;
}

static void a_qp_that_is_gone_completes_nothing(void **state)
{
	struct life *life = *state;
	struct mlx5_qp *qp;
	uint32_t number;

	assert_int_equal(qp_create(life, 1, &qp), 0);
	number = qp->rq.rsn;
	cqe_write(life->send, 0, number, MLX5_CQE_REQ);
	cqe_write(life->send, 1, number + 1, MLX5_CQE_REQ);
	cqe_write(life->recv, 0, number, MLX5_CQE_RESP_SEND);
	assert_ptr_equal(id_find(life->ctx->common.ids.root, number), &qp->rq);
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
	assert_int_equal(life->send->ci, 1);
	assert_int_equal(be32toh(cqe_at(life->send, 1)->srqn_uidx), number + 1);
	assert_int_equal(life->recv->ci, 1);
	assert_null(id_find(life->ctx->common.ids.root, number));
}

static void an_xrc_srq_that_is_gone_completes_nothing(void **state)
{
	struct life *life = *state;
	struct verbs_xrcd vxrcd = { .xrcd.context = &life->ctx->vctx.context, .handle = 1 };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 3, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = &life->pd.pd,
		.xrcd = &vxrcd.xrcd,
		.cq = &life->recv->vcq.cq,
	};
	struct verbs_srq *vsrq;
	uint32_t number;

	assert_int_equal(mlx5_srq_create(&life->ctx->vctx.context, &attr, &vsrq), 0);
	number = to_msrq(&vsrq->srq)->rq.rsn;
	cqe_write(life->recv, 0, number, MLX5_CQE_RESP_SEND);
	assert_int_equal(mlx5_srq_destroy(&vsrq->srq), 0);
	assert_int_equal(life->recv->ci, 1);
	assert_null(id_find(life->ctx->common.ids.root, number));
	refusal = EPERM;
	assert_int_equal(mlx5_srq_create(&life->ctx->vctx.context, &attr, &vsrq), EPERM);
	assert_null(id_find(life->ctx->common.ids.root, number));
}

static void a_wq_that_was_reset_is_as_new_and_leaves_no_number(void **state)
{
	struct life *life = *state;
	struct ibv_wq_init_attr attr = {
		.max_wr = 4, .max_sge = 1, .pd = &life->pd.pd, .cq = &life->recv->vcq.cq
	};

	struct ibv_wq_attr change = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RESET };
	struct ibv_wq *wq = mlx5_wq_create(&life->ctx->vctx.context, &attr);

	assert_non_null(wq);
	wq_record[0] = 5;
	cqe_write(life->recv, 0, 0, MLX5_CQE_RESP_SEND);
	assert_int_equal(mlx5_wq_modify(wq, &change), 0);
	assert_int_equal(wq_record[0], 0);
	assert_int_equal(life->recv->ci, 1);
	assert_int_equal(mlx5_wq_destroy(wq), 0);
	assert_null(id_find(life->ctx->common.ids.root, 0));
	refusal = EPERM;
	errno = 0;
	assert_null(mlx5_wq_create(&life->ctx->vctx.context, &attr));
	assert_int_equal(errno, EPERM);
	assert_null(id_find(life->ctx->common.ids.root, 0));
}

/* ---- creation ---- */

static void a_refused_queue_gives_its_record_back(void **state)
{
	struct life *life = *state;
	struct dbrec_page *page;
	__be32 *before, *after;
	struct mlx5_qp *qp;

	assert_int_equal(provider_dbrec_alloc(&life->ctx->common.dbrecs, &before, &page), 0);
	provider_dbrec_free(&life->ctx->common.dbrecs, page, before);
	refusal = EPERM;
	for (int i = 0; i < 3; i++) {
		assert_null(create_cq(life->ctx));
		assert_int_equal(qp_create(life, 1, &qp), EPERM);
		assert_null(id_find(life->ctx->common.ids.root, 0));
	}
	assert_int_equal(provider_dbrec_alloc(&life->ctx->common.dbrecs, &after, &page), 0);
	assert_ptr_equal(before, after);
	provider_dbrec_free(&life->ctx->common.dbrecs, page, after);
}

static void a_cq_of_times_asks_for_them(void **state)
{
	static const uint64_t times[] = { IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
					  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };
	struct life *life = *state;
	struct verbs_cq *vcq;

	assert_int_equal(cq_flags, 0);
	life->ctx->caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS;
	for (int i = 0; i < 2; i++) {
		const struct ibv_cq_init_attr_ex attr = { .cqe = 7, .wc_flags = times[i] };

		assert_int_equal(mlx5_cq_create(&life->ctx->vctx.context, &attr, &vcq), 0);
		assert_int_equal(cq_flags, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION);
		assert_int_equal(mlx5_cq_destroy(&vcq->cq), 0);
	}
}

/* A QP whose CQs have timestamps of two formats is refused with the reason, others without. */
static void the_log_names_cqs_of_two_formats(void **state)
{
	struct life *life = *state;
	struct mlx5_qp *qp;

	log_text();
	for (int i = 0; i < 8; i++) {
		refusal = i & 1 ? EOPNOTSUPP : EPERM;
		life->send->kernel_flags = i & 2 ? MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS : 0;
		life->recv->kernel_flags = i & 4 ? MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS : 0;
		assert_int_equal(qp_create(life, 1, &qp), refusal);
		if (i == 3)
			check_logged("send_cq has IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK");
		else if (i == 5)
			check_logged("recv_cq has IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK");
		else
			assert_null(strstr(log_text(), "TIMESTAMP"));
	}
	life->send->kernel_flags = life->recv->kernel_flags = 0;
}

static void a_receive_wqe_has_its_longest(void **state)
{
	struct mlx5_qp *qp;

	assert_int_equal(qp_create(*state, 33, &qp), EINVAL);
	assert_int_equal(qp_create(*state, 32, &qp), 0);
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
}

/* QPs without ibv_wr_*() refuse send_ops_flags with EOPNOTSUPP. */
static void qps_without_batches_refuse_send_ops(void **state)
{
	struct life *life = *state;
	const struct ibv_qp_init_attr_ex target = { .qp_type = IBV_QPT_XRC_RECV,
						    .comp_mask = IBV_QP_INIT_ATTR_XRCD |
								 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS };
	const struct ibv_qp_init_attr_ex underlay = {
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.create_flags = IBV_QP_CREATE_SOURCE_QPN,
		.pd = &life->pd.pd,
		.send_cq = &life->send->vcq.cq,
		.recv_cq = &life->recv->vcq.cq,
		.cap = { 4, 4, 1, 1, 16 },
	};
	struct ibv_qp_init_attr_ex attrs[] = { target, underlay };
	struct verbs_qp *vqp;

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++)
		assert_int_equal(mlx5_qp_create(&life->ctx->vctx.context, &attrs[i], &vqp),
				 EOPNOTSUPP);
}

static void objects_of_another_context_are_refused(void **state)
{
	struct life *life = *state;
	struct ibv_context other = { .device = &device.device };
	struct mlx5_qp *qp;

	life->pd.pd.context = &other;
	assert_int_equal(qp_create(life, 1, &qp), ENOENT);
	life->pd.pd.context = &life->ctx->vctx.context;
	life->recv->vcq.cq.context = &other;
	assert_int_equal(qp_create(life, 1, &qp), ENOENT);
	life->recv->vcq.cq.context = &life->ctx->vctx.context;
}

/* Resets and destroys a QP of ATTR after CQs that the kernel does not count as used are gone: any
 * access to one would crash the test. */
static void outlives(struct life *life, struct ibv_qp_init_attr_ex *attr, bool sends)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct mlx5_cq *gone = mmap(NULL, sizeof(*gone), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct verbs_qp *vqp;

	assert_true(gone != MAP_FAILED);
	memcpy(gone, life->recv, sizeof(*gone));
	attr->recv_cq = &gone->vcq.cq;
	attr->send_cq = sends ? &life->send->vcq.cq : &gone->vcq.cq;
	assert_int_equal(mlx5_qp_create(&life->ctx->vctx.context, attr, &vqp), 0);
	assert_int_equal(mprotect(gone, sizeof(*gone), PROT_NONE), 0);
	assert_int_equal(mlx5_qp_modify(&vqp->qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx5_qp_destroy(&vqp->qp), 0);
	munmap(gone, sizeof(*gone));
}

static void qps_of_xrc_outlive_the_cqs_that_they_do_not_use(void **state)
{
	struct life *life = *state;
	struct verbs_xrcd vxrcd = { .xrcd.context = &life->ctx->vctx.context };
	struct ibv_qp_init_attr_ex sender = { .qp_type = IBV_QPT_XRC_SEND,
					      .comp_mask = IBV_QP_INIT_ATTR_PD,
					      .pd = &life->pd.pd,
					      .cap = { 4, 0, 1, 0, 0 } };
	struct ibv_qp_init_attr_ex target = { .qp_type = IBV_QPT_XRC_RECV,
					      .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					      .xrcd = &vxrcd.xrcd };

	outlives(life, &sender, true);
	outlives(life, &target, false);
}

static void an_srq_takes_no_cq_of_another_context(void **state)
{
	struct life *life = *state;
	struct ibv_context other = { .device = &device.device };
	struct verbs_xrcd vxrcd = { .xrcd.context = &life->ctx->vctx.context };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 3, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = &life->pd.pd,
		.xrcd = &vxrcd.xrcd,
		.cq = &life->recv->vcq.cq,
	};
	struct ibv_context **owners[] = { &life->pd.pd.context, &attr.cq->context,
					  &vxrcd.xrcd.context };
	struct verbs_srq *vsrq;

	for (int i = 0; i < 3; i++) {
		*owners[i] = &other;
		assert_int_equal(mlx5_srq_create(&life->ctx->vctx.context, &attr, &vsrq), ENOENT);
		*owners[i] = &life->ctx->vctx.context;
	}
}

static void a_uc_qp_does_not_read(void **state)
{
	const struct qp_rules *rules = mlx5_qp_rules_of(IBV_QPT_UC);
	uint16_t opcodes;

	(void)state;
	assert_int_equal(mlx5_qp_send_opcodes(rules, IBV_QP_EX_WITH_RDMA_READ, true, 256, &opcodes),
			 EOPNOTSUPP);
	assert_int_equal(mlx5_qp_send_opcodes(rules, SEND_OPS_ANY, true, 256, &opcodes), 0);
	assert_int_equal(opcodes & IBV_QP_EX_WITH_RDMA_READ, 0);
}

/* ---- events, resizing ---- */

static void each_event_makes_the_next_request_another(void **state)
{
	struct mlx5_cq *cq = ((struct life *)*state)->send;

	assert_int_equal(mlx5_cq_arm(&cq->vcq.cq, 0), 0);
	assert_int_equal(be32toh(cq->dbrec[1]) >> 28, 0);
	mlx5_cq_event(&cq->vcq.cq);
	assert_int_equal(mlx5_cq_arm(&cq->vcq.cq, 0), 0);
	assert_int_equal(be32toh(cq->dbrec[1]) >> 28, 1);
}

int verbs_cmd_resize_cq(struct ibv_cq *cq, uint32_t cqe, const struct verbs_udata *udata)
{
	const struct mlx5_ib_resize_cq *req = udata->req;

	if (refusal)
		return refusal;
	cq->cqe = (int)cqe;
	new_ring = req->buf_addr;
	if (!ring_has_no_end)
		cqe_write(resized, resized->ci + 2, 0, MLX5_CQE_RESIZE_CQ);
	return 0;
}

/* Makes the ring as it is after INDEX consumed CQEs. */
static void cq_go_to(struct mlx5_cq *cq, uint32_t index)
{
	cq->ci = index;
	for (uint32_t i = index; i <= index + cq->mask; i++)
		cqe_write(cq, i - cq->mask - 1, 0, MLX5_CQE_INVALID);
}

static void resize_with_two_unread(struct mlx5_cq *cq, uint32_t ci, int cqes)
{
	cq_go_to(cq, ci);
	cqe_write(cq, ci, 0x11, MLX5_CQE_REQ);
	cqe_write(cq, ci + 1, 0x12, MLX5_CQE_REQ);
	assert_int_equal(mlx5_cq_resize(&cq->vcq.cq, cqes), 0);
	assert_true(cq->mask >= (uint32_t)cqes);
	assert_int_equal(cq->ci, ci + 1); /* the resize CQE counts as one */
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(cqe_is_sw_owned(cq, cqe_at(cq, cq->ci + i), cq->ci + i));
		assert_int_equal(be32toh(cqe_at(cq, cq->ci + i)->srqn_uidx), 0x11 + i);
	}
	for (uint32_t i = 2; i <= cq->mask; i++)
		assert_false(cqe_is_sw_owned(cq, cqe_at(cq, cq->ci + i), cq->ci + i));
}

/* At each index, a poll after a resize returns the unread completions, and nothing else, as entries
 * move to other slots and their owner bits depend on the index. */
static void unread_completions_move_to_the_new_ring(void **state)
{
	static const int sizes[] = { 8, 100, 3, 16 };

	resized = ((struct life *)*state)->send;
	for (uint32_t ci = 0; ci < 300; ci += 7)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			resize_with_two_unread(resized, ci + (uint32_t)i, sizes[i]);
}

/* Compressed CQEs cannot be moved one by one. */
/* After a refused resize, a program may go on reading the old ring, so its CQEs must stay as they
 * were. */
static void a_refused_resize_leaves_the_cqes(void **state)
{
	enum { COUNT = 3 };
	struct life *life = *state;
	struct mlx5_qp *qp;
	uint32_t number;

	assert_int_equal(qp_create(life, 1, &qp), 0);
	number = qp->rq.rsn;
	mlx5_cq_show(life->recv);
	for (uint32_t i = 0; i < COUNT; i++)
		cqe_write(life->recv, i, number, MLX5_CQE_RESP_SEND);
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
	resized = life->recv;
	assert_int_equal(mlx5_cq_resize(&life->recv->vcq.cq, 1), EINVAL);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(be32toh(cqe_at(life->recv, i)->srqn_uidx), number);
}

static void a_ring_of_compressed_cqes_stays(void **state)
{
	struct mlx5_cq *cq = ((struct life *)*state)->send;
	const void *before = cq->buf.addr;

	resized = cq;
	cq->compressed = true;
	assert_int_equal(mlx5_cq_resize(&cq->vcq.cq, 100), EINVAL);
	assert_ptr_equal(cq->buf.addr, before);
	cq->compressed = false;
	resize_with_two_unread(cq, 0, 100);
}

/* Without a resize CQE, the adapter may still write to the old ring, so both rings must stay
 * allocated. */
static void a_ring_without_end_keeps_both(void **state)
{
	struct mlx5_cq *cq = ((struct life *)*state)->send;
	uint64_t lost;
	void *before;

	resized = cq;
	resize_with_two_unread(cq, 0, 15);
	before = cq->buf.addr;
	cq_go_to(cq, 0);
	ring_has_no_end = true;
	assert_int_equal(mlx5_cq_resize(&cq->vcq.cq, 100), EIO);
	ring_has_no_end = false;
	lost = new_ring;
	assert_int_equal(cq->vcq.cq.cqe, 15);
	assert_int_equal(cq->mask, 15);
	assert_ptr_equal(cq->buf.addr, before);
	resize_with_two_unread(cq, 0, 100);
	assert_int_not_equal(new_ring, lost);
}

static size_t old_rings_size(const struct mlx5_cq *cq, size_t size, unsigned int *count)
{
	size_t all = 0;

	*count = 0;
	for (const struct cq_old_ring *old = cq->old_rings; old; old = old->next) {
		all += old->buf.size;
		*count += old->buf.size == size;
	}
	return all;
}

/* A resize reuses the unused one of two rings, so that resizing back and forth maps nothing. */
static void resizes_keep_two_rings_of_the_largest_size(void **state)
{
	static const int sizes[] = { 15, 200, 31, 800, 100, 400 };
	struct mlx5_cq *cq = ((struct life *)*state)->send;
	unsigned int of_this_size;

	resized = cq;
	for (uint32_t i = 0; i < 60; i++) {
		resize_with_two_unread(cq, i, sizes[i % ARRAY_SIZE(sizes)]);
		assert_true(old_rings_size(cq, cq->buf.size, &of_this_size) <= 2 * cq->buf.size);
		assert_true(of_this_size <= 1);
	}
	refusal = EBUSY;
	assert_int_equal(mlx5_cq_resize(&cq->vcq.cq, 50), EBUSY);
	refusal = 0;
	old_rings_size(cq, cq->buf.size, &of_this_size);
	assert_int_equal(of_this_size, 1); /* the unused ring still exists */
}

#define LIFE_TEST(test) cmocka_unit_test_setup_teardown(test, life_begin, life_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFE_TEST(a_qp_that_was_reset_is_as_new),
		LIFE_TEST(the_gate_of_sends_opens_at_rts),
		LIFE_TEST(a_fence_stays_until_reset),
		LIFE_TEST(a_reset_forgets_what_was_compressed),
		LIFE_TEST(a_qp_that_is_gone_completes_nothing),
		LIFE_TEST(an_xrc_srq_that_is_gone_completes_nothing),
		LIFE_TEST(a_wq_that_was_reset_is_as_new_and_leaves_no_number),
		LIFE_TEST(a_refused_queue_gives_its_record_back),
		LIFE_TEST(a_cq_of_times_asks_for_them),
		LIFE_TEST(the_log_names_cqs_of_two_formats),
		LIFE_TEST(a_receive_wqe_has_its_longest),
		LIFE_TEST(qps_without_batches_refuse_send_ops),
		LIFE_TEST(objects_of_another_context_are_refused),
		LIFE_TEST(qps_of_xrc_outlive_the_cqs_that_they_do_not_use),
		LIFE_TEST(an_srq_takes_no_cq_of_another_context),
		LIFE_TEST(a_uc_qp_does_not_read),
		LIFE_TEST(each_event_makes_the_next_request_another),
		LIFE_TEST(unread_completions_move_to_the_new_ring),
		LIFE_TEST(a_refused_resize_leaves_the_cqes),
		LIFE_TEST(a_ring_of_compressed_cqes_stays),
		LIFE_TEST(a_ring_without_end_keeps_both),
		LIFE_TEST(resizes_keep_two_rings_of_the_largest_size),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
