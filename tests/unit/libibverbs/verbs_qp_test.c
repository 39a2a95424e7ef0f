/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_qp_test.c - which QPs have the functions of ibv_qp_ex.
 */
#include "unit.h"

#include <errno.h>

#include "libibverbs/private.h"

static void only_a_qp_made_for_it_is_extended(void **state)
{
	struct verbs_qp vqp = { .ex = VERBS_QP_HAS_EX };

	(void)state;
	errno = 0;
	assert_ptr_equal(ibv_qp_to_qp_ex(&vqp.qp), &vqp.qp_ex);
	vqp.ex = 0;
	assert_null(ibv_qp_to_qp_ex(&vqp.qp));
	vqp.ex = ~VERBS_QP_HAS_EX; /* what a provider of the distribution has there */
	assert_null(ibv_qp_to_qp_ex(&vqp.qp));
	assert_int_equal(errno, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_a_qp_made_for_it_is_extended) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
