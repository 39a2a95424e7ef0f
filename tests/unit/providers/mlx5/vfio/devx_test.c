/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_test.c - which umems a context of VFIO makes: rights and page sizes; and what is left of
 * objects when the adapter is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "prm/mlx5/cmd.h"
#include "providers/mlx5/vfio/vfio.h"
#include "util/bits.h"

#include "guarded.h"

enum { LOG_PAGE = 14, ID = 7 };

static unsigned int commands, mapped;

static int command_err;

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	(void)cmdq;
	(void)lane;
	(void)in;
	(void)inlen;
	memset(out, 0, outlen);
	fld_set(out, FLD(0x8, 31, 0), ID);
	*is_answered = !command_err;
	commands++;
	return command_err;
}

int mlx5_vfio_dma_map(struct vfio_space *space, const void *addr, uint64_t as, uint64_t length,
		      bool writable, struct vfio_dma *dma)
{
	(void)space;
	(void)addr;
	(void)as;
	(void)writable;
	*dma = (struct vfio_dma){ .shape = { .length = length, .log_page = LOG_PAGE, .count = 1 } };
	mapped++;
	return 0;
}

void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas)
{
	(void)pas;
	assert_int_equal(dma->shape.count, 1);
}

int mlx5_vfio_uar_number_alloc(struct vfio_cmdq *cmdq, uint64_t bar_size, uint32_t *uar)
{
	(void)cmdq;
	(void)bar_size;
	(void)uar;
	return EIO;
}

int mlx5_vfio_uar_number_dealloc(struct vfio_cmdq *cmdq, uint32_t uar)
{
	(void)cmdq;
	(void)uar;
	return EIO;
}

static int reg(uint64_t comp_mask, uint32_t access, uint64_t pages)
{
	static struct vfio_context ctx;
	static uint8_t memory[64];
	const struct mlx5dv_devx_umem_in req = { .addr = memory,
						 .size = sizeof(memory),
						 .access = access,
						 .pgsz_bitmap = pages,
						 .comp_mask = comp_mask };
	struct mlx5dv_devx_umem *umem;

	commands = mapped = 0;
	umem = mlx5_vfio_umem_reg("mlx5dv_devx_umem_reg_ex", &ctx.vctx.context, &req);
	if (!umem) {
		assert_int_equal(commands, 0);
		return errno;
	}
	assert_int_equal(umem->umem_id, ID);
	assert_int_equal(mlx5_vfio_umem_dereg((struct devx_umem *)umem), 0);
	return 0;
}

static void a_lost_adapter_leaves_the_host_part(void **state)
{
	static struct vfio_context ctx;
	static uint8_t memory[64];
	const struct mlx5dv_devx_umem_in req = { .addr = memory,
						 .size = sizeof(memory),
						 .pgsz_bitmap = UINT64_MAX };
	struct mlx5dv_devx_umem *umem = mlx5_vfio_umem_reg("test", &ctx.vctx.context, &req);
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	struct mlx5dv_devx_obj *obj;

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PD);
	obj = mlx5_vfio_obj_create(&ctx.vctx.context, in, sizeof(in), out, sizeof(out));
	assert_true(umem && obj);
	command_err = EIO;
	assert_int_equal(mlx5_vfio_umem_dereg((struct devx_umem *)umem), EIO); /* not yet */
	assert_int_equal(mlx5_vfio_obj_destroy(obj), EIO);
	ctx.cmdq.state = VFIO_CMDQ_DEAD;
	assert_int_equal(mlx5_vfio_umem_dereg((struct devx_umem *)umem), 0);
	assert_int_equal(mlx5_vfio_obj_destroy(obj), 0);
	ctx.cmdq.state = VFIO_CMDQ_ALIVE;
	command_err = 0;
}

static void rights_are_checked(void **state)
{
	const uint64_t any = UINT64_MAX;

	(void)state;
	assert_int_equal(reg(0, 0, any), 0);
	assert_int_equal(reg(0, IBV_ACCESS_REMOTE_READ, any), 0);
	assert_int_equal(reg(0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, any), 0);
	assert_int_equal(reg(0, IBV_ACCESS_REMOTE_WRITE, any), EINVAL);
	assert_int_equal(reg(0, IBV_ACCESS_REMOTE_ATOMIC, any), EOPNOTSUPP);
	assert_int_equal(reg(MLX5DV_UMEM_MASK_DMABUF, 0, any), EOPNOTSUPP);
	assert_int_equal(mapped, 0);
}

static void the_page_must_be_allowed(void **state)
{
	(void)state;
	assert_int_equal(reg(0, 0, 1 << LOG_PAGE), 0);
	assert_int_equal(reg(0, 0, ~(UINT64_C(1) << LOG_PAGE)), EOPNOTSUPP);
	assert_int_equal(reg(0, 0, 0), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_adapter_leaves_the_host_part),
		cmocka_unit_test(rights_are_checked),
		cmocka_unit_test(the_page_must_be_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
