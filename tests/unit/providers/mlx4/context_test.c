/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context_test.c - opening a device under both versions of the kernel's interface; the older one
 * lacks the size of CQEs, which is 32 bytes then. A file of two pages stands for the device.
 *
 * Covers: providers/mlx4/context.c, providers/mlx4/device.c, providers/common/context.h
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#include "providers/mlx4/device.h"

#include <string.h>

#include "prm/mlx4/cqe.h"
#include "util/bits.h"
#include "util/mmio.h"

enum { OLD = 3, NEW = 4 };

static struct mlx4_ib_alloc_ucontext_resp answer; /* the newer version's response */
static size_t answer_size;

int verbs_cmd_get_context(struct verbs_context *vctx, const struct verbs_udata *udata)
{
	const struct mlx4_ib_alloc_ucontext_resp_v3 old = {
		.qp_tab_size = answer.qp_tab_size,
		.bf_reg_size = answer.bf_reg_size,
		.bf_regs_per_page = answer.bf_regs_per_page,
	};

	(void)vctx;
	answer_size = udata->resp_len;
	if (udata->resp_len == sizeof(old))
		memcpy(udata->resp, &old, sizeof(old));
	else
		memcpy(udata->resp, &answer, udata->resp_len);
	return 0;
}

static int device_file(void)
{
	int fd = memfd_create("mlx4", 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * sysconf(_SC_PAGESIZE)), 0);
	return fd;
}

static int open_device(uint32_t abi, int fd, struct verbs_context **vctx)
{
	static struct verbs_device device = { .device = { .name = "mlx4_0" } };

	device.info.abi_version = abi;
	return mlx4_context_alloc(&device, fd, vctx);
}

static uint32_t entry_log_of(struct verbs_context *vctx)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 7 };
	struct mlx4_context *ctx = to_mctx(&vctx->context);
	struct verbs_cq *vcq;
	uint32_t log;

	ctx->common.device.known = true;
	ctx->common.device.attr.max_cqe = 1024;
	assert_int_equal(mlx4_cq_create(&vctx->context, &attr, &vcq), 0);
	log = to_mcq(&vcq->cq)->entry_log;
	assert_int_equal(mlx4_cq_destroy(&vcq->cq), 0);
	return log;
}

static void cqes_are_as_large_as_the_kernel_says(void **state)
{
	static const struct {
		uint32_t abi, cqe_size, entry_log;
		size_t answer_size;
	} cases[] = {
		{ OLD, 0, 5, sizeof(struct mlx4_ib_alloc_ucontext_resp_v3) },
		{ OLD, 64, 5, sizeof(struct mlx4_ib_alloc_ucontext_resp_v3) },
		{ NEW, 32, 5, sizeof(answer) },
		{ NEW, 64, 6, sizeof(answer) },
		{ NEW, 128, 7, sizeof(answer) },
		{ NEW, 256, 8, sizeof(answer) },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct verbs_context *vctx;
		int fd = device_file();

		answer = (struct mlx4_ib_alloc_ucontext_resp){ .bf_reg_size = RIG_BF_REG,
							       .bf_regs_per_page = 8,
							       .cqe_size = cases[i].cqe_size };
		assert_int_equal(open_device(cases[i].abi, fd, &vctx), 0);
		assert_int_equal(answer_size, cases[i].answer_size);
		assert_int_equal(to_mctx(&vctx->context)->bf.half,
				 MMIO_STORES_64 ? RIG_BF_REG / 2 : 0);
		assert_int_equal(entry_log_of(vctx), cases[i].entry_log);
		mlx4_context_free(vctx);
	}
}

static void other_cqes_are_not_known(void **state)
{
	static const uint32_t sizes[] = { 0, 16, 96, 512 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct verbs_context *vctx;
		int fd = device_file();

		answer = (struct mlx4_ib_alloc_ucontext_resp){ .cqe_size = sizes[i] };
		assert_int_equal(open_device(NEW, fd, &vctx), ENOTSUP);
	}
}

/* An adapter without BlueFlame has no such page, so the library does not map one. */
static void adapter_without_blueflame_has_one_page(void **state)
{
	struct verbs_context *vctx;
	int fd = device_file();

	(void)state;
	answer = (struct mlx4_ib_alloc_ucontext_resp){ .cqe_size = 64 };
	assert_int_equal(open_device(NEW, fd, &vctx), 0);
	assert_null(to_mctx(&vctx->context)->bf.page);
	assert_int_equal(to_mctx(&vctx->context)->bf.half, 0);
	mlx4_context_free(vctx);
}

int __wrap_provider_device_query(struct device_facts *facts, struct ibv_device_attr_ex *attr,
				 size_t attr_size);

static const struct device_facts *asked_facts;

int __wrap_provider_device_query(struct device_facts *facts, struct ibv_device_attr_ex *attr,
				 size_t attr_size)
{
	asked_facts = facts;
	attr->max_dm_size = attr_size;
	return EDOM;
}

static void a_query_is_answered_by_the_cache(void **state)
{
	struct ibv_device_attr_ex attr = { 0 };
	struct verbs_context *vctx;

	(void)state;
	answer = (struct mlx4_ib_alloc_ucontext_resp){ .cqe_size = 64 };
	assert_int_equal(open_device(NEW, device_file(), &vctx), 0);
	assert_int_equal(mlx4_device_query_ex(&vctx->context, NULL, &attr, 77), EDOM);
	assert_int_equal(attr.max_dm_size, 77);
	assert_ptr_equal(asked_facts, &to_mctx(&vctx->context)->common.device);
	mlx4_context_free(vctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cqes_are_as_large_as_the_kernel_says),
		cmocka_unit_test(other_cqes_are_not_known),
		cmocka_unit_test(adapter_without_blueflame_has_one_page),
		cmocka_unit_test(a_query_is_answered_by_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
