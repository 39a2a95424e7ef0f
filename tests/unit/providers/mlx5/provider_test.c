/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * provider_test.c - a program that opens and closes libmlx5 with dlopen() must not unload it while
 * libibverbs has its driver registered.
 *
 * Covers: providers/mlx5/provider.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>

static void the_provider_outlives_the_last_handle(void **state)
{
	void *verbs, *mlx5 = dlopen(MLX5_LIBRARY, RTLD_NOW);

	(void)state;
	assert_non_null(mlx5);
	verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(verbs);
	dlclose(mlx5);
	assert_non_null(dlopen(MLX5_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
	dlclose(verbs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_provider_outlives_the_last_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
