/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_kernel_test.c - what queues tell the kernel of the registers that they ring, and what they
 * make of its answers: of kernels before Linux 5.8 and after, with pages of 4 and 64 KiB.
 *
 * Functions of the test stand for the kernel. A sparse file stands for its mappings.
 *
 * Covers: providers/mlx5/qp/, providers/mlx5/cq.c, providers/mlx5/context.c,
 * providers/mlx5/uar/page.c
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
#include <infiniband/mlx5dv.h>

#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"
#include "util/bits.h"

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

enum { REG_SIZE = 512, LARGE_PAGE = 0x10000, UARS_OF_LARGE_PAGE = LARGE_PAGE / 4096 };

/* Last arguments to the kernel, and its next answers */
static struct {
	struct mlx5_ib_create_qp qp;
	struct mlx5_ib_create_cq cq;
	uint32_t cq_uar; /* from the attribute; 0 without it */
	unsigned int destroyed, pages, refused;
	uint32_t bfreg_index;
	uint32_t first_page_id;
	uint64_t first_offset;
	int no_blueflame; /* errno */
	long page_size;
} kernel;

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE ? kernel.page_size : __real_sysconf(name);
}

int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	struct mlx5_ib_create_qp_resp *resp = udata->resp;

	(void)attr;
	memcpy(&kernel.qp, udata->req, sizeof(kernel.qp));
	memset(resp, 0, udata->resp_len);
	resp->bfreg_index = kernel.bfreg_index;
	vqp->qp.context = context;
	vqp->qp.qp_num = 0x100;
	return 0;
}

int verbs_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	kernel.destroyed++;
	return 0;
}

int verbs_cmd_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			uint32_t flags, struct verbs_cq *vcq, const struct verbs_udata *udata)
{
	(void)attr;
	(void)flags;
	memcpy(&kernel.cq, udata->req, sizeof(kernel.cq));
	kernel.cq_uar = 0;
	for (unsigned int i = 0; i < udata->nattrs; i++)
		if (verbs_attr_kind(&udata->attrs[i]) != VERBS_ATTR_SKIP &&
		    udata->attrs[i].id == MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX)
			kernel.cq_uar = (uint32_t)udata->attrs[i].value;
	memset(udata->resp, 0, udata->resp_len);
	vcq->cq.context = context;
	return 0;
}

int verbs_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

static void attr_answer(const struct verbs_attr *attr, uint64_t value)
{
	const uint32_t low = (uint32_t)value;

	if (attr->len == sizeof(low))
		memcpy((void *)(uintptr_t)attr->value, &low, sizeof(low));
	else
		memcpy((void *)(uintptr_t)attr->value, &value, sizeof(value));
}

/* Linux must know a page number, as it gave it out by a mapping. */
static int page_number(const struct verbs_attr *attrs)
{
	uint32_t number;

	memcpy(&number, (const void *)(uintptr_t)attrs[0].value, sizeof(number));
	if (kernel.pages)
		return EINVAL;
	attr_answer(&attrs[1], kernel.first_page_id + number / PRM_UAR_SQS);
	return 0;
}

/* Doorbell pages as uverbs objects */
int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs)
{
	(void)context;
	(void)nattrs;
	if (object == MLX5_IB_OBJECT_DEVX && method == MLX5_IB_METHOD_DEVX_QUERY_UAR)
		return page_number(attrs);
	assert_int_equal(object, MLX5_IB_OBJECT_UAR);
	if (method != MLX5_IB_METHOD_UAR_OBJ_ALLOC)
		return 0;
	if (kernel.no_blueflame && attrs[1].value == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF) {
		kernel.refused++;
		return kernel.no_blueflame;
	}
	attr_answer(&attrs[2], kernel.first_offset + kernel.pages * 4096);
	attr_answer(&attrs[3], 4096);
	attr_answer(&attrs[4], kernel.first_page_id + kernel.pages++);
	return 0;
}

int verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			struct verbs_short *cmd, unsigned int nattrs)
{
	return verbs_cmd_run(context, object, method, cmd->attrs, nattrs);
}

static struct verbs_device device = { .device = { .name = "mlx5_0" },
				      .driver = &verbs_provider_mlx5 };

static struct mlx5_context *new_context(void)
{
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(ctx);
	memset(&kernel, 0, sizeof(kernel));
	kernel.first_page_id = 7;
	kernel.page_size = 4096;
	ctx->vctx.context.device = &device.device;
	ctx->vctx.context.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
	assert_int_equal(ftruncate64(ctx->vctx.context.cmd_fd, 1ll << 37), 0);
	ctx->caps.bf_reg_size = REG_SIZE;
	ctx->caps.cqe_version = 1;
	ctx->caps.max_send_wqebb = ctx->caps.max_recv_wr = 1024;
	ctx->caps.max_sq_desc_sz = ctx->caps.max_rq_desc_sz = 512;
	ctx->env = (struct mlx5_env){ .blueflame = true,
				      .prefer_bf = true,
				      .cqe_size = 64,
				      .total_bfregs = 16,
				      .low_latency_bfregs = 12 };
	provider_context_init(&ctx->common, &ctx->vctx.context, &mlx5_device_kind,
			      &ctx->device_resp);
	ctx->common.device.known = true;
	ctx->common.device.attr.max_cqe = 1024;
	pthread_mutex_init(&ctx->uar_lock, NULL);
	return ctx;
}

/* Since Linux 5.8, doorbell pages are objects. */
static int new_kernel(void **state)
{
	*state = new_context();
	return 0;
}

/* Before Linux 5.8, one page exists, and others are mapped by number. */
static int old_kernel(void **state)
{
	struct mlx5_context *ctx = new_context();

	ctx->caps.tot_bfregs = 2;
	ctx->caps.num_uars_per_page = 1;
	ctx->caps.num_dyn_bfregs = 1024;
	*state = ctx;
	return 0;
}

/* Host pages of 64 KiB with UARs of 4 KiB */
static int old_kernel_with_large_pages(void **state)
{
	struct mlx5_context *ctx;

	old_kernel((void **)&ctx);
	kernel.page_size = LARGE_PAGE;
	ctx->caps.tot_bfregs = UARS_OF_LARGE_PAGE * PRM_UAR_SQS;
	ctx->caps.num_uars_per_page = UARS_OF_LARGE_PAGE;
	*state = ctx;
	return 0;
}

static int free_context(void **state)
{
	struct mlx5_context *ctx = *state;

	mlx5_uar_free_all(ctx);
	provider_context_destroy(&ctx->common);
	close(ctx->vctx.context.cmd_fd);
	pthread_mutex_destroy(&ctx->uar_lock);
	free(ctx);
	return 0;
}

static struct ibv_cq *cq_of(struct mlx5_context *ctx)
{
	static struct mlx5_cq cq;

	cq.vcq.cq.context = &ctx->vctx.context;
	return &cq.vcq.cq;
}

static int create_qp_in(struct mlx5_context *ctx, struct provider_td *td, struct mlx5_qp **qp)
{
	struct provider_pd pd = { .pd = { .context = &ctx->vctx.context }, .td = td };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq_of(ctx),
		.recv_cq = cq_of(ctx),
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &pd.pd,
		.cap = { 4, 4, 1, 1, 16 },
	};
	struct verbs_qp *vqp = NULL;
	int ret = mlx5_qp_create(&ctx->vctx.context, &attr, &vqp);

	*qp = ret ? NULL : container_of(vqp, struct mlx5_qp, vqp);
	return ret;
}

static struct mlx5_qp *create_qp(struct mlx5_context *ctx)
{
	struct mlx5_qp *qp;

	assert_int_equal(create_qp_in(ctx, NULL, &qp), 0);
	return qp;
}

static void destroy_qp(struct mlx5_qp *qp)
{
	assert_int_equal(mlx5_qp_destroy(&qp->vqp.qp), 0);
}

/* ---- registers of QPs ---- */

enum { QPS = 20 };

static uint8_t *rung(const struct mlx5_qp *qp)
{
	return qp->sq.db.use == BFREG_OWN ? qp->sq.db.reg : qp->sq.db.bfreg->reg;
}

static void create_qps(struct mlx5_context *ctx, struct mlx5_qp **qps)
{
	for (int i = 0; i < QPS; i++)
		qps[i] = create_qp(ctx);
}

static void destroy_qps(struct mlx5_qp **qps)
{
	for (int i = 0; i < QPS; i++)
		destroy_qp(qps[i]);
}

static void the_first_have_registers_of_their_own_and_all_push(void **state)
{
	struct mlx5_qp *qps[QPS];

	create_qps(*state, qps);
	for (int i = 0; i < QPS; i++) {
		const struct mlx5_doorbell *db = &qps[i]->sq.db;

		assert_int_equal(db->use, i < 12 ? BFREG_OWN : BFREG_SHARED);
		assert_int_equal(db->push[PUSH_INLINE], REG_SIZE / 2 / WQE_BB);
		assert_int_equal(db->push[PUSH_PLAIN], db->push[PUSH_INLINE]);
		assert_int_equal(db->toggle, REG_SIZE / 2);
		assert_int_equal(qps[i]->sq.bfreg->users, i < 12 ? 1 : 4);
		for (int j = 0; j < i && i < 12; j++)
			assert_ptr_not_equal(qps[i]->sq.bfreg, qps[j]->sq.bfreg);
	}
	assert_int_equal(kernel.pages, 8); /* two registers per page: MLX5_TOTAL_UUARS */
	assert_int_equal(kernel.qp.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX,
			 MLX5_QP_FLAG_UAR_PAGE_INDEX);
	destroy_qps(qps);
}

static void shared_pages_are_rung_at_the_first_register_and_pushed_at_the_second(void **state)
{
	struct mlx5_qp *qps[QPS];

	create_qps(*state, qps);
	for (int i = 12; i < QPS; i++) {
		const struct mlx5_doorbell *db = &qps[i]->sq.db;

		assert_ptr_equal(db->bfreg, qps[i]->sq.bfreg);
		assert_ptr_equal(db->bfreg->reg, db->bfreg->uar->page + PRM_UAR_SQ);
		assert_ptr_equal(db->bfreg->half, db->bfreg->reg + REG_SIZE);
	}
	destroy_qps(qps);
}

static void the_budget_is_that_of_the_environment(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *qps[QPS];

	ctx->env.total_bfregs = 2;
	ctx->env.low_latency_bfregs = 1;
	create_qps(ctx, qps);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(qps[i]->sq.db.use, i < 1 ? BFREG_OWN : BFREG_SHARED);
	assert_int_equal(qps[QPS - 1]->sq.bfreg->users, QPS - 1);
	destroy_qps(qps);
}

static void a_single_thread_shares_without_a_lock(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *qps[QPS];

	ctx->env.single_threaded = true;
	create_qps(ctx, qps);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(qps[i]->sq.db.use, i < 12 ? BFREG_OWN : BFREG_DOMAIN);
	destroy_qps(qps);
}

static void without_blueflame_all_ring_the_page_of_the_cqs(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *qps[QPS];

	ctx->env.blueflame = false;
	create_qps(ctx, qps);
	for (int i = 0; i < QPS; i++) {
		assert_ptr_equal(qps[i]->sq.db.reg, ctx->cq_uar->page + PRM_UAR_SQ);
		assert_int_equal(qps[i]->sq.db.use, BFREG_OWN);
		assert_int_equal(qps[i]->sq.db.push[PUSH_INLINE], 0);
		assert_int_equal(qps[i]->sq.db.toggle, 0);
	}
	assert_int_equal(kernel.pages, 1);
	destroy_qps(qps);
}

static void a_kernel_that_has_none_is_not_asked_again(void **state)
{
	static const int errors[] = { EOPNOTSUPP, EPERM, ENODEV };
	struct mlx5_qp *qps[QPS];

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		kernel.no_blueflame = errors[i];
		create_qps(*state, qps);
		assert_int_equal(kernel.refused, 1);
		assert_int_equal(kernel.pages, 1);
		kernel.no_blueflame = 0;
		destroy_qp(create_qp(*state));
		assert_int_equal(kernel.pages, 1);
		destroy_qps(qps);
		free_context(state);
		new_kernel(state);
	}
}

/* After a temporary lack of pages, the next QP asks the kernel again, as pages may be free then. */
static void a_kernel_that_is_short_is_asked_again(void **state)
{
	static const int errors[] = { ENOMEM, EAGAIN, EINTR, ENOSPC };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct mlx5_qp *first, *second;

		kernel.no_blueflame = errors[i];
		first = create_qp(*state);
		assert_false(first->sq.bfreg->pushes);
		kernel.no_blueflame = 0;
		second = create_qp(*state);
		assert_true(second->sq.bfreg->pushes);
		destroy_qp(first);
		destroy_qp(second);
		free_context(state);
		new_kernel(state);
	}
}

/* Halves of a register alternate across owners, as the adapter does not know that the QP has
 * changed. */
static void the_next_owner_goes_on_with_the_other_half(void **state)
{
	struct mlx5_qp *qp = create_qp(*state);
	struct mlx5_bfreg *bfreg = qp->sq.bfreg;
	uint8_t *first = qp->sq.db.reg;

	qp->sq.db.reg = first + REG_SIZE / 2; /* as after a push */
	destroy_qp(qp);
	/* a page has two registers, so one of two QPs gets this one */
	for (int i = 0; i < 2; i++) {
		struct mlx5_qp *one = create_qp(*state), *other = create_qp(*state);

		if (other->sq.bfreg == bfreg)
			assert_ptr_equal(other->sq.db.reg, first + REG_SIZE / 2);
		else
			assert_ptr_equal(one->sq.db.reg, first + REG_SIZE / 2);
		destroy_qp(other);
		destroy_qp(one);
	}
}

static void a_thread_domain_counts_against_no_budget(void **state)
{
	struct mlx5_context *ctx = *state;
	struct ibv_td_init_attr none = { 0 };
	struct mlx5_qp *qps[QPS], *in_domain[2];
	struct mlx5_td *td;

	assert_non_null(td = to_mtd(to_ptd(mlx5_td_alloc(&ctx->vctx.context, &none))));
	create_qps(ctx, qps);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(create_qp_in(ctx, &td->ptd, &in_domain[i]), 0);
		assert_ptr_equal(in_domain[i]->sq.bfreg, td->bfreg);
		assert_int_equal(in_domain[i]->sq.db.use, BFREG_DOMAIN);
		assert_int_equal(in_domain[i]->sq.db.push[PUSH_INLINE], REG_SIZE / 2 / WQE_BB);
		assert_false(in_domain[i]->sq_lock.shared);
	}
	for (int i = 0; i < QPS; i++) {
		assert_ptr_not_equal(qps[i]->sq.bfreg, td->bfreg);
		assert_int_equal(qps[i]->sq.db.use, i < 12 ? BFREG_OWN : BFREG_SHARED);
	}
	destroy_qp(in_domain[0]);
	destroy_qp(in_domain[1]);
	assert_int_equal(mlx5_td_dealloc(&td->ptd.td), 0);
	destroy_qps(qps);
}

/* ---- registers that the kernel chooses ---- */

/* Linux numbers four registers per UAR; programs have the first two, so number 4 is the first of
 * the second UAR. */
static void the_kernel_says_which_register_of_the_page_a_qp_has(void **state)
{
	static const struct {
		uint32_t number;
		size_t at;
	} cases[] = {
		{ 0, 0x800 },
		{ 1, 0x800 + REG_SIZE },
		{ 4, 0x1800 },
		{ 29, 0x7800 + REG_SIZE },
		{ 61, 0xf800 + REG_SIZE },
	};
	struct mlx5_context *ctx = *state;

	ctx->env.blueflame = false;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mlx5_qp *qp;

		kernel.bfreg_index = cases[i].number;
		qp = create_qp(ctx);
		assert_ptr_equal(qp->sq.db.reg, ctx->cq_uar->page + cases[i].at);
		assert_int_equal(qp->sq.db.toggle, 0);
		assert_int_equal(kernel.qp.flags &
					 (MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX),
				 0);
		destroy_qp(qp);
	}
}

/* BIT(31) means "no register", so the QP fails. */
static void a_register_that_is_not_on_the_page_fails_the_qp(void **state)
{
	static const uint32_t numbers[] = { 2, 3, 64, 65, 1u << 31 };
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *qp;

	ctx->env.blueflame = false;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		kernel.bfreg_index = numbers[i];
		assert_int_equal(create_qp_in(ctx, NULL, &qp), EPROTO);
		assert_int_equal(kernel.destroyed, i + 1);
	}
	kernel.bfreg_index = 0;
	destroy_qp(create_qp(ctx));
}

/* A page mapped by number offers the registers of all its UARs, two each. */
static void each_uar_of_a_large_page_is_used(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *qps[QPS];

	kernel.bfreg_index = 1u << 31; /* ignored, as the QP named its register */
	ctx->env.total_bfregs = 64;
	ctx->env.low_latency_bfregs = QPS;
	for (int i = 0; i < QPS; i++) {
		const uint8_t *page;
		size_t at;

		qps[i] = create_qp(ctx);
		page = qps[i]->sq.bfreg->uar->page;
		at = (size_t)(rung(qps[i]) - page);
		assert_int_equal(kernel.qp.flags & MLX5_QP_FLAG_BFREG_INDEX,
				 MLX5_QP_FLAG_BFREG_INDEX);
		assert_int_equal(kernel.qp.bfreg_index / 2, at / 4096);
		assert_true(at % 4096 == PRM_UAR_SQ || at % 4096 == PRM_UAR_SQ + REG_SIZE);
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(rung(qps[i]), rung(qps[j]));
	}
	assert_int_equal(ctx->numbered_uars, 1);
	destroy_qps(qps);
}

/* The numbers of the second page follow those of the first. */
static void large_pages_go_on_with_their_numbers(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_qp *own, *shared;

	ctx->env.low_latency_bfregs = 1;
	own = create_qp(ctx);
	assert_true(kernel.qp.bfreg_index < UARS_OF_LARGE_PAGE * PRM_UAR_SQS);
	shared = create_qp(ctx);
	assert_int_equal(shared->sq.db.use, BFREG_SHARED);
	assert_true(kernel.qp.bfreg_index >= UARS_OF_LARGE_PAGE * PRM_UAR_SQS);
	assert_int_equal(kernel.qp.bfreg_index % (UARS_OF_LARGE_PAGE * PRM_UAR_SQS) / PRM_UAR_SQS,
			 (size_t)(rung(shared) - shared->sq.bfreg->uar->page) / 4096);
	destroy_qp(shared);
	destroy_qp(own);
}

/* The library ignores UARs beyond the page, even if the kernel reports more, as their registers are
 * not mapped. */
static void uars_that_are_not_on_the_page_are_left_out(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 2, UARS_OF_LARGE_PAGE + 1, UINT32_MAX };
	struct mlx5_qp *qps[QPS], *qp;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct mlx5_context *ctx = *state;

		ctx->caps.num_uars_per_page = numbers[i];
		create_qps(ctx, qps);
		for (int j = 0; j < QPS; j++)
			assert_in_range(rung(qps[j]) - qps[j]->sq.bfreg->uar->page, 0, 4096);
		destroy_qps(qps);
		ctx->env.blueflame = false; /* the kernel chooses one, of the plain page */
		mlx5_uar_free_all(ctx);
		kernel.bfreg_index = 4;
		assert_int_equal(create_qp_in(ctx, NULL, &qp), EPROTO);
		free_context(state);
		old_kernel(state);
	}
}

static void create_cq(struct mlx5_context *ctx)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 7 };
	struct verbs_cq *vcq;

	assert_int_equal(mlx5_cq_create(&ctx->vctx.context, &attr, &vcq), 0);
	assert_int_equal(mlx5_cq_destroy(&vcq->cq), 0);
}

static void a_cq_names_its_page_by_16_bits(void **state)
{
	kernel.first_page_id = 65535;
	create_cq(*state);
	assert_int_equal(kernel.cq.flags, MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX);
	assert_int_equal(kernel.cq.uar_page_index, 65535);
	assert_int_equal(kernel.cq_uar, 0);
}

static void a_cq_names_a_page_above_these_by_the_attribute(void **state)
{
	kernel.first_page_id = 65536 + 3;
	create_cq(*state);
	assert_int_equal(kernel.cq_uar, 65536 + 3);
	assert_int_equal(kernel.cq.flags, 0);
	assert_int_equal(kernel.cq.uar_page_index, 0);
}

static void a_cq_of_an_old_kernel_names_none(void **state)
{
	create_cq(*state);
	assert_int_equal(kernel.cq.flags, 0);
	assert_int_equal(kernel.cq_uar, 0);
}

static struct mlx5dv_devx_uar *page_for_program(struct mlx5_context *ctx, uint32_t type)
{
	errno = 0;
	return mlx5dv_devx_alloc_uar(&ctx->vctx.context, type);
}

/* A request for BlueFlame succeeds or fails openly, as the program named it; environment variables
 * apply to QPs only. */
static void a_program_pushes_or_is_told(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5dv_devx_uar *uar;
	struct mlx5_qp *qp;

	ctx->env.blueflame = false;
	uar = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_non_null(uar);
	assert_int_equal(uar->page_id, 7);
	qp = create_qp(ctx);
	assert_false(qp->sq.bfreg->pushes);
	destroy_qp(qp);
	mlx5dv_devx_free_uar(uar);
	qp = create_qp(ctx);
	assert_false(qp->sq.bfreg->pushes);
	destroy_qp(qp);
	uar = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_non_null(uar);
	assert_int_equal(uar->page_id, 7); /* the same again */
	mlx5dv_devx_free_uar(uar);
}

static void a_program_is_told_of_no_blueflame(void **state)
{
	struct mlx5_context *ctx = *state;
	static const int errors[] = { EOPNOTSUPP, EPERM, ENOMEM };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		kernel.no_blueflame = errors[i];
		for (int again = 0; again < 2; again++) {
			assert_null(page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF));
			assert_int_equal(errno, errors[i]);
		}
		ctx->no_blueflame = 0;
	}
	kernel.no_blueflame = 0;
}

/* Linux numbers pages from 0x90000 up to 2^24, so offsets need up to 36 bits. */
static void a_page_is_mapped_wherever_it_is(void **state)
{
	static const uint64_t offsets[] = { 0x90000000, 0xfffff000, 0xffffff000 };
	struct mlx5_context *ctx = *state;

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct mlx5dv_devx_uar *uar;
		uint64_t seen = 0;

		kernel.first_offset = offsets[i] - kernel.pages * 4096;
		uar = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
		assert_non_null(uar);
		*(volatile uint64_t *)uar->base_addr = offsets[i];
		assert_int_equal(
			pread64(ctx->vctx.context.cmd_fd, &seen, sizeof(seen), (off64_t)offsets[i]),
			sizeof(seen));
		assert_true(seen == offsets[i]);
		mlx5dv_devx_free_uar(uar);
	}
}

static void an_old_kernel_tells_the_numbers_of_pages(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5dv_devx_uar *first, *second, *third;

	first = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	second = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	third = page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_non_null(first);
	assert_non_null(second);
	assert_non_null(third);
	assert_int_equal(first->page_id, 7);
	assert_int_equal(second->page_id, 7);
	assert_int_equal(third->page_id, 8);
	assert_ptr_not_equal(first->reg_addr, second->reg_addr);
	assert_null(page_for_program(ctx, MLX5DV_UAR_ALLOC_TYPE_NC));
	assert_int_equal(errno, EOPNOTSUPP);
	mlx5dv_devx_free_uar(first);
	mlx5dv_devx_free_uar(second);
	mlx5dv_devx_free_uar(third);
}

#define on(kernel, test) cmocka_unit_test_setup_teardown(test, kernel, free_context)

enum { MOST_UNITS = 63, LONGEST_WQE = 1024 }; /* PRM: Control Segment, ds; max_wqe_sz_sq */

#define KEY_OPS (IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)

/* Checks that each operation of the QP has room for the largest SGE list and the most inline bytes,
 * whatever operations the QP was created for, as ibv_post_send() takes any. */
static void requests_fit(const struct mlx5_qp *qp)
{
	const struct mlx5_sq *sq = &qp->sq;

	for (uint64_t op = 1; op <= qp->rules->ops; op <<= 1) {
		uint32_t head, start, room, bytes;

		if (!(qp->opcodes & op) || op & KEY_OPS)
			continue;
		head = mlx5_qp_head_size(qp->rules, op);
		start = head + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);
		room = sq->wqe_bytes > start ? sq->wqe_bytes - start : 0;
		bytes = room < sq->max_inline ? room : sq->max_inline; /* as wqe_inline_limit() */
		assert_in_range(head / WQE_SEG + sq->max_sge, 1, MOST_UNITS);
		assert_in_range((start + bytes + WQE_SEG - 1) / WQE_SEG, 1, MOST_UNITS);
	}
}

/* Creates a QP, and checks its limits. Returns false if its capacities are refused. */
static bool limits_hold(struct mlx5_context *ctx, enum ibv_qp_type type, uint64_t ops,
			uint32_t sges, uint32_t inline_bytes)
{
	struct provider_pd pd = { .pd = { .context = &ctx->vctx.context } };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq_of(ctx),
		.recv_cq = cq_of(ctx),
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &pd.pd,
		.send_ops_flags = ops,
		.cap = { .max_send_wr = 1, .max_send_sge = sges, .max_inline_data = inline_bytes },
	};
	struct verbs_qp *vqp;

	if (mlx5_qp_create(&ctx->vctx.context, &attr, &vqp))
		return false;
	requests_fit(container_of(vqp, struct mlx5_qp, vqp));
	destroy_qp(container_of(vqp, struct mlx5_qp, vqp));
	return true;
}

static void limits_of_type_hold(struct mlx5_context *ctx, enum ibv_qp_type type, uint64_t ops)
{
	uint32_t sges = 0, bytes = 0;

	while (limits_hold(ctx, type, ops, sges + 1, 0))
		sges++;
	while (limits_hold(ctx, type, ops, 1, bytes + 4))
		bytes += 4;
	assert_in_range(sges, 50, MOST_UNITS);
	assert_in_range(bytes, 800, LONGEST_WQE);
}

/* Operations that the program did not name may have longer heads than those it named, as
 * ibv_post_send() still allows them. */
static void no_request_is_longer_than_its_control_segment_says(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						  IBV_QPT_XRC_SEND };
	struct mlx5_context *ctx = *state;

	ctx->caps.max_sq_desc_sz = LONGEST_WQE;
	ctx->common.device.attr.atomic_cap = IBV_ATOMIC_HCA;
	for (unsigned int t = 0; t < ARRAY_SIZE(types); t++)
		for (uint64_t op = 1; op <= mlx5_qp_rules_of(types[t])->ops; op <<= 1)
			if (mlx5_qp_rules_of(types[t])->ops & op)
				limits_of_type_hold(ctx, types[t], op);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on(new_kernel, the_first_have_registers_of_their_own_and_all_push),
		on(new_kernel,
		   shared_pages_are_rung_at_the_first_register_and_pushed_at_the_second),
		on(new_kernel, the_budget_is_that_of_the_environment),
		on(new_kernel, a_single_thread_shares_without_a_lock),
		on(new_kernel, without_blueflame_all_ring_the_page_of_the_cqs),
		on(new_kernel, a_kernel_that_has_none_is_not_asked_again),
		on(new_kernel, a_kernel_that_is_short_is_asked_again),
		on(new_kernel, the_next_owner_goes_on_with_the_other_half),
		on(new_kernel, a_thread_domain_counts_against_no_budget),
		on(old_kernel_with_large_pages,
		   the_kernel_says_which_register_of_the_page_a_qp_has),
		on(old_kernel_with_large_pages, a_register_that_is_not_on_the_page_fails_the_qp),
		on(old_kernel_with_large_pages, each_uar_of_a_large_page_is_used),
		on(old_kernel_with_large_pages, large_pages_go_on_with_their_numbers),
		on(old_kernel, uars_that_are_not_on_the_page_are_left_out),
		on(new_kernel, a_cq_names_its_page_by_16_bits),
		on(new_kernel, a_cq_names_a_page_above_these_by_the_attribute),
		on(old_kernel, a_cq_of_an_old_kernel_names_none),
		on(new_kernel, a_program_pushes_or_is_told),
		on(new_kernel, a_program_is_told_of_no_blueflame),
		on(new_kernel, a_page_is_mapped_wherever_it_is),
		on(new_kernel, no_request_is_longer_than_its_control_segment_says),
		on(old_kernel, an_old_kernel_tells_the_numbers_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
