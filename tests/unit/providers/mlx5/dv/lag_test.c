/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_test.c - mlx5dv_query_qp_lag_port() and mlx5dv_modify_qp_lag_port() on bonds of up to four
 * ports, of which the device tells for two which port stands for them. Functions of the test stand
 * for the device.
 *
 * Covers: providers/mlx5/dv/lag.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/lag.h"
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"

enum { QPN = 0x1234, UNTOUCHED = 0x77 };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	struct ibv_qp qp;
	uint8_t port, stands_for_1, stands_for_2;
	bool is_bonded;
	unsigned int changes;
	uint8_t in[1024];
} it;

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len);
int __wrap_mlx5_devx_qp_query(struct ibv_qp *qp, const void *in, size_t in_len, void *out,
			      size_t out_len);
int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len);

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	*caps = &it.caps;
	return 0;
}

int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len)
{
	uint8_t *lag = fld_at(out, QUERY_LAG_OUT_CTX);

	assert_ptr_equal(ctx, it.ctx);
	assert_true(in_len >= PRM_CMD_IN_SIZE && out_len >= PRM_QUERY_LAG_OUT_SIZE);
	assert_int_equal(fld_get((const uint8_t *)in, CMD_IN_OPCODE), PRM_OP_QUERY_LAG);
	fld_set(lag, LAGC_LAG_STATE, it.is_bonded);
	fld_set(lag, LAGC_TX_REMAP_AFFINITY_1, it.stands_for_1);
	fld_set(lag, LAGC_TX_REMAP_AFFINITY_2, it.stands_for_2);
	return 0;
}

int __wrap_mlx5_devx_qp_query(struct ibv_qp *qp, const void *in, size_t in_len, void *out,
			      size_t out_len)
{
	assert_ptr_equal(qp, &it.qp);
	assert_true(in_len >= PRM_CMD_IN_SIZE && out_len >= PRM_QUERY_QP_OUT_SIZE);
	assert_int_equal(fld_get((const uint8_t *)in, QUERY_QP_IN_QPN), QPN);
	fld_set(fld_at(out, QUERY_QP_OUT_QPC), QPC_LAG_TX_PORT_AFFINITY, it.port);
	return 0;
}

int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len)
{
	assert_ptr_equal(qp, &it.qp);
	assert_true(in_len <= sizeof(it.in));
	memcpy(it.in, in, in_len);
	it.changes++;
	return 0;
}

static int bond_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.caps = (struct mlx5_hca_caps){ .lag_ports = 4,
					  .lag_chooses_port = true,
					  .lag_changes_qp = true };
	it.stands_for_1 = 1;
	it.stands_for_2 = 2;
	it.is_bonded = true;
	it.qp = (struct ibv_qp){ .context = &it.ctx->vctx.context,
				 .qp_num = QPN,
				 .qp_type = IBV_QPT_RC,
				 .state = IBV_QPS_RTS };
	return 0;
}

static int bond_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

static void the_first_two_ports_have_one_that_stands_for_them(void **state)
{
	uint8_t port = 0, active = 0;

	(void)state;
	it.port = 1;
	it.stands_for_1 = 2;
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), 0);
	assert_int_equal(port, 1);
	assert_int_equal(active, 2);
	it.port = 2;
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), 0);
	assert_int_equal(port, 2);
	assert_int_equal(active, 2);
	it.stands_for_2 = 1;
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), 0);
	assert_int_equal(active, 1);
}

/* They would be said to send on what stands for the second port. */
static void of_ports_3_and_4_the_device_does_not_tell(void **state)
{
	uint8_t port, active = UNTOUCHED;

	(void)state;
	for (it.port = 3; it.port <= 4; it.port++) {
		assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), EOPNOTSUPP);
		assert_int_equal(active, UNTOUCHED);
	}
}

static void a_qp_may_go_to_any_port(void **state)
{
	const uint8_t *qpc = fld_at(it.in, MODIFY_QP_IN_QPC);

	(void)state;
	it.port = 4;
	for (uint8_t to = 1; to <= 4; to++) {
		assert_int_equal(mlx5dv_modify_qp_lag_port(&it.qp, to), 0);
		assert_int_equal(it.changes, to);
		assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_RTS2RTS_QP);
		assert_int_equal(fld_get(it.in, MODIFY_QP_IN_OPT_PARAM_MASK),
				 PRM_OPTPAR_LAG_TX_AFF);
		assert_int_equal(fld_get(qpc, QPC_LAG_TX_PORT_AFFINITY), to);
	}
}

static void without_a_bond_nothing_is_changed(void **state)
{
	uint8_t port, active;

	(void)state;
	it.port = 1;
	it.is_bonded = false;
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), EOPNOTSUPP);
	assert_int_equal(mlx5dv_modify_qp_lag_port(&it.qp, 2), EOPNOTSUPP);
	it.is_bonded = true;
	it.port = 0; /* there is none to report, as the device has given it none */
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), EOPNOTSUPP);
	it.port = 1;
	it.qp.state = IBV_QPS_RTR;
	assert_int_equal(mlx5dv_modify_qp_lag_port(&it.qp, 2), EOPNOTSUPP);
	it.caps.lag_ports = 0;
	assert_int_equal(mlx5dv_query_qp_lag_port(&it.qp, &port, &active), EOPNOTSUPP);
	assert_int_equal(it.changes, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, bond_begin, bond_end)
	const struct CMUnitTest tests[] = {
		CASE(the_first_two_ports_have_one_that_stands_for_them),
		CASE(of_ports_3_and_4_the_device_does_not_tell),
		CASE(a_qp_may_go_to_any_port),
		CASE(without_a_bond_nothing_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
