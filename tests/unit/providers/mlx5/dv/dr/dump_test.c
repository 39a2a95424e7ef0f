/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_test.c - dumps without an object or without a file: a negative errno, and nothing written.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/mlx5/mlx5dv.h"

static void a_dump_of_nothing_has_a_negative_errno(void **state)
{
	FILE *out = tmpfile();

	(void)state;
	assert_non_null(out);
	assert_int_equal(mlx5dv_dump_dr_domain(out, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_table(out, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_matcher(out, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_rule(out, NULL), -EINVAL);
	assert_int_equal(ftell(out), 0);
	fclose(out);
}

static void a_dump_to_nowhere_has_a_negative_errno(void **state)
{
	static char object[4096]; /* nobody looks at it */

	(void)state;
	assert_int_equal(mlx5dv_dump_dr_domain(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_table(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_matcher(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_rule(NULL, (void *)object), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_of_nothing_has_a_negative_errno),
		cmocka_unit_test(a_dump_to_nowhere_has_a_negative_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
