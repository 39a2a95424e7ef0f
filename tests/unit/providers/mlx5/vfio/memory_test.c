/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory_test.c - PDs and MRs of a device that a program drives by VFIO: the commands, what is
 * refused, and failures, which leave nothing behind. Functions of the test stand for the device and
 * for its address space.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/pd.h"
#include "providers/common/pd.h"
#include "providers/mlx5/vfio/vfio.h"
#include "tests/unit/heap.h"
#include "tests/unit/log_text.h"

enum { ADDR = 0x12345678, LENGTH = 0x3000, PDN = 0xabcdef, KEY = 0x1234 };

static struct {
	struct verbs_device device;
	struct vfio_context *ctx;
	int command_err, map_err;
	unsigned int commands;
	int objects, mappings;
	uint32_t count; /* pages of the next mapping */
	bool writable;
	uint64_t iova;
	uint8_t in[1024];
	uint32_t in_len;
} it;

int mlx5_vfio_cmdq_run(struct vfio_cmdq *queue, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	const uint32_t opcode = (uint32_t)fld_get(in, CMD_IN_OPCODE);

	assert_ptr_equal(queue, &it.ctx->cmdq);
	assert_int_equal(lane, VFIO_LANE_COMMANDS);
	assert_int_equal(outlen, PRM_CMD_OUT_SIZE);
	assert_null(is_answered);
	assert_true(inlen <= sizeof(it.in));
	memcpy(it.in, in, inlen);
	it.in_len = inlen;
	it.commands++;
	memset(out, 0, outlen);
	if (it.command_err)
		return it.command_err;
	it.objects += opcode == PRM_OP_ALLOC_PD || opcode == PRM_OP_CREATE_MKEY ? 1 : -1;
	if (opcode == PRM_OP_ALLOC_PD)
		fld_set(out, ALLOC_PD_OUT_PD, PDN);
	else if (opcode == PRM_OP_CREATE_MKEY)
		fld_set(out, CREATE_MKEY_OUT_MKEY_INDEX, KEY);
	return 0;
}

int mlx5_vfio_dma_map(struct vfio_space *space, const void *addr, uint64_t as, uint64_t length,
		      bool writable, struct vfio_dma *dma)
{
	assert_ptr_equal(space, &it.ctx->space);
	assert_int_equal((uintptr_t)addr, ADDR);
	assert_int_equal(length, LENGTH);
	it.iova = as;
	it.writable = writable;
	if (it.map_err)
		return it.map_err;
	dma->shape.count = it.count;
	dma->shape.log_page = 12;
	it.mappings++;
	return 0;
}

void mlx5_vfio_dma_free(struct vfio_space *space, struct vfio_dma *dma)
{
	assert_ptr_equal(space, &it.ctx->space);
	assert_int_equal(dma->shape.count, it.count);
	it.mappings--;
}

void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas)
{
	for (uint32_t i = 0; i < dma->shape.count; i++)
		((__be64 *)pas)[i] = htobe64(0x1000 * (i + 1));
}

static int memory_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&it, 0, sizeof(it));
	it.ctx = __real_calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	strcpy(it.device.device.name, "mlx5_0");
	it.ctx->vctx.context.device = &it.device.device;
	it.ctx->space.log_unit = 12;
	it.count = 3;
	log_text();
	return 0;
}

static int memory_end(void **state)
{
	(void)state;
	assert_int_equal(it.objects, 0);
	assert_int_equal(it.mappings, 0);
	assert_int_equal(heap.blocks, 0);
	__real_free(it.ctx);
	return 0;
}

static struct ibv_pd *pd_new(void)
{
	struct ibv_pd *pd = NULL;

	assert_int_equal(mlx5_vfio_ops.alloc_pd(&it.ctx->vctx.context, &pd), 0);
	return pd;
}

static void pd_free(struct ibv_pd *pd)
{
	assert_int_equal(mlx5_vfio_ops.dealloc_pd(pd), 0);
}

static int mr_new(struct ibv_pd *pd, uint64_t iova, unsigned int access, struct verbs_mr **mr)
{
	return mlx5_vfio_ops.reg_mr(pd, (void *)ADDR, LENGTH, iova, access, mr);
}

static void a_pd_is_one_command(void **state)
{
	struct ibv_pd *pd = pd_new();

	(void)state;
	assert_int_equal(it.in_len, PRM_CMD_IN_SIZE);
	assert_ptr_equal(pd->context, &it.ctx->vctx.context);
	assert_int_equal(pd->handle, PDN);
	assert_int_equal(to_ppd(pd)->pdn, PDN);
	it.command_err = EBUSY;
	assert_int_equal(mlx5_vfio_ops.dealloc_pd(pd), EBUSY);
	check_logged("ibv_dealloc_pd: PD 11259375 stays, is it in use? Device or resource busy");
	it.command_err = 0;
	pd_free(pd);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_DEALLOC_PD);
	assert_int_equal(fld_get(it.in, DEALLOC_PD_IN_PD), PDN);
	heap_fail_at(1);
	assert_int_equal(mlx5_vfio_ops.alloc_pd(&it.ctx->vctx.context, &pd), ENOMEM);
	it.command_err = EIO;
	assert_int_equal(mlx5_vfio_ops.alloc_pd(&it.ctx->vctx.context, &pd), EIO);
}

static void a_key_describes_its_memory(void **state)
{
	const uint64_t iova = 0x777000 + ADDR % 0x1000;
	struct ibv_pd *pd = pd_new();
	const uint8_t *mkc = fld_at(it.in, CREATE_MKEY_IN_MKC);
	struct verbs_mr *mr;

	(void)state;
	for (it.count = 2; it.count <= 5; it.count++) {
		const uint32_t octwords = it.count / 2 + it.count % 2;

		assert_int_equal(mr_new(pd, iova, IBV_ACCESS_LOCAL_WRITE, &mr), 0);
		assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_CREATE_MKEY);
		assert_int_equal(it.in_len, PRM_CREATE_MKEY_IN_SIZE + octwords * 16);
		assert_int_equal(fld_get(it.in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE),
				 octwords);
		assert_int_equal(fld_get(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE), octwords);
		assert_int_equal(fld_get(mkc, MKC_LOG_PAGE_SIZE), 12);
		assert_int_equal(fld_get(mkc, MKC_PD), PDN);
		assert_int_equal(fld_get(mkc, MKC_START_ADDR), iova);
		assert_int_equal(fld_get(mkc, MKC_LEN), LENGTH);
		assert_int_equal(fld_get(mkc, MKC_QPN), PRM_MKC_ANY_QP);
		assert_int_equal(fld_get(mkc, MKC_ACCESS_MODE_1_0), PRM_MKEY_MODE_MTT);
		assert_int_equal(fld_get(mkc, MKC_MKEY_7_0), 0x42);
		assert_int_equal(it.in[it.in_len - 16 + 6] << 8 | it.in[it.in_len - 16 + 7],
				 0x1000 * (octwords * 2 - 1));
		assert_int_equal(it.iova, iova);
		assert_int_equal(mr->mr.lkey, KEY << 8 | 0x42);
		assert_int_equal(mr->mr.rkey, KEY << 8 | 0x42);
		assert_int_equal(mr->mr.handle, KEY);
		assert_int_equal((uintptr_t)mr->mr.addr, ADDR);
		assert_int_equal(mr->mr.length, LENGTH);
		assert_ptr_equal(mr->mr.pd, pd);
		assert_ptr_equal(mr->mr.context, pd->context);
		assert_int_equal(mr->access, IBV_ACCESS_LOCAL_WRITE);
		assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), 0);
		assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_DESTROY_MKEY);
		assert_int_equal(fld_get(it.in, DESTROY_MKEY_IN_MKEY_INDEX), KEY);
	}
	it.count = 0;
	pd_free(pd);
}

static void each_access_has_its_bit(void **state)
{
	static const struct {
		unsigned int access;
		uint8_t bits; /* atomic, remote write, remote read, local write */
		bool writable;
	} rows[] = {
		{ 0, 0, false },
		{ IBV_ACCESS_REMOTE_READ, 2, false },
		{ IBV_ACCESS_LOCAL_WRITE, 1, true },
		{ IBV_ACCESS_REMOTE_WRITE, 4, true },
		{ IBV_ACCESS_REMOTE_ATOMIC, 8, true },
		{ IBV_ACCESS_REMOTE_READ | IBV_ACCESS_OPTIONAL_FIRST, 2, false },
	};
	struct ibv_pd *pd = pd_new();
	const uint8_t *mkc = fld_at(it.in, CREATE_MKEY_IN_MKC);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct verbs_mr *mr;

		assert_int_equal(mr_new(pd, ADDR, rows[i].access, &mr), 0);
		assert_int_equal(fld_get(mkc, MKC_A) << 3 | fld_get(mkc, MKC_RW) << 2 |
					 fld_get(mkc, MKC_RR) << 1 | fld_get(mkc, MKC_LW),
				 rows[i].bits);
		assert_int_equal(fld_get(mkc, MKC_LR), 1);
		assert_int_equal(it.writable, rows[i].writable);
		assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), 0);
	}
	pd_free(pd);
}

static void a_region_that_cannot_be_is_refused(void **state)
{
	struct ibv_pd *pd = pd_new();
	struct verbs_mr *mr;

	(void)state;
	it.commands = 0;
	assert_int_equal(mr_new(pd, ADDR, IBV_ACCESS_ON_DEMAND, &mr), EOPNOTSUPP);
	check_logged("ibv_reg_mr: access is 0x40, known by VFIO are 0xf");
	assert_int_equal(mlx5_vfio_ops.reg_mr(pd, (void *)ADDR, 0, ADDR, 0, &mr), EINVAL);
	check_logged("ibv_reg_mr: length is 0");
	assert_int_equal(mr_new(pd, UINT64_MAX - LENGTH + 1, 0, &mr), EINVAL);
	check_logged("ibv_reg_mr: length is 12288");
	assert_int_equal(mr_new(pd, ADDR + 1, 0, &mr), EOPNOTSUPP);
	check_logged("ibv_reg_mr: iova is 0x12345679, must differ from addr by pages of 2^12");
	assert_int_equal(it.commands, 0);
	pd_free(pd);
}

static void a_region_that_fails_leaves_nothing(void **state)
{
	struct ibv_pd *pd = pd_new();
	struct verbs_mr *mr;

	(void)state;
	for (unsigned int n = 1; n <= 2; n++) {
		heap_fail_at(n);
		assert_int_equal(mr_new(pd, ADDR, 0, &mr), ENOMEM);
		assert_int_equal(it.mappings, 0);
	}
	it.map_err = EFAULT;
	assert_int_equal(mr_new(pd, ADDR, 0, &mr), EFAULT);
	it.map_err = 0;
	it.command_err = EIO;
	assert_int_equal(mr_new(pd, ADDR, 0, &mr), EIO);
	assert_int_equal(it.mappings, 0);
	it.command_err = 0;
	assert_int_equal(mr_new(pd, ADDR, 0, &mr), 0);
	it.command_err = EBUSY;
	assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), EBUSY);
	check_logged("ibv_dereg_mr: key 0x123442 stays: Device or resource busy");
	assert_int_equal(it.mappings, 1);
	it.command_err = 0;
	assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), 0);
	pd_free(pd);
}

static void a_lost_adapter_leaves_the_host_part(void **state)
{
	struct ibv_pd *pd = pd_new();
	struct verbs_mr *mr;

	(void)state;
	assert_int_equal(mr_new(pd, ADDR, 0, &mr), 0);
	it.command_err = EIO;
	assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), EIO); /* not yet */
	assert_int_equal(it.mappings, 1);
	it.ctx->cmdq.state = VFIO_CMDQ_DEAD;
	assert_int_equal(mlx5_vfio_ops.dereg_mr(mr), 0);
	assert_int_equal(it.mappings, 0);
	assert_int_equal(mlx5_vfio_ops.dealloc_pd(pd), 0);
	it.objects = 0;
}

static void other_calls_are_refused(void **state)
{
	struct ibv_pd pd = { .context = &it.ctx->vctx.context };
	struct ibv_port_attr attr;

	(void)state;
	assert_int_equal(mlx5_vfio_ops.query_port(pd.context, 1, &attr, sizeof(attr)), EOPNOTSUPP);
	check_logged("ibv_query_port: mlx5_0: not supported by VFIO");
	assert_int_equal(mlx5_vfio_ops.advise_mr(&pd, 0, 0, NULL, 0), EOPNOTSUPP);
	check_logged("ibv_advise_mr: mlx5_0: not supported by VFIO");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, memory_begin, memory_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pd_is_one_command),
		TEST(a_key_describes_its_memory),
		TEST(each_access_has_its_bit),
		TEST(a_region_that_cannot_be_is_refused),
		TEST(a_region_that_fails_leaves_nothing),
		TEST(a_lost_adapter_leaves_the_host_part),
		TEST(other_calls_are_refused),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
