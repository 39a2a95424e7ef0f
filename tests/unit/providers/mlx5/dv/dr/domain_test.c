/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * domain_test.c - domains of direct rules: the types and ports that have one, a domain in use, its
 * flags, and the kernel's table of each type. The port is the test's.
 *
 * Covers: providers/mlx5/dv/dr/domain.c
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
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dr/dr.h"

enum { REFUSED = EDOM };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	uint8_t link;
	int port_error;
	bool writes_entries;
	unsigned int format;
} it;

/* Stands for the adapter: its page of flow tables has what the test says. */
int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len)
{
	uint8_t *page = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);

	assert_ptr_equal(ctx, it.ctx);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_HCA_CAP);
	assert_int_equal(in_len, PRM_CMD_IN_SIZE);
	memset(out, 0, out_len);
	if (fld_get(in, CMD_IN_OP_MOD) >> 1 == PRM_CAP_FLOW_TABLE) {
		fld_set(fld_at(page, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
			FT_PROP_SW_OWNER_V2, it.writes_entries);
	} else {
		fld_set(page, HCA_CAP_STEERING_FORMAT_VERSION, it.format);
		fld_set(page, HCA_CAP_FL_RC_QP_WHEN_ROCE_DISABLED, 1);
	}
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(port, 1);
	memset(attr, 0, size);
	attr->link_layer = it.link;
	return it.port_error;
}

static int domain_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.link = IBV_LINK_LAYER_ETHERNET;
	it.format = PRM_STEERING_V1;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.ctx->vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	it.ctx->vctx.sz = sizeof(it.ctx->vctx);
	it.ctx->vctx.query_port = query_port;
	return 0;
}

static int domain_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

static struct mlx5dv_dr_domain *domain_of(int type)
{
	errno = 0;
	return mlx5dv_dr_domain_create(&it.ctx->vctx.context, (enum mlx5dv_dr_domain_type)type);
}

static void expect_refused(int type, int error)
{
	assert_null(domain_of(type));
	assert_int_equal(errno, error);
}

static void each_type_has_its_table(void **state)
{
	static const enum mlx5dv_flow_table_type tables[] = {
		[MLX5DV_DR_DOMAIN_TYPE_NIC_RX] = MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
		[MLX5DV_DR_DOMAIN_TYPE_NIC_TX] = MLX5DV_FLOW_TABLE_TYPE_NIC_TX,
		[MLX5DV_DR_DOMAIN_TYPE_FDB] = MLX5DV_FLOW_TABLE_TYPE_FDB,
	};

	(void)state;
	for (int type = 0; type < 3; type++) {
		struct mlx5dv_dr_domain *domain = domain_of(type);

		assert_non_null(domain);
		assert_ptr_equal(domain->context, &it.ctx->vctx.context);
		assert_int_equal(domain->type, type);
		assert_true(TAILQ_EMPTY(&domain->tables));
		assert_ptr_equal(domain->tables.tqh_last, &domain->tables.tqh_first);
		assert_int_equal(mlx5_dr_table_type(domain), tables[type]);
		assert_int_equal(mlx5dv_dr_domain_sync(domain, 3), EOPNOTSUPP);
		assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
	}
}

static void only_written_entries_need_a_sync(void **state)
{
	struct mlx5dv_dr_domain *domain = domain_of(0);

	(void)state;
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 0), EOPNOTSUPP);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
	it.writes_entries = true;
	domain = domain_of(0);
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 0), 0);
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 7), 0);
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 8), EOPNOTSUPP);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
	domain = domain_of(1); /* of the other side, whose page says no */
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 3), EOPNOTSUPP);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
}

/* Until tables of these are supported, they are domains with root tables alone. */
static void entries_of_other_formats_need_no_sync(void **state)
{
	struct mlx5dv_dr_domain *domain = domain_of(0);

	(void)state;
	it.writes_entries = true;
	it.format = PRM_STEERING_V1 + 1;
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 3), EOPNOTSUPP);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
	it.format = PRM_STEERING_V1;
	domain = domain_of(0);
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 3), 0);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
	domain = domain_of(2);
	assert_int_equal(mlx5dv_dr_domain_sync(domain, 3), EOPNOTSUPP);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
}

static void rules_need_ethernet(void **state)
{
	(void)state;
	expect_refused(3, EINVAL);
	expect_refused(-1, EINVAL);
	it.link = IBV_LINK_LAYER_INFINIBAND;
	expect_refused(0, EOPNOTSUPP);
	it.port_error = REFUSED;
	expect_refused(2, REFUSED);
	it.port_error = 0;
	it.link = IBV_LINK_LAYER_ETHERNET;
	it.device.driver = NULL;
	expect_refused(0, EOPNOTSUPP);
}

static void a_domain_in_use_stays(void **state)
{
	struct mlx5dv_dr_domain *domain = domain_of(0);

	(void)state;
	domain->users = 1;
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), EBUSY);
	domain->users = 0;
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
}

static void flags_are_kept_apart(void **state)
{
	struct mlx5dv_dr_domain *domain = domain_of(0);

	(void)state;
	assert_int_equal(domain->flags, 0);
	mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
	assert_int_equal(domain->flags, DR_RECLAIMS_MEMORY);
	mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
	assert_int_equal(domain->flags, DR_RECLAIMS_MEMORY | DR_REFUSES_DUPLICATES);
	mlx5dv_dr_domain_set_reclaim_device_memory(domain, false);
	assert_int_equal(domain->flags, DR_REFUSES_DUPLICATES);
	mlx5dv_dr_domain_allow_duplicate_rules(domain, true);
	assert_int_equal(domain->flags, 0);
	assert_int_equal(mlx5dv_dr_domain_destroy(domain), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, domain_begin, domain_end)
	const struct CMUnitTest tests[] = {
		CASE(each_type_has_its_table), CASE(only_written_entries_need_a_sync),
		CASE(rules_need_ethernet),     CASE(a_domain_in_use_stays),
		CASE(flags_are_kept_apart),    CASE(entries_of_other_formats_need_no_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
