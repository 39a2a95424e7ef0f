/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_test.c - memory regions of each kind and thread domains: what reaches the kernel, what is
 * refused before, and failures, which leave nothing behind. Functions of the test stand for the
 * kernel.
 *
 * Covers: providers/mlx5/mr.c, providers/mlx5/pd.c, providers/mlx5/qp/xrc.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/mr.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/xrc.h"
#include "tests/unit/log_text.h"
#include "tests/unit/heap.h"
#include "util/alloc.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

enum { ADDR = 0x12340000, LENGTH = 0x5000, IOVA = 0x777000, ACCESS = 5, HANDLE = 0x42 };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct ibv_pd pd;
	struct mlx5_bfreg bfreg;
	int err, uar_err, regions, windows, domains, qps;
} it;

static int kernel_region(struct ibv_pd *pd, struct verbs_mr *mr)
{
	assert_ptr_equal(pd, &it.pd);
	if (it.err)
		return it.err;
	memset(mr, 0, sizeof(*mr));
	mr->mr.lkey = 0x1234;
	it.regions++;
	return 0;
}

int verbs_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		     unsigned int access, struct verbs_mr *vmr, const struct verbs_udata *udata)
{
	(void)addr;
	assert_true(length == LENGTH || length == SIZE_MAX);
	assert_true(iova == IOVA || !iova);
	assert_true(access & ACCESS);
	assert_null(udata);
	return kernel_region(pd, vmr);
}

int verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, struct verbs_mr *vmr,
			    const struct verbs_udata *udata)
{
	assert_int_equal(offset, 0x1000);
	assert_int_equal(length, LENGTH);
	assert_int_equal(iova, IOVA);
	assert_int_equal(fd, 9);
	assert_int_equal(access, ACCESS);
	assert_null(udata);
	return kernel_region(pd, vmr);
}

int verbs_cmd_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			struct verbs_mr *vmr, const struct verbs_udata *udata)
{
	assert_int_equal(attr->length, LENGTH);
	assert_null(udata);
	return kernel_region(pd, vmr);
}

int verbs_cmd_query_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr *vmr)
{
	assert_int_equal(handle, HANDLE);
	return kernel_region(pd, vmr);
}

int verbs_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		       size_t length, uint64_t iova, unsigned int access,
		       const struct verbs_udata *udata)
{
	assert_int_equal(vmr->mr.lkey, 0x1234);
	assert_int_equal(flags, IBV_REREG_MR_CHANGE_TRANSLATION);
	assert_ptr_equal(pd, &it.pd);
	assert_int_equal((uintptr_t)addr, ADDR);
	assert_int_equal(length, LENGTH);
	assert_int_equal(iova, ADDR);
	assert_int_equal(access, ACCESS);
	assert_null(udata);
	return it.err;
}

int verbs_cmd_dereg_mr(struct verbs_mr *vmr)
{
	(void)vmr;
	it.regions -= !it.err;
	return it.err;
}

int verbs_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		       const struct verbs_udata *udata)
{
	static const struct mlx5_ib_alloc_mw empty;

	assert_int_equal(type, IBV_MW_TYPE_2);
	assert_int_equal(udata->req_len, sizeof(empty));
	assert_memory_equal(udata->req, &empty, sizeof(empty));
	mw->context = pd->context;
	it.windows += !it.err;
	return it.err;
}

int verbs_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	it.windows -= !it.err;
	return it.err;
}

int verbs_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		       const struct verbs_udata *udata)
{
	struct mlx5_ib_alloc_pd_resp *resp = udata->resp;

	assert_int_equal(udata->resp_len, sizeof(*resp));
	assert_null(udata->req);
	resp->pdn = 0xabc;
	pd->context = context;
	it.domains += !it.err;
	return it.err;
}

int verbs_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	it.domains--;
	return 0;
}

/* The number of an imported PD */
int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(object, UVERBS_OBJECT_PD);
	assert_int_equal(method, MLX5_IB_METHOD_PD_QUERY);
	assert_int_equal(nattrs, 2);
	assert_int_equal(attrs[0].id, MLX5_IB_ATTR_QUERY_PD_HANDLE);
	assert_int_equal(attrs[0].value, HANDLE);
	assert_int_equal(attrs[1].id, MLX5_IB_ATTR_QUERY_PD_RESP_PDN);
	memcpy((void *)(uintptr_t)attrs[1].value, &(uint32_t){ 0x99 }, sizeof(uint32_t));
	return it.err;
}

int verbs_cmd_open_qp(struct ibv_context *context, const struct ibv_qp_open_attr *attr,
		      struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(attr->qp_num, HANDLE);
	assert_null(udata);
	vqp->qp.context = context;
	it.qps += !it.err;
	return it.err;
}

int __wrap_mlx5_uar_get_domain_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
void __wrap_mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);

int __wrap_mlx5_uar_get_domain_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	assert_ptr_equal(ctx, it.ctx);
	*bfreg = &it.bfreg;
	it.bfreg.users += !it.uar_err;
	return it.uar_err;
}

void __wrap_mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	assert_ptr_equal(ctx, it.ctx);
	bfreg->users--;
}

static int mr_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&it, 0, sizeof(it));
	it.ctx = __real_calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.pd.context = &it.ctx->vctx.context;
	log_text();
	return 0;
}

static int mr_end(void **state)
{
	(void)state;
	assert_int_equal(it.regions | it.windows | it.domains | (int)it.bfreg.users, 0);
	provider_cells_destroy(&it.ctx->common.cells);
	assert_int_equal(heap.blocks, 0);
	__real_free(it.ctx);
	return 0;
}

/* ---- regions ---- */

static int of_memory(struct verbs_mr **mr)
{
	return mlx5_mr_reg(&it.pd, (void *)ADDR, LENGTH, IOVA, ACCESS, mr);
}

static int of_dmabuf(struct verbs_mr **mr)
{
	return mlx5_mr_reg_dmabuf(&it.pd, 0x1000, LENGTH, IOVA, 9, ACCESS, mr);
}

static int with_attr(struct verbs_mr **mr)
{
	const struct ibv_mr_init_attr attr = { .length = LENGTH };

	return mlx5_mr_reg_ex(&it.pd, &attr, mr);
}

static int imported(struct verbs_mr **mr)
{
	return mlx5_mr_import(&it.pd, HANDLE, mr);
}

static void a_region_comes_and_goes(void **state)
{
	static int (*const kinds[])(struct verbs_mr **) = { of_memory, of_dmabuf, with_attr,
							    imported };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct verbs_mr *mr = NULL;

		heap_fail_at(1);
		assert_int_equal(kinds[i](&mr), ENOMEM);
		it.err = EPERM;
		assert_int_equal(kinds[i](&mr), EPERM);
		assert_null(mr);
		assert_int_equal(heap.blocks, 0);
		it.err = 0;
		assert_int_equal(kinds[i](&mr), 0);
		assert_int_equal(mr->mr.lkey, 0x1234);
		it.err = EBUSY;
		assert_int_equal(mlx5_mr_dereg(mr), EBUSY);
		it.err = 0;
		assert_int_equal(mlx5_mr_dereg(mr), 0);
		assert_int_equal(heap.blocks, 0);
		assert_int_equal(it.regions, 0);
	}
}

static void an_imported_region_stays_in_the_kernel(void **state)
{
	struct verbs_mr *mr;

	(void)state;
	assert_int_equal(imported(&mr), 0);
	mlx5_mr_unimport(mr);
	assert_int_equal(heap.blocks, 0);
	assert_int_equal(it.regions--, 1);
}

static void all_memory_is_without_an_address(void **state)
{
	const unsigned int access = IBV_ACCESS_ON_DEMAND | ACCESS;
	struct verbs_mr *mr;

	(void)state;
	assert_int_equal(mlx5_mr_reg(&it.pd, (void *)ADDR, SIZE_MAX, 0, access, &mr), EINVAL);
	check_logged("length SIZE_MAX on demand means all memory, and needs addr NULL");
	assert_int_equal(mlx5_mr_reg(&it.pd, NULL, SIZE_MAX, 0, access, &mr), 0);
	assert_int_equal(mlx5_mr_dereg(mr), 0);
	assert_int_equal(mlx5_mr_reg(&it.pd, (void *)ADDR, LENGTH, 0, access, &mr), 0);
	assert_int_equal(mlx5_mr_dereg(mr), 0);
	assert_int_equal(mlx5_mr_reg(&it.pd, (void *)ADDR, SIZE_MAX, 0, ACCESS, &mr), 0);
	assert_int_equal(mlx5_mr_dereg(mr), 0);
}

static void a_region_that_moves_is_at_its_new_address(void **state)
{
	struct verbs_mr *mr;

	(void)state;
	assert_int_equal(of_memory(&mr), 0);
	for (it.err = 0; it.err <= 1; it.err++)
		assert_int_equal(mlx5_mr_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, &it.pd,
					       (void *)ADDR, LENGTH, ACCESS),
				 it.err);
	it.err = 0;
	assert_int_equal(mlx5_mr_dereg(mr), 0);
}

static void the_null_region_needs_no_command(void **state)
{
	struct ibv_mr *mr;

	(void)state;
	it.ctx->caps.dump_fill_mkey = 0x5a00;
	assert_null(mlx5_mr_alloc_null(&it.pd));
	assert_int_equal(errno, ENOTSUP);
	check_logged("alloc_null_mr: the device has no null key");
	it.ctx->caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
	heap_fail_at(1);
	assert_null(mlx5_mr_alloc_null(&it.pd));
	assert_int_equal(errno, ENOMEM);
	mr = mlx5_mr_alloc_null(&it.pd);
	assert_non_null(mr);
	assert_int_equal(mr->lkey, 0x5a00);
	assert_ptr_equal(mr->pd, &it.pd);
	assert_ptr_equal(mr->context, it.pd.context);
	it.err = EIO; /* the kernel does not know it */
	assert_int_equal(mlx5_mr_dereg(container_of(mr, struct verbs_mr, mr)), 0);
	it.err = 0;
}

static void a_windows_request_is_empty(void **state)
{
	struct ibv_mw *mw;

	(void)state;
	it.err = EPERM;
	assert_null(mlx5_mw_alloc(&it.pd, IBV_MW_TYPE_2));
	assert_int_equal(errno, EPERM);
	it.err = 0;
	mw = mlx5_mw_alloc(&it.pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	it.err = EBUSY;
	assert_int_equal(mlx5_mw_dealloc(mw), EBUSY);
	it.err = 0;
	assert_int_equal(mlx5_mw_dealloc(mw), 0);
}

/* ---- domains ---- */

static void a_protection_domain_has_the_kernels_number(void **state)
{
	struct ibv_pd *pd;

	(void)state;
	it.err = EPERM;
	assert_int_equal(mlx5_pd_alloc(it.pd.context, &pd), EPERM);
	it.err = 0;
	assert_int_equal(mlx5_pd_alloc(it.pd.context, &pd), 0);
	assert_int_equal(to_ppd(pd)->pdn, 0xabc);
	assert_int_equal(provider_pd_dealloc(pd), 0);
	assert_int_equal(mlx5_pd_import(it.pd.context, HANDLE, &pd), 0);
	assert_int_equal(to_ppd(pd)->pdn, 0x99);
	assert_int_equal(pd->handle, HANDLE);
	provider_pd_unimport(pd);
	it.err = ENOENT;
	assert_int_equal(mlx5_pd_import(it.pd.context, HANDLE, &pd), ENOENT);
	check_logged("import_pd: the context has no PD of handle 66 that can be imported: errno 2");
	it.err = 0;
}

static void a_thread_domain_has_a_register(void **state)
{
	struct ibv_td_init_attr attr = { .comp_mask = 1 };
	struct ibv_td *td;

	(void)state;
	assert_null(mlx5_td_alloc(it.pd.context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.comp_mask = 0;
	heap_fail_at(1);
	assert_null(mlx5_td_alloc(it.pd.context, &attr));
	assert_int_equal(errno, ENOMEM);
	it.uar_err = ENOSPC;
	assert_null(mlx5_td_alloc(it.pd.context, &attr));
	assert_int_equal(errno, ENOSPC);
	it.uar_err = 0;
	td = mlx5_td_alloc(it.pd.context, &attr);
	assert_non_null(td);
	assert_ptr_equal(td->context, it.pd.context);
	assert_ptr_equal(to_mtd(to_ptd(td))->bfreg, &it.bfreg);
	assert_int_equal(it.bfreg.users, 1);
	to_ptd(td)->users = 1;
	assert_int_equal(mlx5_td_dealloc(td), EBUSY);
	assert_int_equal(it.bfreg.users, 1);
	to_ptd(td)->users = 0;
	assert_int_equal(mlx5_td_dealloc(td), 0);
}

/* ---- handles of XRC receive QPs ---- */

static void a_further_handle_posts_nothing(void **state)
{
	struct ibv_qp_open_attr attr = { .qp_num = HANDLE };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send = NULL;
	struct mlx5_qp *qp;

	(void)state;
	heap_fail_at(1);
	assert_null(mlx5_qp_open(it.pd.context, &attr));
	assert_int_equal(errno, ENOMEM);
	it.err = EACCES;
	assert_null(mlx5_qp_open(it.pd.context, &attr));
	assert_int_equal(errno, EACCES);
	assert_int_equal(heap.blocks, 0);
	it.err = 0;
	qp = to_mqp(mlx5_qp_open(it.pd.context, &attr));
	assert_int_equal(it.qps, 1);
	assert_ptr_equal(qp->rules, mlx5_qp_rules_of(IBV_QPT_XRC_RECV));
	assert_int_equal(qp->rq.rsn, PRM_NO_USER_INDEX);
	assert_int_not_equal(qp->rq.post(&qp->rq, &wr, &bad), 0);
	assert_ptr_equal(bad, &wr);
	assert_int_not_equal(qp->post_send(&qp->vqp.qp, &send, &bad_send), 0);
	assert_ptr_equal(bad_send, &send);
	assert_non_null(qp->bind_mw);
	free_aligned(qp);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, mr_begin, mr_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_region_comes_and_goes),
		TEST(an_imported_region_stays_in_the_kernel),
		TEST(all_memory_is_without_an_address),
		TEST(a_region_that_moves_is_at_its_new_address),
		TEST(the_null_region_needs_no_command),
		TEST(a_windows_request_is_empty),
		TEST(a_protection_domain_has_the_kernels_number),
		TEST(a_thread_domain_has_a_register),
		TEST(a_further_handle_posts_nothing),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
