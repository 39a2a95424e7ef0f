/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_test.c - rules take actions of their own domain and device only, in root tables and below
 * them. Entries and the kernel's flows are the test's.
 *
 * Covers: providers/mlx5/dv/dr/rule.c
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
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/flow.h"

static struct {
	struct ibv_device devices[2];
	struct ibv_context contexts[3]; /* [1]: of the same device as [0] */
	struct verbs_context verbs;     /* of the flow */
	struct mlx5dv_dr_domain domains[2];
	struct mlx5dv_dr_table tables[2]; /* of the domains */
	struct mlx5dv_dr_matcher matcher;
	struct dr_soft_matcher soft;
	struct ibv_flow flow;
	unsigned int made;
} it;

int mlx5_dr_plan(const char *call, const struct dr_soft *soft, bool is_tx, uint16_t lookup_type,
		 size_t count, struct mlx5dv_dr_action *const actions[], struct dr_plan *plan)
{
	(void)call, (void)soft, (void)is_tx, (void)lookup_type, (void)count, (void)actions;
	(void)plan;
	return 0;
}

int mlx5_dr_soft_rule_create(struct dr_soft_matcher *matcher, const void *value, size_t size,
			     const struct dr_plan *plan, bool refuses_duplicates,
			     struct dr_soft_rule *rule)
{
	(void)value, (void)size, (void)plan, (void)refuses_duplicates, (void)rule;
	assert_ptr_equal(matcher, &it.soft);
	it.made++;
	return 0;
}

int mlx5_dr_soft_rule_destroy(struct dr_soft_matcher *matcher, struct dr_soft_rule *rule)
{
	(void)matcher, (void)rule;
	it.made--;
	return 0;
}

struct ibv_flow *mlx5_dv_flow_create(const char *call, struct mlx5dv_flow_matcher *matcher,
				     const struct mlx5dv_flow_match_parameters *value, size_t count,
				     const void *attrs, size_t stride)
{
	(void)call, (void)matcher, (void)value, (void)count, (void)attrs, (void)stride;
	it.made++;
	return &it.flow;
}

static int flow_destroy(struct ibv_flow *flow)
{
	assert_ptr_equal(flow, &it.flow);
	it.made--;
	return 0;
}

int mlx5_dr_refuse_used(const char *call, unsigned int count, const char *who)
{
	(void)call, (void)count, (void)who;
	return EBUSY;
}

static int rule_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	for (int i = 0; i < 3; i++)
		it.contexts[i].device = &it.devices[i / 2];
	for (int i = 0; i < 2; i++) {
		it.domains[i].context = &it.contexts[0];
		it.tables[i].domain = &it.domains[i];
	}
	it.verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	it.verbs.sz = sizeof(it.verbs);
	it.verbs.ibv_destroy_flow = flow_destroy;
	it.flow.context = &it.verbs.context;
	it.matcher.table = &it.tables[0];
	it.soft.match.num_steps = 1;
	return 0;
}

/* Returns 0 or the errno of a rule, below the root or in the root table. */
static int rule_try(struct mlx5dv_dr_action *action, bool is_root)
{
	static struct mlx5dv_dr_action drop = { .kind = DR_ACTION_DROP };
	struct mlx5dv_dr_action *actions[] = { &drop, action };
	struct mlx5dv_flow_match_parameters value = { .match_sz = 0 };
	struct dr_soft_table table = { .soft = NULL };
	struct mlx5dv_dr_rule *rule;

	it.soft.table = &table;
	it.matcher.soft = is_root ? NULL : &it.soft;
	errno = 0;
	rule = mlx5dv_dr_rule_create(&it.matcher, &value, 2, actions);
	assert_int_equal(it.made, rule != NULL);
	assert_int_equal(action->users, rule != NULL);
	if (!rule)
		return errno;
	assert_int_equal(mlx5dv_dr_rule_destroy(rule), 0);
	return 0;
}

static void expect_rule(struct mlx5dv_dr_action action, int error)
{
	assert_int_equal(rule_try(&action, false), error);
	assert_int_equal(rule_try(&action, true), error);
}

static void destinations_are_of_the_device(void **state)
{
	static const int errors[] = { 0, 0, EINVAL };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct ibv_qp qp = { .context = &it.contexts[i] };
		struct mlx5dv_devx_obj obj = { .context = &it.contexts[i] };

		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_QP, .qp = &qp },
			    errors[i]);
		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_TIR, .tir = &obj },
			    errors[i]);
		expect_rule(
			(struct mlx5dv_dr_action){ .kind = DR_ACTION_COUNTER, .counter.obj = &obj },
			errors[i]);
	}
}

static void tables_and_changes_are_of_the_domain(void **state)
{
	static const int errors[] = { 0, EINVAL };
	struct ibv_flow_action change = { .context = &it.contexts[0] };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct dr_soft_table soft = { .soft = NULL };
		struct dr_array array = { .count = 2 };

		it.tables[i].soft = &soft;
		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_ARRAY,
						       .domain = &it.domains[i],
						       .array = &array },
			    errors[i]);
		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_TABLE,
						       .table = &it.tables[i] },
			    errors[i]);
		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_MODIFY_HEADER,
						       .domain = &it.domains[i],
						       .change.action = &change },
			    errors[i]);
		expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_REFORMAT,
						       .domain = &it.domains[i],
						       .change.action = &change },
			    errors[i]);
	}
}

static void others_fit_all_domains(void **state)
{
	(void)state;
	expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_TAG, .tag = 3 }, 0);
	expect_rule((struct mlx5dv_dr_action){ .kind = DR_ACTION_DEFAULT_MISS }, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(destinations_are_of_the_device, rule_begin),
		cmocka_unit_test_setup(tables_and_changes_are_of_the_domain, rule_begin),
		cmocka_unit_test_setup(others_fit_all_domains, rule_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
