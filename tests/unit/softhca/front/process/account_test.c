/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account_test.c - a user has one account, as long as a client is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "softhca/front/process/account.c"

static void clients_of_a_user_share_an_account(void **state)
{
	struct account *one = account_get(7), *other = account_get(8);

	(void)state;
	assert_non_null(one);
	assert_non_null(other);
	assert_ptr_not_equal(one, other);
	assert_ptr_equal(account_get(7), one);
	assert_int_equal(one->uid, 7);
	assert_int_equal(one->clients, 2);
	one->objects[0].of[OBJECT_QP] = 5;
	account_put(one);
	assert_ptr_equal(account_get(7), one);
	assert_int_equal(one->objects[0].of[OBJECT_QP], 5);
	account_put(one);
	account_put(one);
	account_put(other);
	assert_true(LIST_EMPTY(&accounts));
	one = account_get(7);
	assert_int_equal(one->objects[0].of[OBJECT_QP], 0);
	account_put(one);
}

static void the_server_knows_its_own_user(void **state)
{
	struct account *ours = account_get(geteuid()), *other = account_get(geteuid() + 1);

	(void)state;
	assert_true(ours->is_ours);
	assert_false(other->is_ours);
	account_put(ours);
	account_put(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_of_a_user_share_an_account),
		cmocka_unit_test(the_server_knows_its_own_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
