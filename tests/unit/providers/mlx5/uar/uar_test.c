/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_test.c - doorbell pages of kernels before Linux 5.8, which are mapped by number: what is
 * mapped, and what queues are told.
 *
 * A sparse file stands for the kernel's: any offset of it can be mapped.
 *
 * Covers: providers/mlx5/uar/uar.c, providers/mlx5/uar/page.c, util/map.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"

#include <rdma/mlx5_user_ioctl_verbs.h>

static struct verbs_device device = { .device = { .name = "mlx5_0" } };

static int new_context(void **state)
{
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(ctx);
	ctx->vctx.context.device = &device.device;
	ctx->vctx.context.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
	assert_int_equal(ftruncate(ctx->vctx.context.cmd_fd, 1 << 28), 0);
	ctx->caps.tot_bfregs = 2;
	ctx->caps.num_uars_per_page = 1;
	ctx->caps.num_dyn_bfregs = 4;
	ctx->caps.bf_reg_size = 512;
	ctx->env.blueflame = true;
	ctx->env.total_bfregs = 16;
	ctx->env.low_latency_bfregs = 12;
	pthread_mutex_init(&ctx->uar_lock, NULL);
	*state = ctx;
	return 0;
}

static int free_context(void **state)
{
	struct mlx5_context *ctx = *state;

	mlx5_uar_free_all(ctx);
	close(ctx->vctx.context.cmd_fd);
	pthread_mutex_destroy(&ctx->uar_lock);
	free(ctx);
	return 0;
}

static struct mlx5_uar *page_of_next_qp(struct mlx5_context *ctx)
{
	struct mlx5_bfreg *bfreg;

	assert_int_equal(mlx5_uar_get_bfreg(ctx, &bfreg), 0);
	return bfreg->uar;
}

static uint64_t page_offset(uint64_t pages)
{
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void completion_queues_use_the_page_that_is_ready(void **state)
{
	struct mlx5_uar *uar;

	assert_int_equal(mlx5_uar_get_cq(*state, &uar), 0);
	assert_int_equal(uar->cq_flag, 0);
	assert_int_equal(uar->mmap_offset, page_offset(MLX5_IB_MMAP_NC_PAGE << 8));
}

static void registers_are_numbered_from_page_to_page(void **state)
{
	struct mlx5_uar *first = page_of_next_qp(*state), *same = page_of_next_qp(*state);
	struct mlx5_uar *second = page_of_next_qp(*state);

	assert_ptr_equal(first, same);
	assert_int_equal(first->qp_flag, MLX5_QP_FLAG_BFREG_INDEX);
	assert_int_equal(first->bfreg_index, 0);
	assert_int_equal(first->mmap_offset, page_offset(MLX5_IB_MMAP_ALLOC_WC << 8));
	assert_int_equal(second->bfreg_index, 2);
	assert_int_equal(second->mmap_offset, page_offset(MLX5_IB_MMAP_ALLOC_WC << 8 | 1));
}

static void page_256_has_its_number_in_two_parts(void **state)
{
	struct mlx5_context *ctx = *state;

	ctx->numbered_uars = 256;
	ctx->caps.num_dyn_bfregs = 1024;
	assert_int_equal(page_of_next_qp(ctx)->mmap_offset,
			 page_offset(1 << 16 | MLX5_IB_MMAP_ALLOC_WC << 8));
}

static void queue_pairs_go_to_the_ready_page_when_there_are_no_more(void **state)
{
	struct mlx5_uar *last;

	for (int i = 0; i < 4; i++)
		assert_int_equal(page_of_next_qp(*state)->qp_flag, MLX5_QP_FLAG_BFREG_INDEX);
	last = page_of_next_qp(*state);
	assert_int_equal(last->qp_flag, 0);
	assert_int_equal(last->mmap_offset, page_offset(MLX5_IB_MMAP_NC_PAGE << 8));
}

static void there_is_no_second_plain_page(void **state)
{
	struct mlx5_uar *uar;

	assert_int_equal(mlx5_uar_get_cq(*state, &uar), 0);
	assert_int_equal(mlx5_uar_get_plain(*state, &uar), EOPNOTSUPP);
}

static void no_register_is_numbered_beyond_the_limit(void **state)
{
	struct mlx5_context *ctx = *state;
	struct mlx5_uar *uar;

	ctx->caps.num_dyn_bfregs = 1; /* a page has two */
	assert_int_equal(mlx5_uar_page_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, &uar), ENOMEM);
	assert_int_equal(ctx->numbered_uars, 0);
	ctx->caps.num_dyn_bfregs = 2;
	assert_int_equal(mlx5_uar_page_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, &uar), 0);
	mlx5_uar_page_free(ctx, uar);
}

#define on_old_kernel(test) cmocka_unit_test_setup_teardown(test, new_context, free_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_old_kernel(completion_queues_use_the_page_that_is_ready),
		on_old_kernel(registers_are_numbered_from_page_to_page),
		on_old_kernel(page_256_has_its_number_in_two_parts),
		on_old_kernel(queue_pairs_go_to_the_ready_page_when_there_are_no_more),
		on_old_kernel(there_is_no_second_plain_page),
		on_old_kernel(no_register_is_numbered_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
