/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_test.c - vectors that a program takes and gives back, and contexts of another driver,
 * which have none. Vectors are functions of the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/mlx5/vfio/vfio.h"
#include "providers/mlx5/mlx5dv.h"

enum { VECTOR = 2, EVENTS_FD = 700 };

int __wrap_mlx5_vfio_vectors_take(struct vfio_vectors *vectors, uint32_t *vector);
int __wrap_mlx5_vfio_vectors_give(struct vfio_vectors *vectors, uint32_t vector);

static int fds[] = { 701, 702, 703 };
static struct verbs_device device = { .device = { .name = "mlx5_0" } };
static struct vfio_context vfio;
static int taken, err;

int __wrap_mlx5_vfio_vectors_take(struct vfio_vectors *vectors, uint32_t *vector)
{
	assert_ptr_equal(vectors, &vfio.vectors);
	taken += !err;
	*vector = VECTOR;
	return err;
}

int __wrap_mlx5_vfio_vectors_give(struct vfio_vectors *vectors, uint32_t vector)
{
	assert_ptr_equal(vectors, &vfio.vectors);
	assert_int_equal(vector, VECTOR);
	taken -= !err;
	return err;
}

static int context_begin(void **state)
{
	(void)state;
	taken = err = 0;
	device.driver = &mlx5_vfio_driver;
	vfio = (struct vfio_context){ .vctx.context.device = &device.device,
				      .vectors.fd = fds,
				      .events.shown_fd = EVENTS_FD };
	return 0;
}

static void a_vector_is_taken_and_given_back(void **state)
{
	struct mlx5dv_devx_msi_vector *msi = mlx5dv_devx_alloc_msi_vector(&vfio.vctx.context);

	(void)state;
	assert_non_null(msi);
	assert_int_equal(taken, 1);
	assert_int_equal(msi->vector, VECTOR);
	assert_int_equal(msi->fd, 703);
	err = EBUSY;
	assert_int_equal(mlx5dv_devx_free_msi_vector(msi), EBUSY);
	assert_int_equal(msi->vector, VECTOR); /* it is still there */
	err = 0;
	assert_int_equal(mlx5dv_devx_free_msi_vector(msi), 0);
	assert_int_equal(taken, 0);
}

static void without_a_free_vector_there_is_none(void **state)
{
	(void)state;
	err = ENOSPC;
	assert_null(mlx5dv_devx_alloc_msi_vector(&vfio.vctx.context));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(mlx5dv_devx_free_msi_vector(NULL), EINVAL);
}

static void another_driver_has_neither_events_nor_vectors(void **state)
{
	(void)state;
	assert_int_equal(mlx5dv_vfio_get_events_fd(&vfio.vctx.context), EVENTS_FD);
	device.driver = &verbs_provider_mlx5;
	assert_int_equal(mlx5dv_vfio_get_events_fd(&vfio.vctx.context), -EOPNOTSUPP);
	assert_int_equal(mlx5dv_vfio_process_events(&vfio.vctx.context), EOPNOTSUPP);
	assert_null(mlx5dv_devx_alloc_msi_vector(&vfio.vctx.context));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(taken, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, context_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_vector_is_taken_and_given_back),
		TEST(without_a_free_vector_there_is_none),
		TEST(another_driver_has_neither_events_nor_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
