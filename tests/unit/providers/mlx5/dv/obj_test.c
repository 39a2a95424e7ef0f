/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj_test.c - mlx5dv_init_obj(): each field of each object, the fields that come when they are
 * asked for, and calls that are refused without an effect. The objects are filled in by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/vfio/vfio.h"
#include "tests/unit/log_text.h"

static struct {
	struct verbs_device device, foreign, vfio;
	struct mlx5_context *ctx;
	struct mlx5_qp *qp;
	struct mlx5_cq *cq;
	struct mlx5_srq *srq;
	struct mlx5_uar uar;
	struct mlx5_bfreg bfreg;
	uint8_t page[64], ring[8 * 64];
	__be32 records[6];
} it;

static void *aligned_new(size_t size)
{
	void *object = aligned_alloc(64, (size + 63) / 64 * 64);

	assert_non_null(object);
	return memset(object, 0, (size + 63) / 64 * 64);
}

static int objects_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.vfio.driver = &mlx5_vfio_driver;
	strcpy(it.foreign.device.name, "other_0");
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.qp = aligned_new(sizeof(*it.qp));
	it.cq = aligned_new(sizeof(*it.cq));
	it.srq = aligned_new(sizeof(*it.srq));
	it.qp->vqp.qp.context = it.cq->vcq.cq.context = it.srq->vsrq.srq.context =
		&it.ctx->vctx.context;
	it.uar.page = it.page;
	it.uar.mmap_offset = 0x3000;
	it.bfreg.uar = &it.uar;
	log_text();
	return 0;
}

static int objects_end(void **state)
{
	(void)state;
	free(it.qp);
	free(it.cq);
	free(it.srq);
	free(it.ctx);
	return 0;
}

/* ---- queue pairs ---- */

static void fill_qp(void)
{
	struct mlx5_qp *qp = it.qp;

	qp->dbrec = it.records;
	qp->sq.buf = it.ring + 256;
	qp->sq.wq.mask = 15;
	qp->sq.bfreg = &it.bfreg;
	qp->sq.db.reg = it.page + 8;
	qp->sq.db.push[PUSH_INLINE] = 4;
	qp->buf.addr = it.ring;
	qp->rq.wq.mask = 7;
	qp->rq.stride_log = 5;
	qp->parts.tirn = 1;
	qp->parts.tisn = 2;
	qp->parts.rqn = 3;
	qp->parts.sqn = 4;
	qp->parts.tir_icm_addr = 0x123456789;
	it.bfreg.reg = it.page + 16;
}

static struct mlx5dv_qp describe_qp(uint64_t mask)
{
	struct mlx5dv_obj obj = { .qp.in = &it.qp->vqp.qp };
	struct mlx5dv_qp out;

	memset(&out, 0xee, sizeof(out));
	out.comp_mask = mask;
	obj.qp.out = &out;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), 0);
	return out;
}

static void a_qp_has_its_rings_and_its_register(void **state)
{
	struct mlx5dv_qp out;

	(void)state;
	fill_qp();
	out = describe_qp(0);
	assert_int_equal(out.comp_mask, 0);
	assert_ptr_equal(out.dbrec, it.records);
	assert_ptr_equal(out.sq.buf, it.ring + 256);
	assert_int_equal(out.sq.wqe_cnt, 16);
	assert_int_equal(out.sq.stride, 64);
	assert_ptr_equal(out.rq.buf, it.ring);
	assert_int_equal(out.rq.wqe_cnt, 8);
	assert_int_equal(out.rq.stride, 32);
	assert_ptr_equal(out.bf.reg, it.page + 8);
	assert_int_equal(out.bf.size, 256);
	assert_int_equal(out.tirn, 0xeeeeeeee);
	it.bfreg.pushes = true;
	assert_ptr_equal(describe_qp(0).bf.reg, it.page + 16);
}

static void further_fields_of_a_qp_come_on_request(void **state)
{
	struct mlx5dv_qp out;

	(void)state;
	fill_qp();
	out = describe_qp(MLX5DV_QP_MASK_UAR_MMAP_OFFSET);
	assert_int_equal(out.comp_mask, MLX5DV_QP_MASK_UAR_MMAP_OFFSET);
	assert_int_equal(out.uar_mmap_offset, 0x3000);
	out = describe_qp(MLX5DV_QP_MASK_RAW_QP_HANDLES);
	assert_int_equal(out.comp_mask, MLX5DV_QP_MASK_RAW_QP_HANDLES);
	assert_int_equal(out.tirn, 1);
	assert_int_equal(out.tisn, 2);
	assert_int_equal(out.rqn, 3);
	assert_int_equal(out.sqn, 4);
	out = describe_qp(MLX5DV_QP_MASK_RAW_QP_TIR_ADDR | 1ull << 40);
	assert_int_equal(out.comp_mask, MLX5DV_QP_MASK_RAW_QP_TIR_ADDR);
	assert_int_equal(out.tir_icm_addr, 0x123456789);
	it.qp->sq.bfreg = NULL; /* an XRC target sends nothing */
	out = describe_qp(MLX5DV_QP_MASK_UAR_MMAP_OFFSET);
	assert_int_equal(out.comp_mask, 0);
	assert_null(out.bf.reg);
	assert_int_equal(out.bf.size, 0);
}

/* ---- other objects ---- */

static void a_cq_is_the_programs_from_then_on(void **state)
{
	struct mlx5dv_cq out = { .comp_mask = UINT64_MAX };
	struct mlx5dv_obj obj = { .cq = { &it.cq->vcq.cq, &out } };

	(void)state;
	it.cq->cqn = 0x42;
	it.cq->count_log = 3;
	it.cq->entry_log = 7;
	it.cq->buf.addr = it.ring;
	it.cq->dbrec = it.records + 2;
	it.cq->uar = &it.uar;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), 0);
	assert_int_equal(out.comp_mask, 0);
	assert_int_equal(out.cqn, 0x42);
	assert_int_equal(out.cqe_cnt, 8);
	assert_int_equal(out.cqe_size, 128);
	assert_ptr_equal(out.buf, it.ring);
	assert_ptr_equal(out.dbrec, it.records + 2);
	assert_ptr_equal(out.cq_uar, it.page);
	assert_true(it.cq->shown);
}

static void an_srq_has_the_ends_of_its_list(void **state)
{
	struct mlx5dv_srq out = { 0 };
	struct mlx5dv_obj obj = { .srq = { &it.srq->vsrq.srq, &out } };

	(void)state;
	it.srq->buf.addr = it.srq->ring = it.ring;
	it.srq->dbrec = it.records + 4;
	it.srq->stride_log = 6;
	it.srq->srqn = 0x77;
	it.srq->listed = true;
	it.srq->list_head = 3;
	it.srq->list_tail = 5;
	out.srqn = 0xee;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ), 0);
	assert_int_equal(out.comp_mask, 0);
	assert_ptr_equal(out.buf, it.ring);
	assert_ptr_equal(out.dbrec, it.records + 4);
	assert_int_equal(out.stride, 64);
	assert_int_equal(out.head, 3);
	assert_int_equal(out.tail, 5);
	assert_int_equal(out.srqn, 0xee);
	out.comp_mask = MLX5DV_SRQ_MASK_SRQN | 1ull << 40;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ), 0);
	assert_int_equal(out.comp_mask, MLX5DV_SRQ_MASK_SRQN);
	assert_int_equal(out.srqn, 0x77);
}

/* Several objects at once, of which two are described without a fast way. */
static void several_objects_are_described_at_once(void **state)
{
	struct provider_pd pd = { .pd.context = &it.ctx->vctx.context, .pdn = 0x99 };
	struct mlx5_ah ah = { .ah.context = &it.ctx->vctx.context };
	struct mlx5dv_devx_obj devx = { .handle = 0x33 };
	struct mlx5dv_devx devx_out = { 0 };
	struct mlx5dv_pd pd_out = { .comp_mask = 1 };
	struct mlx5dv_ah ah_out = { .comp_mask = 1 };
	struct mlx5dv_obj obj = { .pd = { &pd.pd, &pd_out },
				  .ah = { &ah.ah, &ah_out },
				  .devx = { &devx, &devx_out } };

	(void)state;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD | MLX5DV_OBJ_AH | MLX5DV_OBJ_DEVX), 0);
	assert_int_equal(pd_out.pdn, 0x99);
	assert_int_equal(pd_out.comp_mask, 0);
	assert_ptr_equal(ah_out.av, &ah.av);
	assert_int_equal(ah_out.comp_mask, 0);
	assert_int_equal(devx_out.handle, 0x33);
	ah_out.av = NULL;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH), 0);
	assert_ptr_equal(ah_out.av, &ah.av);
	pd_out.pdn = 0;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	assert_int_equal(pd_out.pdn, 0x99);
	it.ctx->vctx.context.device = &it.vfio.device;
	pd_out.pdn = 0;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	assert_int_equal(pd_out.pdn, 0x99);
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH), EOPNOTSUPP);
}

/* ---- refusals ---- */

static void unknown_types_are_refused(void **state)
{
	struct mlx5dv_obj obj = { 0 };

	(void)state;
	assert_int_equal(mlx5dv_init_obj(&obj, 0), EINVAL);
	check_logged("mlx5dv_init_obj: obj_type is 0, known are 0x");
	assert_int_equal(mlx5dv_init_obj(&obj, 1ull << 40), EINVAL);
	check_logged("mlx5dv_init_obj: obj_type is 0x10000000000, known are 0x");
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DEVX | 1ull << 40), EINVAL);
}

/* Each kind is refused by itself; with another object, nothing is written at all. */
static void objects_of_other_drivers_are_refused(void **state)
{
	static const uint64_t types[] = { MLX5DV_OBJ_QP,  MLX5DV_OBJ_CQ, MLX5DV_OBJ_SRQ,
					  MLX5DV_OBJ_RWQ, MLX5DV_OBJ_DM, MLX5DV_OBJ_AH,
					  MLX5DV_OBJ_PD };
	struct ibv_context other = { .device = &it.foreign.device };
	struct provider_pd pd = { .pd.context = &other, .pdn = 0x99 };
	struct ibv_qp qp = { .context = &other };
	struct ibv_cq cq = { .context = &other };
	struct ibv_srq srq = { .context = &other };
	struct ibv_wq wq = { .context = &other };
	struct ibv_dm dm = { .context = &other };
	struct ibv_ah ah = { .context = &other };
	struct mlx5dv_devx_obj devx = { .handle = 0x33 };
	struct mlx5dv_devx devx_out = { 0 };
	struct mlx5dv_obj obj = { .qp.in = &qp,
				  .cq.in = &cq,
				  .srq.in = &srq,
				  .rwq.in = &wq,
				  .dm.in = &dm,
				  .ah.in = &ah,
				  .pd.in = &pd.pd,
				  .devx = { &devx, &devx_out } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		assert_int_equal(mlx5dv_init_obj(&obj, types[i]), EOPNOTSUPP);
		check_logged("mlx5dv_init_obj: other_0 is not an mlx5 device");
		assert_int_equal(mlx5dv_init_obj(&obj, types[i] | MLX5DV_OBJ_DEVX), EOPNOTSUPP);
		assert_int_equal(devx_out.handle, 0);
	}
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DEVX), 0);
	assert_int_equal(devx_out.handle, 0x33);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, objects_begin, objects_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_qp_has_its_rings_and_its_register),
		TEST(further_fields_of_a_qp_come_on_request),
		TEST(a_cq_is_the_programs_from_then_on),
		TEST(an_srq_has_the_ends_of_its_list),
		TEST(several_objects_are_described_at_once),
		TEST(unknown_types_are_refused),
		TEST(objects_of_other_drivers_are_refused),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
