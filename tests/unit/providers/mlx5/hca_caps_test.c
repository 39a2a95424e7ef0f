/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_caps_test.c - what the library learns of a device page by page: which pages it asks for and
 * when, and what it makes of one that is refused.
 *
 * A function of the test stands for the device, which announces all pages.
 *
 * Covers: providers/mlx5/hca_caps.c, providers/mlx5/devx_cmd.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/hca_caps.h"

enum { PAGES = 64 };

static struct {
	unsigned int asked[PAGES];
	int refused[PAGES]; /* errno */
	bool has_nothing_more;
} device;

static void page_fill(unsigned int page, uint8_t *cap)
{
	if (page == PRM_CAP_GENERAL && !device.has_nothing_more) {
		fld_set(cap, HCA_CAP_PG, 1);
		fld_set(cap, HCA_CAP_QOS, 1);
		fld_set(cap, HCA_CAP_QP_DATA_IN_ORDER, 1);
		fld_set(cap, HCA_CAP_HCA_CAP_2, 1);
		fld_set(cap, HCA_CAP_CRYPTO, 1);
		fld_set(cap, HCA_CAP_AES_XTS_MULTI_BLOCK_BE_TWEAK, 1);
	} else if (page == PRM_CAP_ODP) {
		fld_set(fld_at(cap, ODP_CAP_DC), ODP_READ, 1);
	} else if (page == PRM_CAP_QOS) {
		fld_set(cap, QOS_CAP_NIC_BW_SHARE, 1);
	} else if (page == PRM_CAP_GENERAL_2) {
		fld_set(cap, HCA_CAP_2_LOG_RESERVED_QPN_GRANULARITY, 5);
	} else if (page == PRM_CAP_CRYPTO) {
		fld_set(cap, CRYPTO_CAP_LOG_MAX_NUM_DEKS, 9);
	}
}

int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs)
{
	const uint8_t *in = (const uint8_t *)(uintptr_t)attrs[0].value;
	uint8_t *out = (uint8_t *)(uintptr_t)attrs[1].value;
	unsigned int page = (unsigned int)fld_get(in, CMD_IN_OP_MOD) >> 1;

	(void)context;
	(void)object;
	(void)method;
	assert_int_equal(nattrs, 2);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_HCA_CAP);
	assert_true(page < PAGES);
	device.asked[page]++;
	if (device.refused[page])
		return device.refused[page];
	page_fill(page, fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY));
	return 0;
}

static const struct mlx5_hca_caps *caps_of(struct mlx5_context *ctx, enum prm_cap page)
{
	const struct mlx5_hca_caps *caps;

	assert_int_equal(mlx5_hca_caps_get_with(ctx, page, &caps), 0);
	return caps;
}

static int context_open(void **state)
{
	static struct ibv_device ibdev = { .name = "mlx5_9" };
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(ctx);
	memset(&device, 0, sizeof(device));
	ctx->vctx.context.device = &ibdev;
	mlx5_hca_caps_init(&ctx->hca_caps);
	*state = ctx;
	return 0;
}

static int context_close(void **state)
{
	struct mlx5_context *ctx = *state;

	mlx5_hca_caps_destroy(&ctx->hca_caps);
	free(ctx);
	return 0;
}

static void each_page_is_asked_for_once_when_it_is_needed(void **state)
{
	const struct mlx5_hca_caps *caps;

	assert_int_equal(mlx5_hca_caps_get(*state, &caps), 0);
	assert_true(caps->encrypts && caps->writes_in_order);
	assert_int_equal(device.asked[PRM_CAP_QOS] + device.asked[PRM_CAP_CRYPTO], 0);
	for (int i = 0; i < 2; i++) {
		assert_true(caps_of(*state, PRM_CAP_QOS)->shares_bandwidth);
		assert_int_equal(caps_of(*state, PRM_CAP_ODP)->dc_odp, IBV_ODP_SUPPORT_READ);
		assert_int_equal(caps_of(*state, PRM_CAP_GENERAL_2)->log_reserved_qpns, 5);
		assert_int_equal(caps_of(*state, PRM_CAP_CRYPTO)->log_deks, 9);
	}
	for (unsigned int page = 0; page < PAGES; page++)
		assert_true(device.asked[page] <= 1);
}

/* Refuses each page in turn; the others must still be valid. */
static void a_refused_page_takes_no_other_with_it(void **state)
{
	static const enum prm_cap pages[] = { PRM_CAP_ODP, PRM_CAP_QOS, PRM_CAP_GENERAL_2,
					      PRM_CAP_CRYPTO };
	const struct mlx5_hca_caps *caps;

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		context_close(state);
		context_open(state);
		device.refused[pages[i]] = EREMOTEIO;
		assert_int_equal(mlx5_hca_caps_get_with(*state, pages[i], &caps), EREMOTEIO);
		assert_int_equal(mlx5_hca_caps_get(*state, &caps), 0);
		assert_true(caps->encrypts);
		for (size_t k = 0; k < ARRAY_SIZE(pages); k++)
			assert_int_equal(mlx5_hca_caps_get_with(*state, pages[k], &caps),
					 k == i ? EREMOTEIO : 0);
		assert_int_equal(device.asked[PRM_CAP_GENERAL], 1);
	}
}

static void what_was_refused_is_asked_for_again(void **state)
{
	const struct mlx5_hca_caps *caps;

	device.refused[PRM_CAP_GENERAL] = ENOMEM;
	assert_int_equal(mlx5_hca_caps_get_with(*state, PRM_CAP_QOS, &caps), ENOMEM);
	device.refused[PRM_CAP_GENERAL] = 0;
	device.refused[PRM_CAP_QOS] = ENOMEM;
	assert_int_equal(mlx5_hca_caps_get_with(*state, PRM_CAP_QOS, &caps), ENOMEM);
	device.refused[PRM_CAP_QOS] = 0;
	assert_true(caps_of(*state, PRM_CAP_QOS)->shares_bandwidth);
}

static void what_is_not_announced_is_not_asked_for(void **state)
{
	device.has_nothing_more = true;
	assert_false(caps_of(*state, PRM_CAP_QOS)->shares_bandwidth);
	assert_int_equal(caps_of(*state, PRM_CAP_ODP)->dc_odp, 0);
	assert_int_equal(caps_of(*state, PRM_CAP_CRYPTO)->log_deks, 0);
	assert_int_equal(device.asked[PRM_CAP_QOS] + device.asked[PRM_CAP_ODP] +
				 device.asked[PRM_CAP_CRYPTO],
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_page_is_asked_for_once_when_it_is_needed,
						context_open, context_close),
		cmocka_unit_test_setup_teardown(a_refused_page_takes_no_other_with_it, context_open,
						context_close),
		cmocka_unit_test_setup_teardown(what_was_refused_is_asked_for_again, context_open,
						context_close),
		cmocka_unit_test_setup_teardown(what_is_not_announced_is_not_asked_for,
						context_open, context_close),
	};

	return cmocka_run_group_tests_name("hca_caps", tests, NULL, NULL);
}
