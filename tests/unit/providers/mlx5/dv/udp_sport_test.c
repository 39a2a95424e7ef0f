/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udp_sport_test.c - mlx5dv_modify_qp_udp_sport(): which QPs and adapters take a source port, and
 * the command that the device gets. Functions of the test stand for the device.
 *
 * Covers: providers/mlx5/dv/udp_sport.c
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
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"

enum { QPN = 0x1234, PORT = 0xc0de, REFUSED = EDOM };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	struct ibv_qp qp;
	int caps_error, command_error;
	unsigned int commands;
	uint8_t in[1024];
} it;

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len);

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	*caps = it.caps_error ? NULL : &it.caps;
	return it.caps_error;
}

int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len)
{
	assert_ptr_equal(qp, &it.qp);
	assert_true(in_len <= sizeof(it.in));
	memcpy(it.in, in, in_len);
	it.commands++;
	return it.command_error;
}

static int port_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.caps.changes_udp_port = true;
	it.qp = (struct ibv_qp){ .context = &it.ctx->vctx.context,
				 .qp_num = QPN,
				 .qp_type = IBV_QPT_RC,
				 .state = IBV_QPS_RTS };
	return 0;
}

static int port_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

static void a_port_goes_into_the_path(void **state)
{
	const uint8_t *qpc = fld_at(it.in, MODIFY_QP_IN_QPC);

	(void)state;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), 0);
	assert_int_equal(it.commands, 1);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_RTS2RTS_QP);
	assert_int_equal(fld_get(it.in, MODIFY_QP_IN_QPN), QPN);
	assert_int_equal(fld_get(it.in, MODIFY_QP_IN_OPT_PARAM_MASK_32), PRM_OPTPAR_32_UDP_SPORT);
	assert_int_equal(fld_get(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_UDP_SPORT)), PORT);
	it.command_error = REFUSED;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), REFUSED);
}

static void connected_qps_in_rts_have_a_port(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_qp_state state;
		bool is_taken;
	} rows[] = { { IBV_QPT_RC, IBV_QPS_RTS, true },
		     { IBV_QPT_UC, IBV_QPS_RTS, true },
		     { IBV_QPT_UD, IBV_QPS_RTS, false },
		     { IBV_QPT_XRC_SEND, IBV_QPS_RTS, false },
		     { IBV_QPT_RAW_PACKET, IBV_QPS_RTS, false },
		     { IBV_QPT_RC, IBV_QPS_RTR, false },
		     { IBV_QPT_UC, IBV_QPS_SQD, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		it.commands = 0;
		it.qp.qp_type = rows[i].type;
		it.qp.state = rows[i].state;
		assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT),
				 rows[i].is_taken ? 0 : EOPNOTSUPP);
		assert_int_equal(it.commands, rows[i].is_taken);
	}
}

static void an_adapter_may_keep_its_ports(void **state)
{
	(void)state;
	it.caps.changes_udp_port = false;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), EOPNOTSUPP);
	it.caps.changes_udp_port = true;
	it.caps_error = EOPNOTSUPP;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), EOPNOTSUPP);
	it.caps_error = REFUSED;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), REFUSED);
	it.caps_error = 0;
	it.device.driver = NULL;
	assert_int_equal(mlx5dv_modify_qp_udp_sport(&it.qp, PORT), EOPNOTSUPP);
	assert_int_equal(it.commands, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, port_begin, port_end)
	const struct CMUnitTest tests[] = {
		CASE(a_port_goes_into_the_path),
		CASE(connected_qps_in_rts_have_a_port),
		CASE(an_adapter_may_keep_its_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
