/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso_test.c - actions on objects with the state of flows: the words of entries, as in the dumps of
 * release 65.0's library, and what is refused. The test stands in for the adapter.
 *
 * Covers: providers/mlx5/dv/dr/aso.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/export.h"

static struct ibv_device devices[2];
static struct ibv_context context = { .device = &devices[0] };
static struct mlx5dv_dr_domain domain = { .context = &context };
static bool exists;

bool mlx5_dr_soft_exists(struct mlx5dv_dr_domain *asked)
{
	assert_ptr_equal(asked, &domain);
	return exists;
}

enum { HIT = DV_EXPORT_ASO_FIRST_HIT, METER = DV_EXPORT_ASO_FLOW_METER };
enum { CONNECTION = DV_EXPORT_ASO_CONNECTIONS };

static const struct row {
	uint32_t type, id;
	uint8_t log_range, reg;
	uint32_t offset, flags;
	enum dr_action_kind kind;
	uint32_t number, words[2];
	int error;
} rows[] = {
	{ HIT, 0x4040, 0, 5, 0, 1, DR_ACTION_FIRST_HIT, 0x4040, { 0x12004040, 0x84000000 }, 0 },
	{ HIT, 0x4040, 0, 1, 511, 0, DR_ACTION_FIRST_HIT, 0x4040, { 0x12004040, 0x040003ff }, 0 },
	{ HIT, 0x4040, 1, 3, 512, 1, DR_ACTION_FIRST_HIT, 0x4041, { 0x12004041, 0x44000000 }, 0 },
	{ METER, 0x4050, 0, 5, 0, 1, DR_ACTION_ASO_METER, 0x4050, { 0x12004050, 0x82000000 }, 0 },
	{ METER, 0x4050, 0, 5, 1, 8, DR_ACTION_ASO_METER, 0x4050, { 0x12004050, 0x82000007 }, 0 },
	{ METER, 0x4050, 1, 5, 2, 2, DR_ACTION_ASO_METER, 0x4051, { 0x12004051, 0x82000002 }, 0 },
	{ CONNECTION,
	  0x4060,
	  0,
	  5,
	  0,
	  1,
	  DR_ACTION_CONNECTION,
	  0x4060,
	  { 0x12004060, 0x81000000 },
	  0 },
	{ CONNECTION,
	  0x4060,
	  2,
	  1,
	  3,
	  2,
	  DR_ACTION_CONNECTION,
	  0x4063,
	  { 0x12004063, 0x01000001 },
	  0 },
	{ .type = HIT, .offset = 512, .reg = 5, .error = EINVAL },
	{ .type = METER, .flags = 1, .offset = 2, .reg = 5, .error = EINVAL },
	{ .type = CONNECTION, .flags = 1, .offset = 1, .reg = 5, .error = EINVAL },
	{ .type = HIT, .flags = 2, .reg = 5, .error = EINVAL },
	{ .type = METER, .flags = 3, .reg = 5, .error = EINVAL },
	{ .type = METER, .flags = 16, .reg = 5, .error = EINVAL },
	{ .type = CONNECTION, .flags = 4, .reg = 5, .error = EINVAL },
	{ .type = HIT, .reg = 0, .error = EINVAL },
	{ .type = HIT, .reg = 4, .error = EINVAL },
	{ .type = HIT, .reg = 9, .error = EINVAL },
	{ .type = DV_EXPORT_FLOW_COUNTER, .reg = 5, .error = EOPNOTSUPP },
};

static int row_set(const struct row *row, struct mlx5dv_devx_obj *obj,
		   struct mlx5dv_dr_action **action)
{
	*obj = (struct mlx5dv_devx_obj){
		.context = &context, .type = row->type, .id = row->id, .log_range = row->log_range
	};
	errno = 0;
	*action = mlx5dv_dr_action_create_aso(&domain, obj, row->offset, row->flags, row->reg);
	return *action ? 0 : errno;
}

static void action_is(const struct mlx5dv_dr_action *action, const struct row *row)
{
	assert_int_equal(action->kind, row->kind);
	assert_int_equal(action->aso.first, row->id);
	assert_int_equal(action->aso.words[0] & 0xffffff, row->number);
	assert_int_equal(action->aso.words[0], row->words[0]);
	assert_int_equal(action->aso.words[1], row->words[1]);
}

static void words_are_those_of_the_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mlx5dv_dr_action *action;
		struct mlx5dv_devx_obj obj;

		print_message("row %zu\n", i);
		assert_int_equal(row_set(&rows[i], &obj, &action), rows[i].error);
		assert_int_equal(domain.users, 0);
		if (rows[i].error)
			continue;
		action_is(action, &rows[i]);
		free(action);
	}
}

/* Rules that exist have copies of the words; a refused change changes nothing. */
static void an_action_can_be_modified(void **state)
{
	static const struct row last = { .id = 0x4040,
					 .kind = DR_ACTION_FIRST_HIT,
					 .number = 0x4041,
					 .words = { 0x12004041, 0x44000001 } };
	struct row range = rows[0];
	struct mlx5dv_dr_action drop = { .kind = DR_ACTION_DROP }, *action;
	struct mlx5dv_devx_obj obj;

	(void)state;
	range.log_range = 1;
	assert_int_equal(row_set(&range, &obj, &action), 0);
	memset(&obj, 0xff, sizeof(obj)); /* as if destroyed */
	assert_int_equal(mlx5dv_dr_action_modify_aso(action, 1024, 1, 3), EINVAL);
	assert_int_equal(mlx5dv_dr_action_modify_aso(action, 1, 2, 3), EINVAL);
	assert_int_equal(mlx5dv_dr_action_modify_aso(action, 1, 1, 4), EINVAL);
	action_is(action, &range);
	assert_int_equal(mlx5dv_dr_action_modify_aso(action, 513, 1, 3), 0);
	action_is(action, &last);
	assert_int_equal(mlx5dv_dr_action_modify_aso(&drop, 0, 0, 3), EINVAL);
	free(action);
}

static void a_domain_with_root_tables_has_none(void **state)
{
	struct mlx5dv_dr_action *action;
	struct mlx5dv_devx_obj obj;

	(void)state;
	exists = false;
	assert_int_equal(row_set(&rows[0], &obj, &action), EOPNOTSUPP);
	exists = true;
}

/* The number of another device's object means something else. */
static void an_object_of_another_device_is_refused(void **state)
{
	struct ibv_context other = { .device = &devices[0] };
	struct mlx5dv_devx_obj obj = { .context = &other, .type = HIT };
	struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_aso(&domain, &obj, 0, 0, 5);

	(void)state;
	assert_non_null(action);
	free(action);
	other.device = &devices[1];
	errno = 0;
	assert_null(mlx5dv_dr_action_create_aso(&domain, &obj, 0, 0, 5));
	assert_int_equal(errno, EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_the_release),
		cmocka_unit_test(an_action_can_be_modified),
		cmocka_unit_test(an_object_of_another_device_is_refused),
		cmocka_unit_test(a_domain_with_root_tables_has_none),
	};

	exists = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
