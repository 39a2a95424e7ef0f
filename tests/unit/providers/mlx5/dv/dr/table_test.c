/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_test.c - tables of a domain: who is on its list, and which lock their commands leave free.
 * The test stands in for the part that writes entries.
 *
 * Covers: providers/mlx5/dv/dr/table.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"

static struct {
	struct mlx5dv_dr_domain domain;
	struct dr_soft soft;
	struct dr_soft_table below;
	int open_fails, create_fails, destroy_fails;
	enum prm_flow_table_type type;
	unsigned int created, destroyed;
} it;

int mlx5_dr_soft_ensure(const char *call, struct mlx5dv_dr_domain *domain)
{
	(void)call;
	assert_ptr_equal(domain, &it.domain);
	if (!it.open_fails)
		domain->soft = &it.soft;
	return it.open_fails;
}

/* Creation waits for the adapter, and other threads use the domain meanwhile. */
int mlx5_dr_soft_table_create(const char *call, struct dr_soft *soft, enum prm_flow_table_type type,
			      struct dr_soft_table **out)
{
	(void)call;
	assert_ptr_equal(soft, &it.soft);
	assert_int_equal(pthread_mutex_trylock(&it.domain.lock), 0);
	pthread_mutex_unlock(&it.domain.lock);
	if (it.create_fails)
		return it.create_fails;
	it.type = type;
	it.created++;
	*out = &it.below;
	return 0;
}

int mlx5_dr_soft_table_destroy(struct dr_soft_table *table)
{
	assert_ptr_equal(table, &it.below);
	assert_int_equal(pthread_mutex_trylock(&it.domain.lock), 0);
	pthread_mutex_unlock(&it.domain.lock);
	it.destroyed += !it.destroy_fails;
	return it.destroy_fails;
}

int mlx5_dr_refuse_used(const char *call, unsigned int count, const char *who)
{
	(void)call, (void)count, (void)who;
	return EBUSY;
}

static int domain_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	TAILQ_INIT(&it.domain.tables);
	return pthread_mutex_init(&it.domain.lock, NULL);
}

static void table_is_refused(uint32_t level, int err)
{
	errno = 0;
	assert_null(mlx5dv_dr_table_create(&it.domain, level));
	assert_int_equal(errno, err);
	assert_int_equal(it.domain.users, 0);
	assert_true(TAILQ_EMPTY(&it.domain.tables));
}

static void a_table_below_the_root_waits_without_the_lock(void **state)
{
	struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(&it.domain, 3);

	(void)state;
	assert_non_null(table);
	assert_ptr_equal(table->soft, &it.below);
	assert_int_equal(table->level, 3);
	assert_int_equal(it.type, PRM_FLOW_NIC_RX);
	assert_ptr_equal(TAILQ_FIRST(&it.domain.tables), table);
	assert_int_equal(it.domain.users, 1);
	it.destroy_fails = EBUSY;
	assert_int_equal(mlx5dv_dr_table_destroy(table), EBUSY);
	assert_int_equal(it.domain.users, 1);
	it.destroy_fails = 0;
	assert_int_equal(mlx5dv_dr_table_destroy(table), 0);
	assert_int_equal(it.destroyed, 1);
	assert_int_equal(it.domain.users, 0);
	assert_true(TAILQ_EMPTY(&it.domain.tables));
}

static void a_root_table_needs_no_adapter(void **state)
{
	struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(&it.domain, 0);

	(void)state;
	assert_non_null(table);
	assert_null(table->soft);
	assert_null(it.domain.soft);
	table->users = 1;
	assert_int_equal(mlx5dv_dr_table_destroy(table), EBUSY);
	table->users = 0;
	assert_int_equal(mlx5dv_dr_table_destroy(table), 0);
	assert_true(it.created == 0 && it.destroyed == 0);
}

static void tables_of_sent_frames_have_their_type(void **state)
{
	struct mlx5dv_dr_table *table;

	(void)state;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	table = mlx5dv_dr_table_create(&it.domain, 1);
	assert_non_null(table);
	assert_int_equal(it.type, PRM_FLOW_NIC_TX);
	assert_int_equal(mlx5dv_dr_table_destroy(table), 0);
}

static void a_failed_table_is_on_no_list(void **state)
{
	(void)state;
	it.open_fails = EOPNOTSUPP;
	table_is_refused(1, EOPNOTSUPP);
	it.open_fails = 0;
	it.create_fails = EREMOTEIO;
	table_is_refused(1, EREMOTEIO);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, domain_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_table_below_the_root_waits_without_the_lock),
		CASE(a_root_table_needs_no_adapter),
		CASE(tables_of_sent_frames_have_their_type),
		CASE(a_failed_table_is_on_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
