/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah_test.c - the UDP source port of RoCE v2 datagrams, by which a fabric chooses among paths:
 * address handles without and with a flow label.
 *
 * Functions of the test stand for the kernel: the port is Ethernet, its GIDs are of one type.
 *
 * Covers: providers/mlx5/ah/ah.c, providers/mlx5/ah/av.c
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

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/context.h"

enum { HANDLES = 256, PORT_MIN = 0xc000 };

static enum ibv_gid_type gid_type;

int provider_device_port_traits(struct device_facts *facts, uint8_t port_num, uint8_t *traits)
{
	(void)facts;
	(void)port_num;
	*traits = PORT_KNOWN | PORT_ETHERNET;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	(void)context;
	(void)flags;
	memset(entry, 0, entry_size);
	entry->port_num = port_num;
	entry->gid_index = gid_index;
	entry->gid_type = gid_type;
	return 0;
}

int verbs_cmd_create_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr, struct ibv_ah *ah,
			const struct verbs_udata *udata)
{
	(void)attr;
	(void)udata;
	ah->pd = pd;
	return 0;
}

int verbs_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return 0;
}

static struct mlx5_context *new_context(void)
{
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(ctx);
	ctx->caps.num_ports = 1;
	ctx->caps.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	gid_type = IBV_GID_TYPE_ROCE_V2;
	return ctx;
}

static void context_end(struct mlx5_context *ctx)
{
	provider_cells_destroy(&ctx->common.cells);
	free(ctx);
}

/* Returns the source port of a new address handle; all handles have the same destination. */
static uint16_t port_of_new(struct mlx5_context *ctx, uint32_t flow_label)
{
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };
	struct ibv_pd pd = { .context = &ctx->vctx.context };
	struct ibv_ah *ah;
	uint16_t port;

	attr.grh.flow_label = flow_label;
	assert_int_equal(mlx5_ah_create(&pd, &attr, &ah), 0);
	port = be16toh(to_mah(ah)->av.rlid);
	assert_int_equal(mlx5_ah_destroy(ah), 0);
	return port;
}

static unsigned int count_values(const uint16_t *ports, unsigned int mask)
{
	unsigned int count = 0;

	for (int i = 0; i < HANDLES; i++) {
		int other = 0;

		while (other < i && ((ports[other] ^ ports[i]) & mask))
			other++;
		count += other == i;
	}
	return count;
}

/* Ports of successive handles differ in all bits, so that they spread whichever bits a switch
 * hashes. */
static void handles_without_a_label_have_ports_of_their_own(void **state)
{
	struct mlx5_context *ctx = new_context();
	uint16_t ports[HANDLES];

	(void)state;
	for (int i = 0; i < HANDLES; i++) {
		ports[i] = port_of_new(ctx, 0);
		assert_true(ports[i] >= PORT_MIN);
	}
	assert_int_equal(count_values(ports, 0xffff), HANDLES);
	assert_int_equal(count_values(ports, 0x000f), 16);
	assert_int_equal(count_values(ports, 0x3c00), 16);
	context_end(ctx);
}

static void all_ports_are_used_before_one_is_used_again(void **state)
{
	static bool used[0x10000 - PORT_MIN];
	struct mlx5_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		uint16_t port = port_of_new(ctx, 0);

		assert_true(port >= PORT_MIN);
		assert_false(used[port - PORT_MIN]);
		used[port - PORT_MIN] = true;
	}
	context_end(ctx);
}

static void contexts_begin_with_different_ports(void **state)
{
	struct mlx5_context *ctx[8];
	unsigned int same = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ctx); i++)
		ctx[i] = new_context();
	for (size_t i = 1; i < ARRAY_SIZE(ctx); i++)
		same += port_of_new(ctx[i], 0) == port_of_new(ctx[0], 0);
	for (size_t i = 0; i < ARRAY_SIZE(ctx); i++)
		context_end(ctx[i]);
	assert_true(same < 2);
}

static void a_flow_label_decides_the_port(void **state)
{
	static const uint32_t labels[] = { 1, 0x3fff, 0x4000, 0x4001, 0xabcde, 0xfffff };
	struct mlx5_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		for (int again = 0; again < 2; again++)
			assert_int_equal(port_of_new(ctx, labels[i]),
					 ibv_flow_label_to_udp_sport(labels[i]));
	context_end(ctx);
}

/* The label has 20 bits (IBTA vol 1, 8.3.2). If they are 0, the handle has no label. */
static void bits_above_the_label_do_not_count(void **state)
{
	struct mlx5_context *ctx = new_context();

	(void)state;
	assert_int_equal(port_of_new(ctx, 0xfff00001), ibv_flow_label_to_udp_sport(1));
	assert_int_not_equal(port_of_new(ctx, 0xfff00000), port_of_new(ctx, 0xfff00000));
	context_end(ctx);
}

static void roce_v1_has_no_port(void **state)
{
	struct mlx5_context *ctx = new_context();

	(void)state;
	gid_type = IBV_GID_TYPE_ROCE_V1;
	assert_int_equal(port_of_new(ctx, 0), 0);
	assert_int_equal(port_of_new(ctx, 0x12345), 0);
	context_end(ctx);
}

/* Only the kernel finds the MAC address of a GID. */
static void without_the_kernels_help_there_is_no_handle(void **state)
{
	struct mlx5_context *ctx = new_context();
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };
	struct ibv_pd pd = { .context = &ctx->vctx.context };
	struct ibv_ah *ah = NULL;

	(void)state;
	ctx->caps.cmds_supp_uhw = 0;
	assert_int_equal(mlx5_ah_create(&pd, &attr, &ah), EOPNOTSUPP);
	assert_null(ah);
	context_end(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_kernels_help_there_is_no_handle),
		cmocka_unit_test(handles_without_a_label_have_ports_of_their_own),
		cmocka_unit_test(all_ports_are_used_before_one_is_used_again),
		cmocka_unit_test(contexts_begin_with_different_ports),
		cmocka_unit_test(a_flow_label_decides_the_port),
		cmocka_unit_test(bits_above_the_label_do_not_count),
		cmocka_unit_test(roce_v1_has_no_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
