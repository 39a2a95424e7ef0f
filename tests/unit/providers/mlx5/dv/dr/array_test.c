/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * array_test.c - arrays of destinations: which they take, the level of their table, and who counts
 * as a user. The table is the test's.
 *
 * Covers: providers/mlx5/dv/dr/array.c, providers/mlx5/dv/dr/owner.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/array.h"
#include "providers/mlx5/dv/dr/caps.h"
#include "providers/mlx5/dv/dr/dr.h"

enum { LEVELS = 127, ACTIONS = 4 };

static struct {
	struct ibv_device devices[2];
	struct ibv_context contexts[2];
	struct mlx5dv_dr_domain domains[2];
	struct ibv_qp qp;
	struct mlx5dv_devx_obj tir;
	struct mlx5dv_dr_table table;
	struct mlx5dv_dr_action actions[ACTIONS];
	struct mlx5dv_dr_action_dest_attr dests[ACTIONS];
	struct mlx5dv_dr_action_dest_attr *list[ACTIONS];
	int levels;
	int fails, destroy_fails;
	unsigned int made;
	struct dr_forward_attr attr;
} it;

int mlx5_dr_caps_query(struct ibv_context *context, struct dr_caps *caps)
{
	assert_ptr_equal(context, &it.contexts[0]);
	*caps = (struct dr_caps){ .rx_levels = (uint8_t)it.levels };
	return 0;
}

int mlx5_dr_forward_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			   struct dr_forward *forward)
{
	assert_ptr_equal(context, &it.contexts[0]);
	(void)forward;
	it.attr = *attr;
	it.made += !it.fails;
	return it.fails;
}

int mlx5_dr_forward_destroy(struct dr_forward *forward)
{
	(void)forward;
	it.made -= !it.destroy_fails;
	return it.destroy_fails;
}

static int array_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.levels = LEVELS;
	for (int i = 0; i < 2; i++) {
		it.contexts[i].device = &it.devices[i];
		it.domains[i].context = &it.contexts[i];
		it.domains[i].type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	}
	it.qp.context = it.tir.context = &it.contexts[0];
	it.table.domain = &it.domains[0];
	it.actions[0] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_QP, .qp = &it.qp };
	it.actions[1] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_TIR, .tir = &it.tir };
	it.actions[2] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_TABLE, .table = &it.table };
	it.actions[3] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_DROP };
	for (int i = 0; i < ACTIONS; i++) {
		it.dests[i].dest = &it.actions[i];
		it.list[i] = &it.dests[i];
	}
	return 0;
}

static struct mlx5dv_dr_action *array_of(size_t count)
{
	errno = 0;
	return mlx5dv_dr_action_create_dest_array(&it.domains[0], count, it.list);
}

static void array_is_refused(size_t count, int err)
{
	assert_null(array_of(count));
	assert_int_equal(errno, err);
	assert_int_equal(it.made, 0);
	assert_int_equal(it.domains[0].users, 0);
	for (int i = 0; i < ACTIONS; i++)
		assert_int_equal(it.actions[i].users, 0);
}

static void an_array_uses_its_destinations(void **state)
{
	struct mlx5dv_dr_action *array = array_of(3);

	(void)state;
	assert_non_null(array);
	assert_int_equal(array->kind, DR_ACTION_ARRAY);
	assert_int_equal(it.attr.count, 3);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(it.attr.destinations[i], &it.actions[i]);
		assert_int_equal(it.actions[i].users, 1);
	}
	assert_int_equal(it.domains[0].users, 1);
	it.destroy_fails = EBUSY;
	assert_int_equal(mlx5_dr_array_destroy(array), EBUSY);
	assert_int_equal(it.actions[0].users, 1);
	it.destroy_fails = 0;
	assert_int_equal(mlx5_dr_array_destroy(array), 0);
	free(array);
	for (int i = 0; i < 3; i++)
		assert_int_equal(it.actions[i].users, 0);
	assert_int_equal(it.domains[0].users, 0);
	assert_int_equal(it.made, 0);
}

/* Tables below the root are on the level LEVELS - 1, and a table leads to higher levels only. */
static void an_array_is_above_tables_of_software(void **state)
{
	struct mlx5dv_dr_action *array = array_of(2);

	(void)state;
	assert_non_null(array);
	assert_int_equal(it.attr.level, LEVELS - 2);
	assert_int_equal(it.attr.type, PRM_FLOW_NIC_RX);
	assert_int_equal(mlx5_dr_array_destroy(array), 0);
	free(array);
	it.levels = 1;
	array_is_refused(2, EOPNOTSUPP);
}

static void lengths_that_no_array_has_are_refused(void **state)
{
	(void)state;
	array_is_refused(0, EINVAL);
	array_is_refused(1, EINVAL);
	array_is_refused(DR_FORWARD_MAX + 1, EINVAL);
	array_is_refused(SIZE_MAX / 8 + 1, EINVAL);
}

static void what_is_no_destination_is_refused(void **state)
{
	(void)state;
	array_is_refused(4, EOPNOTSUPP); /* a drop */
	it.dests[1].type = MLX5DV_DR_ACTION_DEST_REFORMAT;
	array_is_refused(2, EOPNOTSUPP);
	it.dests[1].type = MLX5DV_DR_ACTION_DEST;
	it.domains[0].type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	array_is_refused(2, EOPNOTSUPP);
}

static void destinations_of_others_are_refused(void **state)
{
	(void)state;
	it.qp.context = &it.contexts[1];
	array_is_refused(2, EINVAL);
	it.qp.context = &it.contexts[0];
	it.table.domain = &it.domains[1];
	array_is_refused(3, EINVAL);
}

static void a_table_that_fails_leaves_no_array(void **state)
{
	(void)state;
	it.fails = EREMOTEIO;
	array_is_refused(2, EREMOTEIO);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, array_begin)
	const struct CMUnitTest tests[] = {
		CASE(an_array_uses_its_destinations),
		CASE(an_array_is_above_tables_of_software),
		CASE(lengths_that_no_array_has_are_refused),
		CASE(what_is_no_destination_is_refused),
		CASE(destinations_of_others_are_refused),
		CASE(a_table_that_fails_leaves_no_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
