/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context_test.c - versions of CQEs that a kernel may choose.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/mlx5/context.c"

static void cqes_have_version_0_or_1(void **state)
{
	struct mlx5_context ctx = { .caps.cqe_version = 0 };

	(void)state;
	for (int version = 0; version < 4; version++) {
		ctx.caps.cqe_version = (uint8_t)version;
		assert_int_equal(check_ucontext(&ctx), version > 1 ? ENOTSUP : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cqes_have_version_0_or_1) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
